"""Peng and Huang's censored quantile process, from the martingale of the counting process."""

import numpy as np

from unmet.estimators.linear._paths import Floats, Path, Problem, Rows
from unmet.estimators.linear._simplex import solve


def peng_huang(problem: Problem, weights: Floats, start: Rows) -> Path:
    """Fit all levels in turn, for R sets of row weights at once.

    At level θ_j it solves Σ ωᵢ xᵢ [Nᵢ(xᵢ'β) − Σ_{k<j} 1{yᵢ ≥ xᵢ'β(θ_k)} (H(θ_{k+1}) − H(θ_k))] = 0 with
    H(u) = −log(1 − u), θ_0 = 0 and Nᵢ(t) = 1 for an uncensored yᵢ ≤ t. The left side is the gradient of a
    convex function, whose minimum is a linear programme over the uncensored rows (Koenker 2008, Theorem 1).

    A row that is fitted exactly is partly passed: it stays at risk by its share in the dual solution, so that
    the equation holds exactly at every level.

    A process ends where the next level has no finite solution, or, if rows are censored, where the uncensored
    rows above it weigh less than p/2 + 1. The p rows that a plane fits exactly lie above it by half their
    weight on average: with less it has no other row above it, and nothing holds its slopes.

    Parameters
    ----------
    weights : array (R, n), positive
    start : array (p,), uncensored rows to start from

    References
    ----------
    Peng & Huang (2008), Survival analysis with quantile regression models, J. Am. Stat. Assoc. 103.
    Koenker (2008), Censored quantile regression redux, J. Stat. Softw. 27(6).
    """
    X, y, rows = problem.X, problem.y, np.flatnonzero(~problem.censored)
    least = X.shape[1] / 2 + 1 if problem.censored.any() else 0.0
    path = Path(len(weights), len(problem.levels), X.shape[1])
    seen_X, seen_y = X[rows], y[rows]
    who = np.arange(len(weights))
    basis = np.tile(np.searchsorted(rows, start), (len(weights), 1))
    upper = weights[:, rows]
    target = upper @ seen_X
    at_risk = weights
    hazard = 0.0
    for number, level in enumerate(problem.levels):
        step = -np.log1p(-level) - hazard
        hazard += step
        target = target - step * (at_risk @ X)
        found = solve(seen_X, seen_y, upper, target, basis)
        above = np.where(found.residuals > 0, upper, 0.0)
        np.put_along_axis(above, found.basis, np.clip(found.shares, 0.0, np.inf), axis=1)
        going = found.bounded & (above.sum(axis=1) >= least)
        if not going.all():
            who, weights, upper, target = who[going], weights[going], upper[going], target[going]
            if not len(who):
                break
        basis = found.basis[going]
        path.bases[who, number], path.reached[who, number] = rows[basis], True
        at_risk = weights * (y >= found.coefficients[going] @ X.T)
        at_risk[:, rows] = above[going]
    return path
