"""Weighted linear quantile regression around many points at once."""

from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from unmet.estimators.local._rows import Floats, Near, Rows, neighbours

# Rounds of reweighted least squares; after each of the first parts, rows beyond their caps are found anew.
_ROUNDS, _PARTS = 16, 3
# Residuals count as at least this part of the local spread: the quantile is then right to about that part.
_SHARPEST = 0.002
# A fit rests on rows that are worth at least this many times its coefficients.
_ENOUGH = 2.0
# From twice this many neighbours, the first parts use this many, and so many Newton steps then use all.
_PILOT, _STEPS, _DAMPING = 500, 10, 0.05
# With more rows than this, lines are fitted around so many places per neighbourhood and blended.
_MANY, _PLACES_PER_SPAN = 1_000, 60
# The levels at caps are found around at most so many rows, in neighbourhoods no wider than this share or so
# many rows: they know no slope, so that wide ones are biased.
_PLACES = 1_000
_LEVEL_SPAN, _LEVEL_ROWS = 0.1, 100


def local_linear(
    rows: Rows, points: Floats, levels: Floats, span: float, reach: Floats
) -> tuple[Floats, Floats]:
    """Return quantiles (points, K), and whether each is identified.

    At each point x₀ and level, a and b minimise Σ K((xᵢ − x₀)/h) wᵢ ρ_θ(yᵢ − a − b'(xᵢ − x₀)) over rows whose
    cap lies above their quantile, and a is the answer. Rows are chosen at first by `reach`, an estimate of
    the level at which a row meets its cap, then by the fit itself (Powell's condition, in three steps as by
    Chernozhukov and Hong). The minimum is found by majorisation (Hunter and Lange), and by Newton's steps
    where neighbours are many, all points and levels side by side. Quantiles of one point are sorted.

    References
    ----------
    Chernozhukov & Hong (2002), Three-step censored quantile regression, J. Am. Stat. Assoc. 97. Hunter &
    Lange (2000), Quantile regression via an MM algorithm, J. Comput. Graph. Stat. 9.
    """
    places = rows.x[: ceil(_PLACES_PER_SPAN / span)]
    # Lines around a few values, each that of many rows, lie too far apart to be blended.
    repeated = 2 * len(np.unique(places, axis=0)) <= len(places)
    if len(rows.y) <= _MANY or len(places) == len(rows.y) or repeated:
        each, position = np.unique(points, axis=0, return_inverse=True)
        lines, known = _fit(rows, each, levels, span, reach)
        position = position.reshape(len(points))
        return np.sort(lines[..., 0], axis=1)[position], known[position]
    return _blend(rows, points, places, levels, span, reach)


def _blend(
    rows: Rows, points: Floats, places: Floats, levels: Floats, span: float, reach: Floats
) -> tuple[Floats, Floats]:
    """Return what `local_linear` does, from the lines around the places that are nearest to each point.

    Places are close to each other beside the bandwidth. The last of the nearest has no weight, so that values
    do not jump.
    """
    distance, nearest = KDTree(places).query(points, k=min(2 * points.shape[1] + 2, len(places)))
    used, position = np.unique(nearest, return_inverse=True)
    position = position.reshape(nearest.shape)
    lines, known = _fit(rows, places[used], levels, span, reach)
    weight = 1 - np.square(distance / np.maximum(distance[:, -1:], 1e-300))
    weight = np.where(weight.any(axis=1, keepdims=True), weight, 1.0)
    weight /= weight.sum(axis=1, keepdims=True)
    away = points[:, None] - places[nearest]  # (points, nearest, columns)
    own = lines[position]  # (points, nearest, K, columns + 1)
    values = own[..., 0] + (own[..., 1:] @ away[..., None])[..., 0]
    found = (weight[..., None] * values).sum(axis=1)
    return np.sort(found, axis=1), (known[position] | (weight == 0)[..., None]).all(axis=1)


def _fit(rows: Rows, points: Floats, levels: Floats, span: float, reach: Floats) -> tuple[Floats, Floats]:
    """Return lines (points, K, columns + 1), and whether each is identified; else it is a flat bound."""
    lines = np.empty((len(points), len(levels), points.shape[1] + 1))
    known = np.empty(lines.shape[:2], bool)
    for part, near in neighbours(rows, points, span):
        lines[part], known[part] = _fit_block(rows, near, levels, reach)
    return lines, known


class _Block(NamedTuple):
    """Rows around points, with axes (points, 1 or K, m); the table is (points, m, columns + 1)."""

    y: Floats
    cap: Floats
    mass: Floats
    table: Floats

    def thinned(self, step: int) -> "_Block":
        y, cap, mass = (array[..., ::step] for array in self[:3])
        return _Block(y, cap, mass, self.table[:, ::step])

    def along(self, beta: Floats) -> Floats:
        """Return the values of lines (points, K, columns + 1) at the rows."""
        return beta @ self.table.swapaxes(1, 2)

    def active(self, beta: Floats) -> Floats:
        """Return the masses of rows whose quantile lies below their cap."""
        return self.mass * (self.along(beta) < self.cap)


def _fit_block(rows: Rows, near: Near, levels: Floats, reach: Floats) -> tuple[Floats, Floats]:
    y, cap = rows.y[near.rows][:, None], rows.cap[near.rows][:, None]
    mass = (near.kernel * rows.weight[near.rows])[:, None]
    table = np.concatenate([np.ones((*near.rows.shape, 1)), near.away], axis=2)
    columns = table.shape[2]
    theta = levels[:, None]
    inner = np.maximum(mass.sum(axis=2), 1e-300)
    middle = (mass * y).sum(axis=2) / inner
    spread = np.sqrt((mass * np.square(y - middle[..., None])).sum(axis=2) / inner)[..., None]
    least = _SHARPEST * np.where(spread > 0, spread, 1.0)
    block = _Block(y, cap, mass, table)
    step = max(1, table.shape[1] // _PILOT)
    few = block.thinned(step)  # rows are in random order
    active = few.mass * (reach[near.rows][:, None, ::step] > theta)
    beta = np.zeros((len(y), len(levels), columns))
    beta[..., 0] = _quantile(few.y, active, levels)
    for part in range(_PARTS - 1):
        beta = _descend(few, active, theta, least, beta, part * _ROUNDS)
        active = few.active(beta)
    if step == 1:
        beta = _descend(block, active, theta, least, beta, (_PARTS - 1) * _ROUNDS)
    else:
        beta = _polish(block, theta, least, beta)
    active = block.active(beta)
    total, squared = active.sum(axis=2), np.square(active).sum(axis=2)
    worth = np.square(total) / np.where(squared > 0, squared, 1.0)
    known = worth >= _ENOUGH * columns
    # Where too few rows are left, all that is known is that the quantile lies beyond the caps.
    bound = np.max(np.where(mass > 0, y, -np.inf), axis=2)
    flat = np.zeros_like(beta)
    flat[..., 0] = bound
    return np.where(known[..., None], beta, flat), known


def _descend(block: _Block, active: Floats, theta: Floats, least: Floats, beta: Floats, begun: int) -> Floats:
    """Return the lines after some rounds of majorisation."""
    y, table = block.y, block.table
    tilt = (active * (2 * theta - 1)) @ table
    products = _products(table)
    for number in range(begun, begun + _ROUNDS):
        # Blunt at first: sharp corners make small steps.
        blunt = least * max(1.0, 100.0 * 0.6**number)
        pull = active / (blunt + np.abs(y - block.along(beta)))
        beta = _solve(pull @ products, (pull * y) @ table + tilt)
    return beta


def _polish(block: _Block, theta: Floats, least: Floats, beta: Floats) -> Floats:
    """Return the lines through all rows, from lines through some of them.

    Newton's steps minimise the loss with its corner rounded, less and less, and find rows beyond their caps
    anew each time.

    References
    ----------
    Chen (2007), A finite smoothing algorithm for quantile regression, J. Comput. Graph. Stat. 16.
    """
    products, spread = _products(block.table), least / _SHARPEST
    sharpest = float(block.table.shape[1] ** (-1 / 3))
    for number in range(_STEPS):
        width = spread * max(sharpest, 0.5 * 0.7**number)
        fit = block.along(beta)
        active, away = block.mass * (fit < block.cap), block.y - fit
        size = np.abs(away)
        # A part of the majoriser's curvature keeps steps short where few rows are near.
        pull = active * ((size < width) / width + _DAMPING / (width + size))
        right = (active * (np.clip(away / width, -1, 1) + (2 * theta - 1))) @ block.table
        step = _solve(pull @ products, right)
        beta = beta + step * np.minimum(1, spread / np.maximum(np.abs(step[..., :1]), 1e-300))
    return beta


def _products(table: Floats) -> Floats:
    """Return products of pairs of columns, (points, m, pairs)."""
    upper, lower = np.triu_indices(table.shape[2])
    return table[..., upper] * table[..., lower]


def _solve(pairs: Floats, right: Floats) -> Floats:
    """Return the solutions of symmetric systems whose upper triangles are given, with a slight ridge."""
    columns = right.shape[2]
    upper, lower = np.triu_indices(columns)
    squares = np.empty((*right.shape, columns))
    squares[..., upper, lower] = squares[..., lower, upper] = pairs
    size = squares[..., 0, 0][..., None]
    ridge = np.concatenate([[0.0], np.full(columns - 1, 1e-6)])
    squares[..., np.arange(columns), np.arange(columns)] += ridge * size + 1e-12 * size + 1e-300
    found: Floats = np.linalg.solve(squares, right[..., None])[..., 0].astype(np.float64, copy=False)
    return found


def _quantile(y: Floats, active: Floats, levels: Floats) -> Floats:
    """Return weighted quantiles (points, K) of y (points, 1, m), the start of the search."""
    order = np.argsort(y[:, 0], axis=1)
    ordered = np.take_along_axis(y[:, 0], order, axis=1)
    mass = np.cumsum(np.take_along_axis(active, order[:, None], axis=2), axis=2)
    place = (mass < levels[:, None] * mass[..., -1:]).sum(axis=2)
    return np.take_along_axis(ordered, np.minimum(place, y.shape[2] - 1), axis=1)


def reached_levels(rows: Rows, span: float) -> Floats:
    """Return F̂(cap | x) at the cap of every row, Kaplan and Meier's estimate of its neighbours; 1 if none.

    Where rows are many, it is the estimate around the nearest of some of them.
    """
    found = np.ones(len(rows.y))
    capped = np.flatnonzero(np.isfinite(rows.cap))
    if not len(capped):
        return found
    places = rows.x[capped[:_PLACES]]
    nearest = KDTree(places).query(rows.x[capped])[1]
    order = np.lexsort((rows.censored, rows.y))
    rank = np.argsort(order)
    passed = np.searchsorted(rows.y[order], rows.cap[capped], side="right")
    for part, near in neighbours(rows, places, min(span, max(_LEVEL_SPAN, _LEVEL_ROWS / len(order)))):
        mass = np.zeros((len(near.rows), len(order)))  # in the order of y
        np.put_along_axis(mass, rank[near.rows], near.kernel * rows.share[near.rows], axis=1)
        at_risk = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
        hazard = np.where(rows.censored[order], 0.0, mass / np.maximum(at_risk, 1e-300))
        stays = np.cumprod(1 - np.minimum(hazard, 1.0), axis=1)
        stays = np.concatenate([np.ones((len(stays), 1)), stays], axis=1)
        here = np.flatnonzero((nearest >= part.start) & (nearest < part.stop))
        found[capped[here]] = 1 - stays[nearest[here] - part.start, passed[here]]
    return found
