"""How often a request does not take a vehicle that stands there: broken, unfit, too few for a group, or gone.

Where one vehicle stands, rides run at a lower rate than where many do, at the same place, day and hour.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from unmet.calendar import make_periods, utc_offset, weekday
from unmet.mobility.panel._availability import AVAILABLE, UNKNOWN, Segments, segments
from unmet.mobility.panel._events import EDGE, PICKUP
from unmet.mobility.panel._inferred_stock import FROM_COUNTS
from unmet.mobility.panel._ledger import Ledger

LEVELS = 20  # stock from which on vehicles are many
_ROWS = 300_000  # hours of places to look at
_ROUNDS = 20  # at most
_OF_CELL, _OF_CITY = 5.0, 10.0  # rides added to each cell of a place, and to each day of the city
_SPREADS = np.geomspace(0.01, 1.28, 15)  # variances of levels that are tried
_CLEAR_GAIN = 5.0  # in log-likelihood
_SHARES = np.linspace(0.0, 0.95, 96)
_TIES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0])


def measure_served(ledger: Ledger, zone: str) -> np.ndarray:
    """Return the chance that a request is served while n vehicles stand, n = 1 … `LEVELS`.

    One vehicle is refused with chance φ, and all n of them with chance Π (φ + kτ) / (1 + kτ) over k < n: the
    second is refused more likely by those who refused the first. The chance to be served is given relative to
    that of `LEVELS` vehicles, which stand for many. The rate of a place is that of its hour of the day
    (working days and weekends apart), times the level of the city on that day, times that of the place on
    that day and in that hour; all follow from pickups and time, weighted by the chance to be served. Given
    these rates, φ and τ make the pickups at each stock likeliest. Without a clear gain, and where nothing
    tells the stock of a moment, everybody is served.
    """
    if ledger.cells or ledger.inferred_from == FROM_COUNTS:
        return np.ones(LEVELS)
    hours = make_periods("hour", zone, ledger.first, ledger.last)
    local = (hours.starts + utc_offset(hours.starts, zone)) // 3600
    day = local // 24
    cell = local % 24 + 24 * (weekday(day) >= 5)
    found = []
    batches = [(no, no) for no in _some(len(ledger.places), max(1, _ROWS // len(hours.starts)))]
    for numbers in batches:
        found.append(_by_stock(segments(ledger, numbers, hours.starts, hours.last), hours.starts))
    time, rides = (np.stack([part[k] for part in found]) for k in (0, 1))
    return fit_served(time, rides, cell, day - day[0])


def fit_served(time: np.ndarray, rides: np.ndarray, cell: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Return these chances from hours with each stock and pickups at each stock, both (P, N, T).

    Parameters
    ----------
    cell, day : of each period (T,).
    """
    counts, total = rides.sum(axis=(0, 2)), rides.sum(axis=1)
    cells, days = int(cell.max()) + 1, int(day.max()) + 1
    share, tie, more = np.meshgrid(_SHARES, _TIES, np.arange(time.shape[1]), indexing="ij")
    curves = 1 - np.cumprod((share + more * tie) / (1 + more * tie), axis=-1)
    curves /= curves[..., -1:]  # the last level stands for many vehicles
    curves = curves.reshape(-1, time.shape[1])
    best = curves[0]  # nobody is refused
    busy = np.ones_like(total)
    for _ in range(_ROUNDS):
        open_ = np.einsum("pnt,n->pt", time, best)
        rate = _rates(total, open_ * busy, cell, cells, day, days)
        # Stock is low in hours that were busy: without levels of their own, few vehicles seem to serve more.
        busy = _levels(total, rate * open_)
        expected = np.einsum("pnt,pt->n", time, rate * busy)
        # Pickups at each stock out of all pickups: the height of the rates moves with the curve.
        fit = np.log(curves) @ counts - counts.sum() * np.log(np.maximum(curves @ expected, 1e-12))
        before, best, gain = best, curves[fit.argmax()], fit.max() - fit[0]
        if (best == before).all():
            break
    return best if gain > _CLEAR_GAIN else curves[0]


def _rates(
    y: np.ndarray, time: np.ndarray, cell: np.ndarray, cells: int, day: np.ndarray, days: int
) -> np.ndarray:
    """Return rides per hour (P, T): profile of the place, level of the city's day, level of the place's."""
    places = np.arange(len(y))[:, None]

    def sums(values: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
        flat = np.bincount((places * groups + group).ravel(), values.ravel(), minlength=len(y) * groups)
        return flat.reshape(len(y), groups)

    city = np.ones(len(day))
    of_cell = sums(y, cell, cells)
    for _ in range(2):
        open_ = sums(time * city, cell, cells)
        usual = (of_cell.sum(axis=0) + 1e-9) / (open_.sum(axis=0) + 1e-6)
        level = (of_cell.sum(axis=1) + 1) / ((open_ * usual).sum(axis=1) + 1)
        prior = np.maximum(level[:, None] * usual, 1e-9)
        rate = ((of_cell + _OF_CELL) / (open_ + _OF_CELL / prior))[:, cell]
        seen = np.bincount(day, y.sum(axis=0), minlength=days)
        expected = np.bincount(day, (rate * time).sum(axis=0), minlength=days)
        city = ((seen + _OF_CITY) / (expected + _OF_CITY))[day]
    rate = rate * city
    rate = rate * _levels(sums(y, day, days), sums(rate * time, day, days))[:, day]
    return rate


def _levels(seen: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the expected level of each day or hour, given its rides.

    Given its level, rides are Poisson. Levels are gamma with mean 1 and the variance that makes the rides
    likeliest; that holds although time ends when vehicles run out.
    """
    rode = seen > 0
    fit = []
    for spread in _SPREADS:
        own = 1 / spread
        held = own * np.log(own) * seen.size - ((own + seen) * np.log(own + expected)).sum()
        fit.append(held + (special.gammaln(own + seen[rode]) - special.gammaln(own)).sum())
    own = 1 / _SPREADS[int(np.argmax(fit))]
    return np.asarray((seen + own) / (expected + own))


def _some(places: int, most: int) -> np.ndarray:
    """Return at most so many places, evenly spread."""
    return np.unique(np.linspace(0, places - 1, min(places, most)).astype(np.int64))


def _by_stock(found: Segments, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return hours with 1, 2, … vehicles, and pickups at each stock, both (N, T), of one place."""
    row = np.cumsum(found.kind == EDGE) - 1
    inside = found.t >= edges[0]
    unknown = np.bincount(row[inside & (found.state >= UNKNOWN)], minlength=len(edges)) > 0
    used = inside & ~unknown[np.maximum(row, 0)]

    def sums(rows: np.ndarray, stock: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        flat = (np.clip(stock, 1, LEVELS) - 1) * len(edges) + row
        held = np.bincount(flat[rows], weight, minlength=LEVELS * len(edges))
        return held.reshape(LEVELS, len(edges)).astype(np.float32)

    stands = used & (found.state == AVAILABLE) & (found.level > 0)
    time = sums(stands, found.level, (found.until - found.t)[stands] / 3600)
    return time, sums(used & (found.kind == PICKUP), found.level + 1, None)
