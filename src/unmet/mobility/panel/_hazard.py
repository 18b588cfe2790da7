"""How soon a vehicle at a place is rented, from pickups and the time in which vehicles surely stood."""

from __future__ import annotations

import numpy as np

from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import PICKUP, unpack
from unmet.mobility.panel._presence import Presence
from unmet.mobility.panel._stays import DAY

HOUR = 3_600
_WEEK = 168
_CELLS_AT_MOST = 20_000_000
_PRIOR_HOURS = 24.0  # of the average place, added to each place
_PRIOR_RIDES = 10.0  # added to each day
_PRIOR_OWN = 5.0  # added to each hour of the day of a place, working days and weekends apart
_ITSELF = 0.5  # of the vehicles that are expected besides those that surely stand there
_WEEKEND = (2, 3)  # days of the week counted from 1 January 1970, a Thursday


class Hazard:
    """The expected rides that a vehicle at a place would have made by a moment, cumulated since `first`.

    The rate of a place is its level times the profile of the city over the hours of the week, times the
    level of the city on that day. Vehicles that stand there share it.
    """

    def __init__(self, first: int, step: int, cumulated: np.ndarray) -> None:
        self._first, self._step, self._cumulated = first, step, cumulated

    def until(self, no: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return it for places `no` (0 where negative) and seconds `t`, which broadcast together."""
        where = np.clip((t - self._first) / self._step, 0, self._cumulated.shape[1] - 1.000001)
        cell = where.astype(np.int64)
        row = np.maximum(no, 0)
        low, high = self._cumulated[row, cell], self._cumulated[row, cell + 1]
        return np.where(no >= 0, low + (where - cell) * (high - low), 0.0)


def make_hazard(events: EventFile, presence: Presence, places: int, first: int, last: int) -> Hazard:
    """Count pickups and standing vehicles by hour or longer steps of time, and divide one by the other."""
    hours = (last - first) // HOUR + 1
    step = HOUR * max(1, -(-places * hours // _CELLS_AT_MOST))
    cells = (last - first) // step + 1
    edges = first + step * np.arange(cells + 1)
    pickups = np.zeros((places, cells), np.float32)
    shared = np.zeros((places, cells), np.float32)  # mean of 1 / (1 + other vehicles there)
    open_ = np.zeros((places, cells), np.float32)
    for begin, end in events.batches(cells):
        no, t, kind = unpack(events.fetch(begin, end).keys)
        took = kind == PICKUP
        np.add.at(pickups, (no[took] + begin, (t[took] - first) // step), 1)
        known = presence.known(begin, end)
        everywhere = np.arange(end - begin + 1)
        line_no, line_t, _ = unpack(known.keys)
        line_no = np.r_[line_no, np.repeat(everywhere, len(edges))]
        line_t = np.r_[line_t, np.tile(edges, len(everywhere))]
        order = np.lexsort((line_t, line_no))
        line_no, line_t = line_no[order], line_t[order]
        standing = known.at(line_no, line_t)
        together = 1 + standing.surely + np.maximum(standing.others - _ITSELF, 0.0)
        lasts = np.diff(line_t, append=line_t[-1:])
        lasts[np.diff(line_no, append=-1) != 0] = 0
        cell = np.clip((line_t - first) // step, 0, cells - 1)
        flat = line_no.astype(np.int64) * cells + cell
        size = len(everywhere) * cells
        for into, value in ((shared, 1 / together), (open_, standing.chance)):
            sums = np.bincount(flat, weights=lasts * value, minlength=size) / step
            into[begin : end + 1] = sums.reshape(-1, cells)
    week = ((edges[:-1] // HOUR) % _WEEK).astype(np.int64)
    day = (edges[:-1] - first) // DAY
    taken, time = (np.bincount(week, held.sum(axis=0), minlength=_WEEK) for held in (pickups, open_))
    overall = pickups.sum() / max(float(open_.sum()), 1.0)
    profile = ((taken + 5 * overall) / (time + 5))[week]
    average = _PRIOR_HOURS * HOUR / step * overall
    for _ in range(2):
        expected = (open_ * profile).sum(axis=1)
        level = (pickups.sum(axis=1) + average) / (expected + average)
        taken, expected = (
            np.bincount(day, cell) for cell in (pickups.sum(axis=0), (level @ open_) * profile)
        )
        profile = profile * ((taken + _PRIOR_RIDES) / (expected + _PRIOR_RIDES))[day]
    rate = level[:, None] * profile
    # Places differ in their hours: homes are left in the morning, offices in the evening.
    clock = np.eye(48, dtype=np.float32)[week % 24 + 24 * np.isin(week // 24, _WEEKEND)]
    own = (pickups @ clock + _PRIOR_OWN) / ((open_ * rate) @ clock + _PRIOR_OWN)
    rate = rate * (own @ clock.T) * shared
    cumulated = np.zeros((places, cells + 1), np.float32)
    np.cumsum(rate, axis=1, out=cumulated[:, 1:])
    return Hazard(first, step, cumulated)
