"""The smallest stock that the rides of each day allow if vans come only at night."""

from __future__ import annotations

import numpy as np

from unmet.calendar import day_start, local_date
from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import CHANGE, DELIVERY, REMOVAL, unpack
from unmet.mobility.panel._places import Places

_NO_LIMIT = 1_000_000


def add_night_moves(places: Places, events: EventFile, zone: str, first: int, last: int) -> None:
    """Add the moves of vans that come just before each operating day, with as few vehicles as possible.

    A place opens the day with the vehicles that its rides of the day need, and with none if there are no
    rides. If no van came during the day, it had at least this stock at every moment. A return that finds no
    free dock is taken away.
    """
    mornings = _mornings(zone, first, last)
    for begin, end in events.batches():
        no, t, kind = unpack(events.fetch(begin, end).keys)  # in one second, returns come before pickups
        free = ~places.observed[no + begin] & (CHANGE[kind] != 0)
        no, t, change = no[free], t[free], CHANGE[kind[free]].astype(np.int64)
        if not len(no):
            continue
        day = np.searchsorted(mornings, t, "right")
        group = no.astype(np.int64) * (len(mornings) + 1) + day
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        need = _needs(change, starts)
        cap = np.where(places.capacity < 0, _NO_LIMIT, places.capacity)[no + begin]
        cap = np.maximum(cap, np.repeat(need, np.diff(starts, append=len(no))))
        opened = change.copy()
        opened[starts] += need
        inside = clamp_moves(group, opened, cap)  # where docks are full
        after = np.cumsum(opened + inside)
        closing = after[np.append(starts[1:], len(no)) - 1] - np.append(0, after[starts[1:] - 1])
        # Vans bring what the day needs, and take away what the day before left.
        which, place = day[starts], no[starts]
        night = np.r_[place, place], np.r_[which, which + 1]
        key, of = np.unique(night[0].astype(np.int64) * (len(mornings) + 2) + night[1], return_inverse=True)
        moves = np.bincount(of, np.r_[need, -closing], minlength=len(key)).astype(np.int64)
        place, which = key // (len(mornings) + 2), key % (len(mornings) + 2)
        there = which <= len(mornings)
        morning = np.append(first, mornings)[which[there]]
        for where, at, moved in ((place[there], morning, moves[there]), (no, t, inside)):
            rows = np.repeat(np.arange(len(moved)), np.abs(moved))
            kinds = np.where(moved[rows] > 0, DELIVERY, REMOVAL)
            events.add_events(where[rows] + begin, at[rows], kinds)


def _needs(change: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the opening stock that each group of changes needs to stay at zero or more."""
    total = np.cumsum(change)
    before = np.append(0, total[starts[1:] - 1])
    return np.maximum(0, before - np.minimum.reduceat(total, starts))


def _mornings(zone: str, first: int, last: int) -> np.ndarray:
    """Return the second before each operating day between `first` and `last`, in seconds since 1970."""
    day, final = (local_date(np.datetime64(second, "s"), zone) for second in (first, last))
    days = np.arange(np.datetime64(day), np.datetime64(final) + 1).tolist()
    found = np.array([day_start(one, zone, "hour").astype("datetime64[s]").astype(np.int64) for one in days])
    return found[found > first] - 1


def clamp_moves(group: np.ndarray, change: np.ndarray, cap: np.ndarray) -> np.ndarray:
    """Return the moves that keep a running sum within [0, cap], each at the row where it is needed.

    The stock after a row is min(max(stock + change, 0), cap). Composing two such functions gives another
    one, so a scan of log2(n) vectorised steps computes all of them.

    >>> clamp_moves(np.zeros(4, int), np.array([-1, 1, 1, -1]), np.full(4, 1))
    array([ 1,  0, -1,  0])
    """
    if not len(group):
        return np.zeros(0, np.int64)
    change = change.astype(np.int64)
    shift, low, high = change.copy(), np.zeros_like(change), cap.astype(np.int64)
    start = np.maximum.accumulate(np.where(np.r_[True, group[1:] != group[:-1]], np.arange(len(group)), 0))
    step = 1
    while step < len(change):
        later = np.flatnonzero(np.arange(len(change)) - step >= start)
        if not len(later):
            break
        earlier = later - step
        low_new = np.clip(low[earlier] + shift[later], low[later], high[later])
        high_new = np.clip(high[earlier] + shift[later], low[later], high[later])
        shift_new = shift[earlier] + shift[later]
        low[later], high[later], shift[later] = low_new, high_new, shift_new
        step *= 2
    level = np.clip(shift, low, high)
    before = np.where(np.arange(len(level)) == start, 0, np.r_[0, level[:-1]])
    return level - before - change
