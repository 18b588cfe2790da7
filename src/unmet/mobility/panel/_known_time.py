"""Decide, and say, when nothing is known.

Gaps in the trips or the feed, places before they open and after they close: such time is neither empty nor
without demand. It is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.calendar import local_day, utc_offset, weekday
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import PICKUP, RETURN, pack, unpack
from unmet.mobility.panel._places import COUNTED, KNOWN, Places
from unmet.tables import identifier

_HOUR, _DAY = 3600, 86_400
# A silence is unknown if so many events were to be expected in it at the usual rate: a storm that keeps nine
# of ten riders at home would still let five through.
_EXPECTED = 50
_SHORTEST = 2 * _HOUR  # a shorter silence of the whole system proves nothing
_DAYS_AROUND = 7  # that show the usual rate before and after a silence
_QUIET_EDGE = 5  # so few events may be missing between the last one and midnight
# A place without a feed: silences before the first and after the last ride, and between two rides.
_PLACE_EXPECTED, _PLACE_EDGE, _PLACE_INSIDE = 10, _DAY, 7 * _DAY
_ABSENCE = _DAY  # a cell without a vehicle for longer is unknown, not empty


@dataclass(frozen=True)
class Unknown:
    """Stretches of time in which nothing is known of a place, in order and without overlap, and why.

    Attributes
    ----------
    no, begin, end : place, first second, and first second after the end.
    notes : one sentence for each kind.
    """

    no: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    notes: tuple[str, ...]

    def cuts(self, first: int, last: int) -> np.ndarray:
        """Return begins and ends at the places from `first` (then number 0) to `last` as packed events.

        They alternate, so an event lies in a stretch if an odd number of them is at or before it.
        """
        here = slice(*np.searchsorted(self.no, [first, last + 1]))
        no = self.no[here] - first
        return np.column_stack([pack(no, self.begin[here], 0), pack(no, self.end[here], 0)]).reshape(-1)


def find_unknown(
    con: Connection,
    places: Places,
    events: EventFile,
    trips: str,
    zone: str,
    known: tuple[int, int],
    *,
    signs: bool,
    max_gap: int | None = None,
) -> Unknown:
    """Find the time in which nothing is known, within the `known` range of the ledger.

    - *No trips at all* where many were to be expected: a missing file, days without rows. Unknown everywhere.
    - *A silent feed*, or one that ends before the trips do: unknown at the places that have records.
    - *No sign of life* of a place without records, before its first or after its last ride or for weeks in
      between, although many were to be expected at its own rate.

    Places with records need no rule of their own: they are unknown before their first record, and when the
    feed leaves them out (see :func:`availability`).

    Parameters
    ----------
    known : first and last second of the panel.
    max_gap : seconds without a record after which stock is unknown, if the user says.
    signs : whether a place without a ride for long may have been closed; a cell of a map never is.
    """
    begin, end = known[0], known[1] + 1
    everywhere = np.arange(len(places))
    hours = _hourly(con, f"SELECT started_at AS moment FROM {identifier(trips)} WHERE {COUNTED}")
    no_trips = silences(*hours, zone, begin, end, ends=False)
    notes = say_stretches("No trips", no_trips, zone)
    stretches = [(everywhere, *one) for one in no_trips]
    if places.records is not None:
        hours = _hourly(con, f'SELECT "at" AS moment FROM status WHERE {KNOWN}')
        shortest = max(_SHORTEST, max_gap or 0)
        silent = silences(*hours, zone, begin, end, ends=True, shortest=shortest)
        seen = everywhere[places.observed]
        stretches += [(seen, *one) for one in silent]
        notes += say_feed(silent, places.records.first // 1_000_000, zone, begin, end)
        notes += say_joining(*_joining(con, begin, end))
    no = np.concatenate([np.zeros(0, np.int64), *(who for who, _, _ in stretches)])
    lengths = [len(who) for who, _, _ in stretches]
    begins = np.repeat(np.array([one[1] for one in stretches], np.int64), lengths)
    ends = np.repeat(np.array([one[2] for one in stretches], np.int64), lengths)
    if signs and not places.observed.all():
        own = _lifeless(places, events, no_trips, begin, end)
        notes += say_lifeless(len(np.unique(own[0])))
        no, begins, ends = (np.concatenate([a, b]) for a, b in zip((no, begins, ends), own))
    return Unknown(*_merged(no, begins, ends), tuple(notes))


def _hourly(con: Connection, moments: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the hours since 1970 in which something happened, ascending, and how often."""
    found = con.execute(f"""
        SELECT epoch_us(moment) // {_HOUR * 1_000_000} AS hour, count(*) AS events
        FROM ({moments}) WHERE moment IS NOT NULL GROUP BY ALL ORDER BY hour""").fetchnumpy()
    return np.asarray(found["hour"], np.int64), np.asarray(found["events"], np.int64)


def silences(
    hours: np.ndarray,
    events: np.ndarray,
    zone: str,
    begin: int,
    end: int,
    *,
    ends: bool,
    shortest: int = _SHORTEST,
) -> list[tuple[int, int]]:
    """Return stretches of whole hours without events in which many were to be expected.

    The usual rate is that of the hour on working days or at weekends, at the level of the seven active days
    before or after the silence, whichever is lower.

    Parameters
    ----------
    hours, events : hours since 1970 with events, ascending, and their number.
    begin, end : range to look at, in seconds.
    ends : whether the time after the last event may be a silence too.
    shortest : seconds that a silence must last.
    """
    if not len(hours):
        return []
    day, kind = _local_hours(hours, zone)
    _, first_of, day = np.unique(day, return_index=True, return_inverse=True)
    total = np.bincount(day, events)
    many = np.bincount(kind[first_of] // 24, minlength=2)  # working days and weekends
    usual = np.bincount(kind, events, minlength=48).reshape(2, 24) / np.maximum(many, 1)[:, None]
    profile = usual.reshape(-1) / total.mean()

    def expected(first: int, last: int, level: float) -> float:
        """Return the events to be expected from one second to another."""
        between = np.arange(first // _HOUR, -(-last // _HOUR))
        return float(level * profile[_local_hours(between, zone)[1]].sum())

    stops = np.append(hours[1:], -(-end // _HOUR) if ends else hours[-1])
    found = []
    for at in np.flatnonzero((stops - hours - 1) * _HOUR >= shortest):
        first, last = max(int(hours[at] + 1) * _HOUR, begin), min(int(stops[at]) * _HOUR, end)
        before = total[max(0, day[at] - _DAYS_AROUND + 1) : day[at] + 1]
        after = total[day[at] + 1 : day[at] + 1 + _DAYS_AROUND]
        level = float(min(part.mean() for part in (before, after) if len(part)))
        if last - first < shortest or expected(first, last, level) < _EXPECTED:
            continue
        midnight = local_day(first - 1, zone)[1]  # hours before it may have been quiet
        if midnight < last and expected(first, midnight, level) < _QUIET_EDGE:
            first = max(first, midnight)
        midnight = local_day(last, zone)[0]
        if midnight > first and expected(midnight, last, level) < _QUIET_EDGE:
            last = min(last, midnight)
        found.append((first, last))
    return found


def long_absences(no: np.ndarray, t: np.ndarray, until: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """Return which segments belong to an absence of vehicles of more than a day.

    A cell without a vehicle for days is no shop that lost its customers: nobody knows who would have come.

    Parameters
    ----------
    no, t, until : place, begin and end of segments, in order of place and time.
    empty : which of them are without a vehicle.
    """
    new = np.r_[True, (np.diff(no) != 0) | (np.diff(empty) != 0)] if len(no) else np.zeros(0, bool)
    run = np.cumsum(new) - 1
    length = np.bincount(run, (until - t).astype(np.float64))
    return empty & (length[run] > _ABSENCE) if len(no) else empty


def _joining(con: Connection, begin: int, end: int) -> tuple[int, int]:
    """Return how many places join the feed a day or more late, and leave it a week or more early."""
    [(late, gone)] = con.execute(f"""
        WITH seen AS (
            SELECT greatest(first // 1000000, {begin}) AS first, least(last // 1000000, {end}) AS last
            FROM _recorded WHERE records > 0 AND place IS NOT NULL)
        SELECT count(*) FILTER (first > (SELECT min(first) FROM seen) + {_PLACE_EDGE}),
               count(*) FILTER (last < (SELECT max(last) FROM seen) - {_PLACE_INSIDE})
        FROM seen""").fetchall()
    return int(late), int(gone)


def _local_hours(hours: np.ndarray, zone: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the local day of hours since 1970, and their hour: 0–23 on working days, 24–47 at weekends."""
    local = hours + utc_offset(hours * _HOUR, zone) // _HOUR
    day = local // 24
    return day, local % 24 + 24 * (weekday(day) >= 5)


def _lifeless(
    places: Places, events: EventFile, no_trips: list[tuple[int, int]], begin: int, end: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place, begin and end of implausible silences at places without records."""
    found: list[tuple[int, int, int]] = []
    for first, last in events.batches():
        no, t, kind = unpack(events.fetch(first, last).keys)
        rides = ((kind == PICKUP) | (kind == RETURN)) & ~places.observed[no + first]
        no, t = no[rides], t[rides]
        starts = np.searchsorted(no, np.arange(last - first + 2))
        for place in np.flatnonzero(np.diff(starts) > 2):
            signs = t[starts[place] : starts[place + 1]]
            found += [(int(place) + first, *one) for one in lifeless(signs, no_trips, begin, end)]
    return tuple(np.array(found, np.int64).reshape(-1, 3).T)  # type: ignore[return-value]


def lifeless(
    signs: np.ndarray, no_trips: list[tuple[int, int]], begin: int, end: int
) -> list[tuple[int, int]]:
    """Return the silences of one place, given the seconds of its rides, ascending."""
    marks = np.concatenate([[begin], np.clip(signs, begin, end), [end]])
    missing = np.zeros(len(marks) - 1)
    for first, last in no_trips:  # time in which no place could show a sign
        missing += np.maximum(0, np.minimum(marks[1:], last) - np.maximum(marks[:-1], first))
    silence = np.diff(marks) - missing
    rate = (len(signs) - 1) / max(float(silence[1:-1].sum()), _DAY)
    least = np.full(len(silence), _PLACE_INSIDE)
    least[[0, -1]] = _PLACE_EDGE
    wrong = np.flatnonzero((silence * rate >= _PLACE_EXPECTED) & (silence >= least))
    return [(int(marks[at]), int(marks[at + 1])) for at in wrong]


def _merged(no: np.ndarray, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stretches in order of place and time, those that touch made one."""
    if not len(no):
        return no, begin, end
    order = np.lexsort((begin, no))
    no, begin, end = no[order], begin[order], end[order]
    apart = np.int64(no - no[0]) * (int(end.max() - begin.min()) + 2)  # no two places overlap
    reach = np.maximum.accumulate(end + apart)
    new = np.r_[True, (begin + apart)[1:] > reach[:-1]]
    starts = np.flatnonzero(new)
    return no[new], begin[new], np.maximum.reduceat(end, starts)


def say_stretches(what: str, stretches: Sequence[tuple[int, int]], zone: str) -> list[str]:
    """Return a sentence about stretches of time, in seconds, or none.

    >>> april = (1_711_929_600, 1_714_521_600)
    >>> say_stretches("No trips", [april], "UTC")
    ['No trips from 1 April to 30 April 2024: treated as unknown.']
    """
    if not stretches:
        return []
    longest = max(stretches, key=lambda one: one[1] - one[0])
    if len(stretches) == 1:
        return [f"{what} {span(*longest, zone)}: treated as unknown."]
    whole = _length(sum(end - begin for begin, end in stretches))
    return [
        f"{what} on {len(stretches)} occasions ({whole} in all), the longest {span(*longest, zone)}: "
        "treated as unknown."
    ]


def say_feed(silent: Sequence[tuple[int, int]], first: int, zone: str, begin: int, end: int) -> list[str]:
    """Return sentences about a feed that starts late, ends early or falls silent.

    Parameters
    ----------
    silent : stretches without a record.
    first : second of the first record.
    begin, end : range of the panel, in seconds.
    """
    found = []
    if first - begin > _DAY:
        late = _length(first - begin)
        found.append(
            f"The status feed begins {_day(first, zone)}, {late} after the trips: unknown before it."
        )
    tail = [one for one in silent if one[1] >= end]
    if tail:
        early = _length(end - tail[0][0])
        found.append(
            f"The status feed ends {_day(tail[0][0], zone)}, {early} before the trips: unknown after it."
        )
    inside = [one for one in silent if one[1] < end]
    return [*found, *say_stretches("The status feed was silent", inside, zone)]


def say_joining(late: int, gone: int) -> list[str]:
    """Return a sentence about places that join a feed late or leave it early, or none."""
    parts = [f"{late:,} {'places join' if late > 1 else 'place joins'} the status feed later than the others"]
    parts = parts if late else []
    if gone:
        parts.append(f"{gone:,} {'places leave' if gone > 1 else 'place leaves'} it earlier")
    if not parts:
        return []
    text = " and ".join(parts) if late else parts[0].replace(" it ", " the status feed ")
    return [f"{text}: unknown {' and '.join(['before'] * bool(late) + ['after'] * bool(gone))}."]


def say_lifeless(places: int) -> list[str]:
    """Return a sentence about places without a sign of life for long, or none."""
    if not places:
        return []
    who = "1 place has" if places == 1 else f"{places:,} places have"
    return [
        f"{who} no sign of life for days before the first ride, after the last or for weeks in between: "
        "treated as unknown."
    ]


def span(begin: int, end: int, zone: str) -> str:
    """Return a stretch of time in words: whole local days where it consists of them."""
    first, last = _local(begin, zone), _local(end, zone)
    if (first.hour, first.minute, last.hour, last.minute) == (0, 0, 0, 0):
        last -= timedelta(days=1)
        if first.date() == last.date():
            return f"on {_date(first)}"
        shown = _date(first) if first.year != last.year else f"{first.day} {first:%B}"
        return f"from {shown} to {_date(last)}"
    return f"from {_date(first)}, {first:%H:%M}, to {_date(last)}, {last:%H:%M}"


def _day(second: int, zone: str) -> str:
    return f"on {_date(_local(second, zone))}"


def _local(second: int, zone: str) -> datetime:
    return datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone))


def _date(moment: datetime) -> str:
    return f"{moment.day} {moment:%B} {moment.year}"


def _length(seconds: int) -> str:
    for unit, name in ((_DAY, "day"), (_HOUR, "hour")):
        count = round(seconds / unit)
        if seconds >= 2 * unit or (seconds >= unit and unit == _HOUR):
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    count = max(1, round(seconds / 60))
    return f"{count} minute{'' if count == 1 else 's'}"
