"""Joint draws of unobserved demand: persistent shocks, uncertain rates, spill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from unmet.forecasting._counts import draw_counts
from unmet.forecasting._exposure_draws import chain, make_exposure_draws
from unmet.forecasting._grid import Grid
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._parametric import Parametric, Past, split_groups
from unmet.forecasting._spill import Spill, flows
from unmet.forecasting._time_lasted import draw_missed
from unmet.runs import in_threads

Floats = NDArray[np.float64]
# Relative uncertainty of the unserved requests that depend on the distribution of shocks.
_DOUBT = 0.2
# Least standard error of the log share of people who walk: counts hardly tell who gave up.
# Choice laws spread walkers over many places, where they are hard to tell from others.
_LEAST_WALK_ERROR = {"nearest": 0.05, "logit": 0.3, "app": 0.3}
# Standard error of the log of people cut off from their groups: counts do not tell how often a place ran out
# within a period, and hardly how large groups are.
_SPLIT_ERROR = 0.3
_RATE_RANGE = (0.3, 2.0)
# Bound on the log of the factor that equates people who arrive from neighbours with people who leave.
_MOST_ODDS = 3.0
_MOST = 1e9  # requests in a period, where a rate has no bound


@dataclass(frozen=True)
class PlaceDraws:
    """Draws (D, n) for one place in its uncertain periods `at`.

    Attributes
    ----------
    at : periods (n,) with possible unserved requests or foreign pickups.
    unserved : requests that found no vehicle.
    next_door : those of them that a neighbour served.
    foreign : pickups by people who wanted a neighbour.
    empty : expected requests of the place (D,) in ambiguous time that was empty in the draw; 0 with a feed.
    """

    place: int
    at: NDArray[np.int64]
    unserved: NDArray[np.int64]
    next_door: NDArray[np.int64]
    foreign: NDArray[np.int64]
    empty: Floats


def draw_past(
    model: Parametric,
    grid: Grid,
    past: Past,
    draws: int,
    seed: int,
    near: NearbyPlaces | None = None,
    jobs: int = 1,
) -> Iterator[PlaceDraws]:
    """Draw what happened at each place, given all observations; places in order, `jobs` of them at a time."""
    draw = make_draw(model, grid, past, draws, seed, near)
    yield from in_threads(draw, range(len(grid.places)), jobs)


def make_draw(
    model: Parametric, grid: Grid, past: Past, draws: int, seed: int, near: NearbyPlaces | None = None
) -> Callable[[int], PlaceDraws]:
    """Return the function that draws what happened at one place, given all observations.

    Shocks follow their gamma distributions given all periods; a normal copula with the persistence of shocks
    links them in time. Rates carry the uncertainty of levels, profiles and cells; all places share that of
    cells. Places run out when shocks are high, so part of the unserved requests depends on the distribution
    of shocks; that part is assumed known to a fifth of itself, for the whole city and for each place. People
    cut off from their groups are uncertain too, and rates with them. Given all this, the rest is Poisson.
    Spill is drawn by its expected shares (for pickups :func:`foreign_share`) with the uncertainty of the
    chance to walk, which is never below `_LEAST_WALK_ERROR`. People who walk are observed at the neighbour,
    so the uncertainty of unserved requests does not apply to them; but where more pickups are theirs, fewer
    are of people who wanted that place. With `near`, each draw follows one of the laws of walking, as many
    draws each as its weight says. Where the stock was inferred, each draw has its own exposure, which changes
    the missed time and the rate (see :class:`ExposureDraws`).
    """
    calendar = grid.calendar
    level, cell, profile = _uncertainty(model, grid, past, calendar.cell, calendar.cells)
    shared = np.random.default_rng([seed, 23])
    common = shared.standard_normal((draws, calendar.cells)) * cell
    missed = past.rate * grid.missing
    law, shares, totals = _laws(model.spill, past, grid, draws, seed, near)
    errors = np.array([max(one.error, _LEAST_WALK_ERROR[one.law]) for one in model.spill.laws])
    walkers = np.exp(errors[law][:, None] * shared.standard_normal((draws, 1)))
    came = foreign_share(grid, past)
    split = split_groups(model.shocks, grid)
    cut = np.exp(_SPLIT_ERROR * np.random.default_rng([seed, 43]).standard_normal((draws, 1)))
    of_groups = split.sum(axis=1) / np.maximum(past.own.sum(axis=1), 1e-9)
    added = (past.unserved - split).sum() / max(float(missed.sum()), 1e-300)
    doubt = _DOUBT * abs(float(np.log(added))) if added > 0 else 0.0
    everywhere = doubt * shared.standard_normal((draws, 1))
    exposures = make_exposure_draws(grid, past, draws, seed)

    def draw(place: int) -> PlaceDraws:
        rng = np.random.default_rng([seed, 29, place])
        found = exposures.of(place)
        unsure = (
            missed[place] > 0
            if found is None
            else (missed[place] > 0) | (grid.low[place] < 1) & grid.known[place]
        )
        at = np.flatnonzero(unsure | (past.came[place] > 1e-9) & (grid.y[place] > 0))
        noise = chain(rng, draws, at, model.shocks.persistence)
        shape = past.shape[place, at]
        shock = _gamma(noise, shape) / past.inverse_scale[place, at]
        own = common + profile[place] * rng.standard_normal((draws, calendar.cells))
        drift = level[place] * rng.standard_normal((draws, 1)) + own[:, calendar.cell[at]]
        spread = level[place] ** 2 + (cell**2 + profile[place] ** 2)[calendar.cell[at]]
        more = np.exp(everywhere + doubt * rng.standard_normal((draws, 1)) - doubt**2)
        # More walkers among the pickups mean fewer people who wanted this place, so a lower rate.
        seen, strangers = grid.y[place].sum(), past.came[place].sum()
        others = walkers * totals[law] * strangers
        more = more * np.clip((seen - others) / max(seen - strangers, 1e-9), *_RATE_RANGE)
        more = more * (1 + (cut - 1) * of_groups[place])
        gone, empty = missed[place, at], np.zeros(draws)
        if found is not None:
            exposure, factor = found
            gone = (exposures.rate[place] * (1 - exposure))[:, at] * factor
            empty = (grid.high[place] - exposure) @ exposures.rate[place]
        if grid.untimed is not None and (late := grid.untimed[place, at]).any():
            gone = np.broadcast_to(gone, shock.shape).copy()
            gone[:, late] = draw_missed(rng, grid, past, place, at[late], draws)
        expected = np.minimum(gone * shock * more * np.exp(drift - spread / 2), _MOST)
        unserved = draw_counts(rng, expected + cut * split[place, at], model.shocks.groups)
        foreign = np.zeros_like(unserved)
        next_door = np.zeros_like(unserved)
        if model.spill.share > 0:
            went = shares[:, place, at][law]
            next_door = rng.binomial(unserved, np.clip(walkers / more * went, 0, 1))
            foreign = rng.binomial(
                np.broadcast_to(grid.y[place, at].astype(np.int64), unserved.shape),
                np.clip(walkers * totals[law] * came[place, at], 0, 1),
            )
        return PlaceDraws(place, at, unserved, next_door, foreign, empty)

    return draw


def _laws(
    spill: Spill, past: Past, grid: Grid, draws: int, seed: int, near: NearbyPlaces | None
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the law of each draw (D,), the share that walks by law (L, P, T), and all walkers by law (L, 1).

    The last is relative to the mean over laws.
    """
    below = np.maximum(past.unserved, 1e-300)
    if near is None or not spill.others:
        return np.zeros(draws, np.int64), (past.went / below)[None], np.ones((1, 1))
    gone = np.stack([flows(law, near, past.unserved, grid.exposure)[1] for law in spill.laws])
    ends = np.cumsum([law.weight for law in spill.laws])
    turn = np.random.default_rng([seed, 41]).permutation(draws)
    law = np.minimum(np.searchsorted(ends, (turn + 0.5) / draws), len(ends) - 1)
    return law, gone / below, (gone.sum(axis=(1, 2)) / max(past.went.sum(), 1e-300))[:, None]


def foreign_share(grid: Grid, past: Past) -> Floats:
    """Return the share of each pickup by people who wanted a neighbour, (P, T).

    Given the count it is f came / (λeG + f came). With f = 1, the pickups explained this way need not equal
    the people who left for a neighbour, because places next to an empty one may have fewer rides than
    forecast. Everybody whom a neighbour serves is observed there, so f is the number that makes both sums
    equal.
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
    else:  # more people left than pickups can explain: as close as the bounds allow
        factor = _MOST_ODDS if ends[1] <= 0 else -_MOST_ODDS
    more = np.exp(factor) * came
    share[rows] = more / (own + more)
    return share


def _uncertainty(
    model: Parametric, grid: Grid, past: Past, cell: NDArray[np.int64], cells: int
) -> tuple[Floats, Floats, Floats]:
    """Return standard errors of log rates from the information in the counts: levels, cells, profiles (P, C).

    The variance of a place's profile Σₖ loading × factor is f′ Vᵢ f + l′ V_c l, where V is the inverse
    information on the loadings of the place and on the factors of the cell.
    """
    memory = model.shocks.persistence
    spread = model.shocks.variance * (1 + memory) / (1 - memory)
    expected = past.rate * grid.exposure
    information = expected / (model.shocks.groups + expected * spread)
    both = np.stack([np.bincount(cell, row, minlength=cells) for row in information])
    loading, factor = model.rates.loading, model.rates.factor
    rank = np.eye(loading.shape[1])
    of_places = np.linalg.inv(np.einsum("pc,ck,cl->pkl", both, factor, factor, optimize=True) + rank)
    of_cells = np.linalg.inv(np.einsum("pc,pk,pl->ckl", both, loading, loading, optimize=True) + 2 * rank)
    profile = np.einsum("ck,pkl,cl->pc", factor, of_places, factor, optimize=True)
    profile += np.einsum("pk,ckl,pl->pc", loading, of_cells, loading, optimize=True)
    level = 1 / np.sqrt(both.sum(axis=1) + 0.5)
    return level, 1 / np.sqrt(both.sum(axis=0) + 4.0), np.sqrt(np.maximum(profile, 0.0))


def _gamma(noise: Floats, shape: Floats) -> Floats:
    """Return gamma draws of unit rate from normal noise (Wilson and Hilferty's cube root)."""
    root = noise / (3 * np.sqrt(shape))
    root += 1 - 1 / (9 * shape)
    np.maximum(root, 0.0, out=root)
    return shape * (root * root * root)
