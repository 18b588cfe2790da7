"""Weighted linear quantile regression around many points at once."""

import numpy as np

from unmet.estimators.local._rows import Floats, Near, Rows, neighbours

# Rounds of reweighted least squares; after each of the first parts, rows beyond their caps are found anew.
_ROUNDS, _PARTS = 16, 3
# Residuals count as at least this part of the local spread: the quantile is then right to about that part.
_SHARPEST = 0.002
# A fit rests on rows that are worth at least this many times its coefficients.
_ENOUGH = 2.0


def local_linear(
    rows: Rows, points: Floats, levels: Floats, span: float, reach: Floats
) -> tuple[Floats, Floats]:
    """Return quantiles (points, K), and whether each is identified.

    At each point x₀ and level, a and b minimise Σ K((xᵢ − x₀)/h) wᵢ ρ_θ(yᵢ − a − b'(xᵢ − x₀)) over rows whose
    cap lies above their quantile, and a is the answer. Rows are chosen at first by `reach`, an estimate of
    the level at which a row meets its cap, then by the fit itself (Powell's condition, in three steps as by
    Chernozhukov and Hong). The minimum is found by majorisation (Hunter and Lange), all points and levels
    side by side. Quantiles of one point are sorted.

    References
    ----------
    Chernozhukov & Hong (2002), Three-step censored quantile regression, J. Am. Stat. Assoc. 97. Hunter &
    Lange (2000), Quantile regression via an MM algorithm, J. Comput. Graph. Stat. 9.
    """
    found = np.empty((len(points), len(levels)))
    known = np.empty(found.shape, bool)
    for part, near in neighbours(rows, points, span):
        found[part], known[part] = _fit_block(rows, near, levels, reach)
    return np.sort(found, axis=1), known


def _fit_block(rows: Rows, near: Near, levels: Floats, reach: Floats) -> tuple[Floats, Floats]:
    y, cap = rows.y[near.rows][:, None], rows.cap[near.rows][:, None]
    mass = (near.kernel * rows.weight[near.rows])[:, None]
    table = np.concatenate([np.ones((*near.rows.shape, 1)), near.away], axis=2)
    columns = table.shape[2]
    upper, lower = np.triu_indices(columns)
    products = table[..., upper] * table[..., lower]  # (points, m, pairs)
    theta = levels[:, None]
    active = mass * (reach[near.rows][:, None] > theta)  # (points, K, m)
    total = active.sum(axis=2)
    beta = np.zeros((*total.shape, columns))
    beta[..., 0] = _quantile(y, active, levels)
    inner = np.maximum(mass.sum(axis=2), 1e-300)
    middle = (mass * y).sum(axis=2) / inner
    spread = np.sqrt((mass * np.square(y - middle[..., None])).sum(axis=2) / inner)[..., None]
    least = _SHARPEST * np.where(spread > 0, spread, 1.0)
    ridge = np.concatenate([[0.0], np.full(columns - 1, 1e-6)])
    for part in range(_PARTS):
        for number in range(_ROUNDS):
            # Blunt at first: sharp corners make small steps.
            blunt = least * max(1.0, 100.0 * 0.6 ** (number + part * _ROUNDS))
            pull = active / (blunt + np.abs(y - beta @ table.swapaxes(1, 2)))
            squares = np.empty((*total.shape, columns, columns))
            squares[..., upper, lower] = squares[..., lower, upper] = pull @ products
            size = squares[..., 0, 0][..., None]
            squares[..., np.arange(columns), np.arange(columns)] += ridge * size + 1e-12 * size + 1e-300
            right = (pull * y + active * (2 * theta - 1)) @ table
            beta = np.linalg.solve(squares, right[..., None])[..., 0]
        active = mass * (beta @ table.swapaxes(1, 2) < cap)
        total = active.sum(axis=2)
    squared = np.square(active).sum(axis=2)
    worth = np.square(total) / np.where(squared > 0, squared, 1.0)
    known = worth >= _ENOUGH * columns
    # Where too few rows are left, all that is known is that the quantile lies beyond the caps.
    bound = np.max(np.where(mass > 0, y, -np.inf), axis=2)
    return np.where(known, beta[..., 0], bound), known


def _quantile(y: Floats, active: Floats, levels: Floats) -> Floats:
    """Return weighted quantiles (points, K) of y (points, 1, m), the start of the search."""
    order = np.argsort(y[:, 0], axis=1)
    ordered = np.take_along_axis(y[:, 0], order, axis=1)
    mass = np.cumsum(np.take_along_axis(active, order[:, None], axis=2), axis=2)
    place = (mass < levels[:, None] * mass[..., -1:]).sum(axis=2)
    return np.take_along_axis(ordered, np.minimum(place, y.shape[2] - 1), axis=1)


def reached_levels(rows: Rows, span: float) -> Floats:
    """Return F̂(cap | x) at the cap of every row, Kaplan and Meier's estimate of its neighbours; 1 if none."""
    found = np.ones(len(rows.y))
    capped = np.flatnonzero(np.isfinite(rows.cap))
    for part, near in neighbours(rows, rows.x[capped], span):
        order = np.lexsort((rows.censored[near.rows], rows.y[near.rows]))
        index = np.take_along_axis(near.rows, order, axis=1)
        mass = np.take_along_axis(near.kernel, order, axis=1) * rows.share[index]
        at_risk = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
        hazard = np.where(rows.censored[index], 0.0, mass / np.maximum(at_risk, 1e-300))
        passed = rows.y[index] <= rows.cap[capped[part], None]
        found[capped[part]] = 1 - np.prod(1 - np.minimum(hazard, 1.0) * passed, axis=1)
    return found
