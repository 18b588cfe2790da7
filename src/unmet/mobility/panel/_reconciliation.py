"""Reconcile status records with rides: changes that rides do not explain are moves by the operator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmet.mobility.panel._event_file import Batch
from unmet.mobility.panel._events import (
    EDGE,
    IS_CLOSED,
    IS_OPEN,
    IS_UNKNOWN,
    PICKUP,
    RECORD,
    RETURN,
    pack,
    pack_moves,
    unpack,
)

_NET = np.array([0, 0, 0, 0, 1, -1, 0, 0, 0], np.int8)  # change of stock by rides, by kind
_QUIET = {"snapshots": 2 * 3600, "events": 7 * 86_400}
_CONTRADICTED = 2 * 3600
_SAMPLE = 100_000


@dataclass(frozen=True)
class Feed:
    """How to read a status feed.

    Attributes
    ----------
    kind : "events" or "snapshots".
    max_gap : seconds without a record after which stock is unknown; None: the default for the kind.
    skew : seconds by which the clocks of feed and rides may differ.
    last : last known second.
    """

    kind: str
    max_gap: int | None
    skew: int
    last: int

    @property
    def limit(self) -> int:
        return _QUIET[self.kind] if self.max_gap is None else self.max_gap


@dataclass(frozen=True)
class Records:
    """Status records in order of place and second: stock, and whether the place was open.

    There is at most one record for each place and second.
    """

    no: np.ndarray
    t: np.ndarray
    level: np.ndarray
    open: np.ndarray

    @classmethod
    def of(cls, batch: Batch, levels: np.ndarray) -> Records:
        """Return the records among the events of a batch."""
        no, t, kind = unpack(batch.keys)
        held = kind == RECORD
        return cls(no[held], t[held], levels[batch.value >> 1], (batch.value & 1).astype(bool))


@dataclass(frozen=True)
class Reconciled:
    """Moves and regimes as packed events, and the stock of each place before its first event."""

    moves: np.ndarray
    regimes: np.ndarray
    opening: np.ndarray


@dataclass(frozen=True)
class _Merged:
    """Rides and records in order, with running counts.

    `mark` is the position of each record, `last` the last record at each event, and `rests` the record from
    which the stock at an event follows: the last one or, before the first record of a place, that one.
    """

    keys: np.ndarray
    no: np.ndarray
    t: np.ndarray
    kind: np.ndarray
    net: np.ndarray
    record: np.ndarray
    mark: np.ndarray
    last: np.ndarray
    rests: np.ndarray


def _merge(keys: np.ndarray, records: Records, places: int) -> _Merged:
    no, t, kind = unpack(keys)
    record = kind == RECORD
    last = np.cumsum(record, dtype=np.int32) - np.int32(1)
    first = np.searchsorted(records.no, np.arange(places)).astype(np.int32)
    return _Merged(
        keys,
        no,
        t,
        kind,
        np.cumsum(_NET[kind], dtype=np.int64),
        record,
        np.flatnonzero(record),
        last,
        np.maximum(last, first[no]),
    )


def reconcile(keys: np.ndarray, records: Records, places: int, feed: Feed) -> Reconciled:
    """Find the moves by the operator that, together with the rides, explain the records.

    Between two records the stock follows the rides. The remaining difference is a move at the time of the
    later record. If a pickup shows that a vehicle had arrived before, the move is at that pickup. Removals
    between two snapshots are as early as the pickups allow. The clock of the feed may be up to `skew`
    seconds ahead of or behind that of the rides: a record is corrected if that explains two opposite moves
    before and after it.

    Parameters
    ----------
    keys : pickups, returns and records of places that have records, packed and sorted.
    records : the same records, at least one for each of these places.
    """
    merged = _merge(keys, records, places)
    no, net, mark = merged.no, merged.net, merged.mark
    same = np.zeros(len(mark), bool)  # whether the previous record is of the same place
    same[1:] = records.no[1:] == records.no[:-1]
    base = _corrected(merged, records, same, feed.skew) - net[mark]
    path = base[merged.rests] + net
    # A stretch starts with each record and each place.
    begins = merged.record.copy()
    begins[:1] = True
    begins[1:] |= no[1:] != no[:-1]
    starts, stretch = np.flatnonzero(begins), np.cumsum(begins, dtype=np.int32) - np.int32(1)
    brought, needed = _brought(merged, path, stretch, len(starts))

    before = np.where(same, np.r_[0, base[:-1]], base)
    ending = stretch[mark] - 1
    # The first record of a place ends a stretch only if rides came before it.
    ends = (ending >= 0) & (no[starts[np.maximum(ending, 0)]] == records.no)
    residual = base - before - np.where(ends, needed[np.maximum(ending, 0)], 0)
    moves = [brought]
    if feed.kind == "snapshots":
        lowest = np.minimum.reduceat(path, starts) if len(starts) else path
        previous = np.r_[records.t[:1], records.t[:-1]]
        span = records.t - previous
        early = np.where(
            same & (span > 1) & (span <= feed.limit),
            np.clip(lowest[np.maximum(ending, 0)], 0, np.maximum(-residual, 0)),
            0,
        )
        moves.append(pack_moves(records.no, previous + 1, -early))
        residual = residual + early
    moves.append(pack_moves(records.no, records.t, residual))
    opening = np.zeros(places, np.int64)
    first = np.flatnonzero(~same)
    # Running counts continue from place to place: subtract those of earlier places.
    begin = np.searchsorted(no, records.no[first])
    opening[records.no[first]] = base[first] + np.where(begin > 0, net[begin - 1], 0)
    return Reconciled(np.concatenate(moves), _regimes(merged, records, same, feed), opening)


def _corrected(merged: _Merged, records: Records, same: np.ndarray, skew: int) -> np.ndarray:
    """Return the stock in the records, corrected for rides that they counted too early or too late."""
    level = records.level
    free = level - merged.net[merged.mark]
    came = np.where(same, np.diff(free, prepend=0), 0)
    comes = np.r_[came[1:], 0]
    odd = np.flatnonzero(came * comes < 0)
    if skew <= 0 or not len(odd):
        return level
    no, t = records.no[odd], records.t[odd]
    earlier, later = np.maximum(t - skew, records.t[odd - 1]), np.minimum(t + skew, records.t[odd + 1])
    at = [
        np.searchsorted(merged.keys, pack(no, moment, RECORD), "right") - 1 for moment in (earlier, t, later)
    ]
    taken, back = np.cumsum(merged.kind == PICKUP), np.cumsum(merged.kind == RETURN)
    low = np.minimum(
        np.minimum(-came[odd], comes[odd]), taken[at[2]] - taken[at[1]] + back[at[1]] - back[at[0]]
    )
    high = np.minimum(
        np.minimum(came[odd], -comes[odd]), back[at[2]] - back[at[1]] + taken[at[1]] - taken[at[0]]
    )
    level = level.copy()
    level[odd] = np.maximum(0, level[odd] + np.where(came[odd] < 0, low, -high))
    return level


def _brought(
    merged: _Merged, path: np.ndarray, stretch: np.ndarray, stretches: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the deliveries that pickups prove, at these pickups, and their sum for each stretch."""
    needed = np.zeros(stretches, np.int64)
    below = np.flatnonzero(path < 0)
    below = below[~merged.record[below]]
    if not len(below):
        return np.zeros(0, np.int64), needed
    short = np.zeros(stretches, bool)
    short[stretch[below]] = True
    held = np.flatnonzero(~merged.record & short[stretch])
    # Each stretch lies wholly below the one before it, so one running minimum serves them all.
    rank = np.cumsum(np.r_[0, np.diff(stretch[held]) != 0])
    drop = rank * (np.ptp(path[held]) + 1)
    lack = np.maximum(0, -(np.minimum.accumulate(path[held] - drop) + drop))
    new = np.r_[True, np.diff(rank) != 0]
    more = lack - np.where(new, 0, np.r_[0, lack[:-1]])
    np.maximum.at(needed, stretch[held], lack)
    return pack_moves(merged.no[held], merged.t[held], more), needed


def _regimes(merged: _Merged, records: Records, same: np.ndarray, feed: Feed) -> np.ndarray:
    """Return events that say since when a place is open, closed or unknown."""
    follows = np.r_[same[1:], np.zeros(min(1, len(same)), bool)]
    until = np.where(follows, np.r_[records.t[1:], records.t[:1]], feed.last)
    kind = np.where(until - records.t > feed.limit, IS_UNKNOWN, np.where(records.open, IS_OPEN, IS_CLOSED))
    changes = np.r_[True, kind[1:] != kind[:-1]] | ~same if len(kind) else same
    if feed.kind != "events" or feed.max_gap is not None:
        return pack(records.no[changes], records.t[changes], kind[changes])
    # Each ride is a change, so a feed of changes without a record for hours after a ride was down.
    silent = until - records.t > _CONTRADICTED
    after = np.flatnonzero(~merged.record & (merged.rests == merged.last) & silent[merged.rests])
    on, t = merged.last[after], merged.t[after]
    deaf = (t > records.t[on] + feed.skew) & (until[on] - t > _CONTRADICTED)
    # The next record ends the unknown time, whatever it says.
    heard = on[deaf] + 1
    changes[heard[heard < len(changes)]] = True
    return np.concatenate(
        [
            pack(records.no[changes], records.t[changes], kind[changes]),
            pack(merged.no[after[deaf]], t[deaf], IS_UNKNOWN),
        ]
    )


def kind_of_feed(keys: np.ndarray, records: Records) -> str:
    """Return ``"events"`` if most rides have a record within the same few seconds, else ``"snapshots"``.

    A feed of changes has no records while nothing changes, so the last record stays valid. In a feed of
    snapshots a missing record means that the stock is unknown. Without rides, return ``"snapshots"`` if most
    records repeat the previous one.

    Parameters
    ----------
    keys : events of places, packed; only pickups and returns at places with records count.
    """
    no, _, kind = unpack(keys)
    rides = keys[((kind == PICKUP) | (kind == RETURN)) & np.isin(no, records.no)]
    no, t, _ = unpack(rides[:: 1 + len(rides) // _SAMPLE])
    if not len(t):
        repeats = (np.diff(records.no) == 0) & (np.diff(records.level) == 0) & ~np.diff(records.open)
        return "snapshots" if len(repeats) and repeats.mean() > 0.5 else "events"
    width = 60 if (t % 60 == 0).all() else 5
    marks = pack(records.no, records.t, EDGE)
    near = np.searchsorted(marks, pack(no, t + width, EDGE), "right") > np.searchsorted(
        marks, pack(no, t - width, EDGE), "left"
    )
    return "events" if near.mean() > 0.5 else "snapshots"
