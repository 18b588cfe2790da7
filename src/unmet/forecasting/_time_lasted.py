"""How long supply lasted in periods of which the data only say that it ran out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from unmet.forecasting._grid import Grid
from unmet.forecasting._parametric import Parametric, Past, fit_parametric, look_back

Floats = NDArray[np.float64]
_ROUNDS = 8
_START = 0.7
_LEAST = 1e-9


def draw_time(grid: Grid, seed: int) -> Grid:
    """Return the grid with a drawn exposure in the rows that ran out at an unknown moment.

    A model is fitted and the moments are drawn given the model, in turns (stochastic expectation–
    maximisation). Expected moments would not do for a fit: they hide how much demand varies.
    """
    rows = grid.untimed
    if rows is None or not rows.any():
        return grid
    uniform = np.random.default_rng([seed, 43]).uniform(size=int(rows.sum()))
    model, found = None, _with_exposure(grid, np.where(grid.y[rows] > 0, _START, 0.0))
    for _ in range(_ROUNDS):
        model = fit_parametric(found, start=model)
        found = _with_exposure(grid, time_lasted(uniform, *_of_rows(model, found)))
    return found


def expected_time(model: Parametric, grid: Grid) -> Grid:
    """Return the grid with the effective exposure of the same rows, given a fitted model."""
    if grid.untimed is None or not grid.untimed.any():
        return grid
    return _with_exposure(grid, effective_exposure(*_of_rows(model, grid)))


def _of_rows(model: Parametric, grid: Grid) -> tuple[Floats, Floats, Floats]:
    """Return y, and rate and shape of demand as foreseen, of the rows that ran out at an unknown moment."""
    past, rows = look_back(model, grid), grid.untimed
    before = past.followed
    return grid.y[rows], (past.rate * before.mean)[rows], (before.mean**2 / before.variance)[rows]


def time_lasted(uniform: Floats, y: Floats, rate: Floats, shape: Floats) -> Floats:
    """Return the moment of the y-th request at a level of its distribution; see `effective_exposure`."""
    first = np.maximum(y, 1)
    share = betaincinv(first, shape, uniform * betainc(first, shape, rate / (shape + rate)))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = shape * share / (rate * (1 - share))
    return np.where(y > 0, np.clip(np.where(np.isfinite(found), found, 1.0), _LEAST, 1.0), 0.0)


def effective_exposure(y: Floats, rate: Floats, shape: Floats) -> Floats:
    r"""Return the exposure that stands for a period in which the y-th request took the last unit.

    Requests come at rate λG, G a gamma shock of mean 1 and shape r, so the moment T of the y-th one has the
    density t^{y−1} (r + λt)^{−(y+r)} on (0, 1). The score of a rate and the expected lost requests both
    depend on T through 1/(r + λT) alone, and

        E[1/(r + λT)] = P_{r+1}(N ≥ y) / ((r + y) P_r(N ≥ y))

    with N negative binomial of mean λ. The effective exposure e is the one with 1/(r + λe) equal to that.

    >>> effective_exposure(np.array([5.0]), np.array([50.0]), np.array([1e6])).round(3)  # five of fifty
    array([0.1])
    """
    share = rate / (shape + rate)
    ahead = betainc(np.maximum(y, 1), shape, share)
    more = betainc(np.maximum(y, 1), shape + 1, share)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ((shape + y) * ahead / more - shape) / np.maximum(rate, _LEAST)
    # Far more was counted than expected: supply lasted almost to the end.
    found = np.where(np.isfinite(found), found, 1.0)
    return np.where(y > 0, np.clip(found, _LEAST, 1.0), 0.0)


def draw_missed(
    rng: np.random.Generator, grid: Grid, past: Past, place: int, at: NDArray[np.int64], draws: int
) -> Floats:
    """Return draws (D, n) of λ(1 − T), each times the shock that goes with its T over the expected one."""
    y, rate, used = grid.y[place, at], past.rate[place, at], grid.exposure[place, at]
    shape = np.maximum(past.inverse_scale[place, at] - rate * used, 0.1)
    time = time_lasted(rng.uniform(size=(draws, len(at))), y, rate, shape)
    inverse = past.inverse_scale[place, at]
    return rate * (1 - time) * inverse / np.maximum(inverse + rate * (time - used), _LEAST)


def _with_exposure(grid: Grid, exposure: Floats) -> Grid:
    used = grid.exposure.copy()
    assert grid.untimed is not None
    used[grid.untimed] = exposure
    return replace(grid, exposure=used, low=used, high=used)
