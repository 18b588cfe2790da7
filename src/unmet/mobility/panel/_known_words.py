"""Say in one line for each kind what time is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_HOUR, _DAY = 3600, 86_400


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
