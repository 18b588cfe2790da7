"""Powell's estimator for known thresholds: convex programmes, then edges searched to their lowest point."""

from typing import Any

import numpy as np

from unmet.estimators.linear._paths import Floats, Path, Problem, Rows
from unmet.estimators.linear._simplex import first_basis, solve

# Numbers that one descent keeps alive at a time: about 64 MB.
_LARGEST = 2**20
# A row that moves slower than this part of the fastest does not move: it would make the basis singular.
_FLAT = 1e-9
_MOST_ROUNDS, _MOST_PROGRAMMES = 1_000, 100
# Edges that a random start follows first.
_FIRST_EDGES = 3


def powell(
    problem: Problem,
    weights: Floats,
    start: Rows,
    *,
    n_restarts: int = 0,
    seed: int = 0,
    known: Rows | None = None,
) -> Path:
    """Minimise Σ ωᵢ ρ_θ(yᵢ − min(capᵢ, max(floorᵢ, xᵢ'β))) at each level, for R sets of row weights at once.

    The objective is not convex. A minimum fits p rows exactly, so that the search goes from one set of p rows
    to another. It solves convex programmes that touch the objective from above until one stays where it is.
    There it looks along all p edges, over their whole length, and follows the one that leads lowest
    (Fitzenberger's method looks at the slope only and stops at the first low point); and so on, until no edge
    leads lower. It starts from plain quantile regression, from the solution of the level before, and from
    random sets of rows, and keeps the best.

    Parameters
    ----------
    n_restarts : number of random starts per level
    known : array (K, p), solutions of a similar problem: the only starts, if given

    References
    ----------
    Powell (1986), Censored regression quantiles, J. Econometrics 32.
    Fitzenberger (1997), A guide to censored quantile regressions, Handbook of Statistics 15.
    """
    X, y = problem.X, problem.y
    path = Path(len(weights), len(problem.levels), X.shape[1])
    random = np.random.default_rng(seed)
    for run, weight in enumerate(weights):
        before: list[Rows] = []
        for number, level in enumerate(problem.levels):
            if known is not None:
                bases = known[number][None]
            else:
                target = (1 - level) * weight @ X
                plain = solve(X, y, weight[None], target[None], start[None]).basis[0]
                drawn = [
                    first_basis(X * np.exp(2 * random.normal(size=len(y)))[:, None])
                    for _ in range(n_restarts)
                ]
                bases = np.array([plain, *before, *_spread(problem, weight, level, np.array(drawn))])
            best = _best(problem, weight, level, bases)
            path.bases[run, number], path.reached[run, number] = best, True
            before = [best]
    return path


def _spread(problem: Problem, weight: Floats, level: float, bases: Rows) -> Rows:
    """Follow a few edges from random bases: convex programmes alone would lead many of them to one end."""
    for _ in range(_FIRST_EDGES if len(bases) else 0):
        bases = _step_all(problem, weight, level, bases)
    return bases


def _best(problem: Problem, weight: Floats, level: float, bases: Rows) -> Rows:
    """The lowest end of searches from all bases."""
    ended: list[Rows] = []
    for _ in range(_MOST_ROUNDS):
        settled = np.unique(np.sort(_settle(problem, weight, level, bases), axis=1), axis=0)
        bases = _step_all(problem, weight, level, settled)
        moved = (bases != settled).any(axis=1)
        ended.extend(bases[~moved])
        bases = bases[moved]
        if not len(bases):
            break
    ends = np.array([*ended, *bases])
    values = objective(
        problem, weight, level, np.linalg.solve(problem.X[ends], problem.y[ends][..., None])[..., 0]
    )
    return ends[values.argmin()]


def _settle(problem: Problem, weight: Floats, level: float, bases: Rows) -> Rows:
    """Solve convex programmes from each basis until they stay where they are.

    A row costs ρ_θ(y − q) less (1 − θ)(q − cap)⁺ and θ(floor − q)⁺. What is taken off is convex: its tangent
    at the last solution leaves a linear programme that lies above the objective and touches it there.
    """
    X, y = problem.X, problem.y
    bases = bases.copy()
    who = np.arange(len(bases))
    for _ in range(_MOST_PROGRAMMES):
        fitted = np.linalg.solve(X[bases[who]], y[bases[who]][..., None])[..., 0] @ X.T
        slopes = (1 - level) * (fitted <= problem.cap) + level * (fitted < problem.floor)
        upper = np.broadcast_to(weight, fitted.shape)
        found = solve(X, y, upper, (slopes * weight) @ X, bases[who]).basis
        moved = (np.sort(found, axis=1) != np.sort(bases[who], axis=1)).any(axis=1)
        bases[who] = found
        who = who[moved]
        if not len(who):
            break
    return bases


def objective(problem: Problem, weight: Floats, level: float, coefficients: Any) -> Floats:
    """Powell's objective for coefficients (S, p)."""
    residual = problem.y - np.clip(coefficients @ problem.X.T, problem.floor, problem.cap)
    return np.maximum(level * residual, (level - 1) * residual) @ weight


def _step_all(problem: Problem, weight: Floats, level: float, bases: Rows) -> Rows:
    size = max(1, _LARGEST // (problem.X.size * 2))
    return np.concatenate(
        [_step(problem, weight, level, bases[i : i + size]) for i in range(0, len(bases), size)]
    )


def _step(problem: Problem, weight: Floats, level: float, bases: Rows) -> Rows:
    """Follow the edge from each basis that leads lowest; a basis stays where none leads lower."""
    X, y = problem.X, problem.y
    bases = bases.copy()
    capped, floored = np.isfinite(problem.cap), np.isfinite(problem.floor)
    above = problem.censored & (problem.cap == y)
    below = problem.censored & ~above
    # Where the quantile passes y the slope rises. It is 0 beyond a cap and below a floor.
    rise = weight * np.where(above, level, np.where(below, 1 - level, 1.0))
    ends = [(problem.cap, np.where(capped & ~above, -(1 - level) * weight, 0.0))]
    if floored.any():
        ends.append((problem.floor, np.where(floored & ~below, -level * weight, 0.0)))
    inverse = np.linalg.inv(X[bases])
    fitted = np.einsum("rij,rj->ri", inverse, y[bases]) @ X.T
    rates = np.einsum("rij,ni->rjn", inverse, X)  # (S, p, n): edge j moves row n at this rate
    own = (bases[:, None, :, None] == np.arange(len(y))).any(axis=2)
    rates[np.broadcast_to(own, rates.shape) & (np.abs(rates) < 0.5)] = 0.0
    rates[np.abs(rates) < _FLAT * np.abs(rates).max(axis=2, keepdims=True)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        at_y = (y - fitted)[:, None] / rates
        at_ends = [(np.where(fall < 0, end, 0.0) - fitted)[:, None] / rates for end, fall in ends]
    at_y[np.broadcast_to(own, rates.shape)] = 0.0
    moving = rates != 0
    slope = (
        weight
        * np.where(
            rates > 0,
            np.where(floored, 0.0, -level * rates),
            np.where(capped, 0.0, (1 - level) * rates),
        )
    ).sum(axis=2)
    falls = [fall for _, fall in ends]
    ways = np.concatenate(
        [
            np.where(moving, at_y, 0.0),
            *(np.where(moving & (fall < 0), at, 0.0) for at, fall in zip(at_ends, falls)),
        ],
        axis=2,
    )
    jumps = np.concatenate([np.abs(rates) * part for part in (rise, *falls)], axis=2)
    order = ways.argsort(axis=2)
    sorted_ways = np.take_along_axis(ways, order, axis=2)
    slopes = slope[:, :, None] + np.take_along_axis(jumps, order, axis=2).cumsum(axis=2)
    heights = np.zeros_like(slopes)
    np.cumsum(slopes[:, :, :-1] * np.diff(sorted_ways, axis=2), axis=2, out=heights[:, :, 1:])
    here = np.take_along_axis(heights, (sorted_ways >= 0).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    usable = (order < len(y)) & np.take_along_axis(
        np.concatenate([moving, *(np.zeros_like(moving) for _ in ends)], axis=2), order, axis=2
    )
    heights[~usable] = np.inf
    low = heights.argmin(axis=2)
    gains = here - np.take_along_axis(heights, low[:, :, None], axis=2)[:, :, 0]
    edge = gains.argmax(axis=1)
    every = np.arange(len(bases))
    # y is scaled to a range of one
    better = gains[every, edge] > 1e-11 * weight.sum()
    entering = order[every, edge, low[every, edge]]
    bases[every[better], edge[better]] = entering[better]
    return bases
