"""Availability: the stock of places, and when they were available, empty, closed or unknown; timelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.calendar import check_zone
from unmet.mobility.panel._events import (
    CHANGE,
    CUT,
    EDGE,
    IS_CLOSED,
    IS_OPEN,
    IS_UNKNOWN,
    RECORD,
    pack,
    unpack,
)
from unmet.mobility.panel._known_time import long_absences
from unmet.mobility.panel._ledger import Ledger, Progress, open_ledger
from unmet.mobility.panel._reconciliation import Records, reconcile

AVAILABLE, EMPTY, CLOSED, UNKNOWN = range(4)
STATES = ("available", "empty", "closed", "unknown")


@dataclass(frozen=True)
class Segments:
    """Stock and state of each place from one event to the next, in order of place and time.

    Each period starts with an event of kind EDGE, which comes before all others in its second: its level is
    the stock at the start of the period.

    Attributes
    ----------
    no : number of the place within the batch.
    t, until : first second, and first second after the end.
    kind : kind of the event at `t`.
    level : stock after the event: the opening stock plus all rides and moves so far; never below 0.
    state : AVAILABLE, EMPTY, CLOSED or UNKNOWN; the likelier one where stock was inferred.
    chance : that a vehicle stood there, if the place was open and known.
    low, high : whether one surely did, and whether one can have done: 0 or 1.
    """

    no: np.ndarray
    t: np.ndarray
    until: np.ndarray
    kind: np.ndarray
    level: np.ndarray
    state: np.ndarray
    chance: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def served(self, chance: np.ndarray) -> np.ndarray:
        """Return the chance that a request is served, given that for 1, 2, … vehicles; none count as one."""
        return np.asarray(chance[np.clip(self.level, 1, len(chance)) - 1])


def segments(ledger: Ledger, numbers: tuple[int, int], edges: np.ndarray, last: int) -> Segments:
    """Return the segments of consecutive places, cut at the starts of periods (`edges`) and at `last`.

    Parameters
    ----------
    numbers : first and last place.
    """
    batch = ledger.events.fetch(*numbers)
    places, everywhere = batch.places, np.arange(batch.places)
    observed = ledger.places.observed[numbers[0] : numbers[1] + 1]
    moves, opening = np.zeros(0, np.int64), np.zeros(places, np.int64)
    regimes = [pack(everywhere[~observed], int(edges[0]), IS_OPEN)]
    no, _, kind = unpack(batch.keys)
    if ledger.feed is not None and observed.any():
        seen = batch.keys if observed.all() else batch.keys[observed[no]]
        found = reconcile(seen, Records.of(batch, ledger.levels), places, ledger.feed)
        moves, opening = found.moves, found.opening
        regimes.append(found.regimes)
    periods = pack(np.repeat(everywhere, len(edges)), np.tile(edges, places), EDGE)
    known = ledger.presence.known(*numbers) if ledger.presence is not None and not observed.all() else None
    marks = np.zeros(0, np.int64) if known is None else known.keys[~observed[known.no]]
    cuts = ledger.unknown.cuts(*numbers)
    keys = np.concatenate([periods, *regimes, batch.keys[kind != RECORD], moves, marks, cuts | CUT])
    keys.sort(kind="stable")  # nearly all of it is in order, in a few stretches
    no, t, kind = unpack(keys)
    if len(t) and t.max() >= last:
        inside = t < last
        no, t, kind = no[inside], t[inside], kind[inside]
    starts = np.searchsorted(no, everywhere)  # every place has an edge
    lengths = np.diff(starts, append=len(no))
    total = np.cumsum(CHANGE[kind], dtype=np.int64)
    level = total + np.repeat(opening - np.where(starts > 0, total[starts - 1], 0), lengths)
    until = np.empty_like(t)
    until[:-1] = t[1:]
    until[starts + lengths - 1] = last
    state = _states(kind, level, starts)
    chance = (level > 0).astype(np.float64)
    low = high = chance
    free = ~observed[no]
    if not observed.all():
        if known is None:  # a van may have come at any moment
            chance, high = np.where(free, 1.0, chance), np.where(free, 1.0, high)
        else:
            standing = known.at(no, t)
            low = np.where(free, standing.surely > 0, low)
            high = np.where(free, standing.possible, high)
            chance = np.where(free, standing.chance, chance)
            state = np.where(free & (state <= EMPTY), np.where(chance > 0.5, AVAILABLE, EMPTY), state)
    # Books that do not balance show that something is wrong, not that the place was empty.
    state = np.where((level < 0) & (state == EMPTY) & observed[no], UNKNOWN, state)
    if len(cuts):
        inside = np.searchsorted(cuts, pack(no, t, 0), "right") % 2 == 1
        state = np.where(inside, UNKNOWN, state)
    if ledger.cells:
        state = np.where(long_absences(no, t, until, state == EMPTY), UNKNOWN, state)
    return Segments(no, t, until, kind, np.maximum(level, 0), state, chance, low, high)


def _states(kind: np.ndarray, level: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the state of each segment.

    A place is unknown until an event says whether it is open. An open place without vehicles is empty.
    """
    says = np.flatnonzero((kind >= IS_OPEN) & (kind <= IS_UNKNOWN))
    turns = np.concatenate([starts, says])
    order = np.argsort(turns, kind="stable")
    regimes = np.concatenate([np.full(len(starts), IS_UNKNOWN, np.int8), kind[says]])[order]
    regime = np.repeat(regimes - np.int8(IS_OPEN), np.diff(turns[order], append=len(kind)))
    return np.where(regime == 0, level <= 0, regime + 1)


assert (CLOSED, UNKNOWN) == (IS_CLOSED - IS_OPEN + 1, IS_UNKNOWN - IS_OPEN + 1)


def availability(
    con: Connection,
    *,
    max_gap: str | None = None,
    feed: str | None = None,
    zone: str = "UTC",
    progress: Progress | None = None,
) -> int:
    """Write ``timeline(place, from_, until_, state, available, inferred)`` and return its number of rows.

    ``state`` is ``'available'``, ``'empty'``, ``'closed'`` (renting is off) or ``'unknown'``. Between two
    records the stock follows the rides, so a place that ran out and recovered between two snapshots is seen
    as empty. Times are naive UTC; the segments of a place follow each other without gap or overlap.

    Parameters
    ----------
    con : connection with the canonical tables ``trips`` and, where there is a feed, ``status``.
    max_gap : treat stock as unknown after this long without a record. ``None``: after two hours in a feed
        of snapshots. In a feed of changes no record means no change: stock is unknown only after seven
        days, or after two hours if a ride should have changed it.
    feed : ``"events"`` or ``"snapshots"``; ``None``: detect it from the records.
    zone : local time zone; it only decides how far records may extend the range of the rides.
    """
    ledger = open_ledger(con, zone=check_zone(zone), max_gap=max_gap, feed=feed, progress=progress)
    rows = write_timeline(con, ledger, ledger.first, ledger.last + 1)
    ledger.close()
    return rows


def write_timeline(
    con: Connection, ledger: Ledger, first: int, last: int, places: Sequence[str] | None = None
) -> int:
    """Write the timeline from second `first` to `last`, for all or some places; return its number of rows."""
    con.execute("""CREATE OR REPLACE TABLE timeline (place VARCHAR, from_ TIMESTAMP, until_ TIMESTAMP,
                   state VARCHAR, available INTEGER, inferred BOOLEAN)""")
    rows = 0
    for numbers in ledger.events.batches() if places is None else _numbers(con, places):
        found = segments(ledger, numbers, np.array([first]), last)
        lasting = (found.t >= first) & (found.until > found.t)
        no, t, until, state = (held[lasting] for held in (found.no, found.t, found.until, found.state))
        level = found.level[lasting]
        new = np.ones(len(no), bool)
        new[1:] = (np.diff(no) != 0) | (np.diff(level) != 0) | (np.diff(state) != 0)
        begin = np.flatnonzero(new)
        frame = {
            "no": no[begin] + numbers[0],
            "a": t[begin],
            "b": until[np.append(begin[1:], len(no)) - 1],
            "state": state[begin],
            "level": level[begin],
        }
        con.register("_frame", frame)
        con.execute(f"""
            INSERT INTO timeline
            SELECT place, make_timestamp(a * 1000000), make_timestamp(b * 1000000), {list(STATES)}[state + 1],
                   level, NOT observed OR state = {UNKNOWN}
            FROM _frame JOIN _places USING (no) ORDER BY no, a""")
        con.unregister("_frame")
        rows += len(begin)
    return rows


def _numbers(con: Connection, places: Sequence[str]) -> list[tuple[int, int]]:
    """Return a batch for each of these places."""
    found = con.execute(
        "SELECT place, no FROM _places WHERE place IN (SELECT unnest(?::VARCHAR[])) ORDER BY no",
        [list(places)],
    ).fetchall()
    missing = sorted(set(places) - {row[0] for row in found})
    if missing:
        some = con.execute("SELECT place FROM _places ORDER BY no LIMIT 5").fetchall()
        raise ValueError(
            f"there is no place {missing[0]!r}; places are, for instance, {', '.join(row[0] for row in some)}"
        )
    return [(row[1], row[1]) for row in found]
