"""Joint draws of the demand that nobody saw: lasting shocks, uncertain rates, people who walked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from unmet.calendar import make_calendar
from unmet.forecasting._grid import Grid
from unmet.forecasting._parametric import Parametric, Past

Floats = NDArray[np.float64]
# How well the part of unserved requests that is due to the distribution of shocks is known.
_DOUBT = 0.2
# Bound on the logarithm of the factor that makes walkers seen as many as walkers who left.
_MOST_ODDS = 3.0


@dataclass(frozen=True)
class PlaceDraws:
    """Draws for one place; (D, n) for its periods `at` that are not certain.

    Attributes
    ----------
    at : periods (n,) with unserved or foreign pickups possible.
    unserved : requests that found no vehicle.
    next_door : those of them that left from a neighbour.
    foreign : pickups by people who wanted a neighbour.
    """

    place: int
    at: NDArray[np.int64]
    unserved: NDArray[np.int64]
    next_door: NDArray[np.int64]
    foreign: NDArray[np.int64]


def draw_past(model: Parametric, grid: Grid, past: Past, draws: int, seed: int) -> Iterator[PlaceDraws]:
    """Draw what happened at each place, given all that was seen.

    Shocks follow their gamma distributions given all periods, tied to each other in time by a normal copula
    with the persistence of shocks. Rates carry the uncertainty of levels, profiles and cells, the latter
    shared by all places. That places run out when shocks are high adds a part to the unserved requests that
    rests on the distribution of shocks; it is taken to be known to a fifth of itself, for the whole city and
    for each place. Given all this, the rest is Poisson; walkers are drawn by their expected shares (those of
    pickups by :func:`foreign_share`), which carry the uncertainty of the chance to walk: they are seen next
    door, so doubt about the unserved is not theirs.
    """
    calendar = make_calendar(grid.ds, grid.zone, grid.by)
    level, cell, profile = _uncertainty(model, grid, past, calendar.cell, calendar.cells)
    shared = np.random.default_rng([seed, 23])
    common = shared.standard_normal((draws, calendar.cells)) * cell
    walkers = np.exp(model.spill.error * shared.standard_normal((draws, 1)))
    missed = past.rate * (1 - grid.exposure) * grid.known
    went = past.went / np.maximum(past.unserved, 1e-300)
    came = foreign_share(grid, past)
    added = past.unserved.sum() / max(float(missed.sum()), 1e-300)
    doubt = _DOUBT * abs(float(np.log(added))) if added > 0 else 0.0
    everywhere = doubt * shared.standard_normal((draws, 1))
    for place in range(len(grid.places)):
        rng = np.random.default_rng([seed, 29, place])
        at = np.flatnonzero((missed[place] > 0) | (past.came[place] > 1e-9) & (grid.y[place] > 0))
        noise = _chain(rng, draws, at, model.shocks.persistence)
        shape = past.shape[place, at]
        shock = _gamma(noise, shape) / past.inverse_scale[place, at]
        own = common + profile[place] * rng.standard_normal((draws, calendar.cells))
        drift = level[place] * rng.standard_normal((draws, 1)) + own[:, calendar.cell[at]]
        spread = level[place] ** 2 + (cell**2 + profile[place] ** 2)[calendar.cell[at]]
        more = np.exp(everywhere + doubt * rng.standard_normal((draws, 1)) - doubt**2)
        unserved = rng.poisson(missed[place, at] * shock * more * np.exp(drift - spread / 2))
        foreign = np.zeros_like(unserved)
        next_door = np.zeros_like(unserved)
        if model.spill.share > 0:
            next_door = rng.binomial(unserved, np.clip(walkers / more * went[place, at], 0, 1))
            foreign = rng.binomial(
                np.broadcast_to(grid.y[place, at].astype(np.int64), unserved.shape),
                np.clip(walkers * came[place, at], 0, 1),
            )
        yield PlaceDraws(place, at, unserved, next_door, foreign)


def foreign_share(grid: Grid, past: Past) -> Floats:
    """Share of each pickup that is due to people who wanted a neighbour, (P, T).

    Given the count it is f came / (λeG + f came). With f = 1 the pickups so explained need not be as many as
    the people who left for a neighbour, since places next to an empty one may see fewer rides than foreseen.
    Everybody who is served next door is seen there, so f is the number with which both sums are the same.
    """
    expected = past.rate * grid.exposure * past.shape / past.inverse_scale
    walkers = float(past.went.sum())
    rows = (past.came > 0) & (grid.y > 0)
    share = np.zeros_like(expected)
    if walkers == 0 or not rows.any():
        return share
    seen, own, came = grid.y[rows], np.maximum(expected[rows], 1e-300), past.came[rows]

    def surplus(log_factor: float) -> float:
        more = np.exp(log_factor) * came
        return float((seen * more / (own + more)).sum()) - walkers

    ends = surplus(-_MOST_ODDS), surplus(_MOST_ODDS)
    if ends[0] < 0 < ends[1]:
        factor = brentq(surplus, -_MOST_ODDS, _MOST_ODDS, xtol=1e-12, rtol=1e-12)
    else:  # more walkers than pickups around them can be: as near as the bounds allow
        factor = _MOST_ODDS if ends[1] <= 0 else -_MOST_ODDS
    more = np.exp(factor) * came
    share[rows] = more / (own + more)
    return share


def _uncertainty(
    model: Parametric, grid: Grid, past: Past, cell: NDArray[np.int64], cells: int
) -> tuple[Floats, Floats, Floats]:
    """Standard errors of log rates from the information in the counts: levels, cells, profiles (P, C).

    That of a place's profile Σₖ loading × factor is f′ Vᵢ f + l′ V_c l, with V the inverse information on the
    loadings of the place and on the factors of the cell.
    """
    memory = model.shocks.persistence
    spread = model.shocks.variance * (1 + memory) / (1 - memory)
    expected = past.rate * grid.exposure
    information = expected / (1 + expected * spread)
    both = np.stack([np.bincount(cell, row, minlength=cells) for row in information])
    loading, factor = model.rates.loading, model.rates.factor
    rank = np.eye(loading.shape[1])
    of_places = np.linalg.inv(np.einsum("pc,ck,cl->pkl", both, factor, factor, optimize=True) + rank)
    of_cells = np.linalg.inv(np.einsum("pc,pk,pl->ckl", both, loading, loading, optimize=True) + 2 * rank)
    profile = np.einsum("ck,pkl,cl->pc", factor, of_places, factor, optimize=True)
    profile += np.einsum("pk,ckl,pl->pc", loading, of_cells, loading, optimize=True)
    level = 1 / np.sqrt(both.sum(axis=1) + 0.5)
    return level, 1 / np.sqrt(both.sum(axis=0) + 4.0), np.sqrt(np.maximum(profile, 0.0))


def _chain(rng: np.random.Generator, draws: int, at: NDArray[np.int64], memory: float) -> Floats:
    """Standard normal noise at periods `at`, correlated memory^distance between periods; (D, n)."""
    noise = rng.standard_normal((draws, len(at)))
    if memory < 0.02:
        return noise
    keep = memory ** np.diff(at).astype(np.float64)
    for k, tie in enumerate(keep, start=1):
        noise[:, k] = tie * noise[:, k - 1] + np.sqrt(1 - tie * tie) * noise[:, k]
    return noise


def _gamma(noise: Floats, shape: Floats) -> Floats:
    """Gamma draws of unit rate from normal noise (Wilson and Hilferty's cube root)."""
    return shape * np.maximum(1 - 1 / (9 * shape) + noise / (3 * np.sqrt(shape)), 0.0) ** 3
