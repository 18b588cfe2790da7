"""Portnoy's censored quantile process: a censored row splits its weight between its value and infinity."""

import numpy as np

from unmet.estimators.linear._paths import Floats, Path, Problem, Rows
from unmet.estimators.linear._simplex import solve


def portnoy(problem: Problem, weights: Floats, start: Rows) -> Path:
    """Fit all levels in turn, for R sets of row weights at once.

    A censored row counts as infinite until the process has passed it. Once passed, at level θ_c (interpolated
    between two levels of the grid), it has the share w(θ) = (θ − θ_c)/(1 − θ_c) of its weight at its value
    and the rest at infinity. Rows below the first level have θ_c = 0, which is as if they were not there. A
    process ends where the weight at infinity leaves the next level without a finite solution.

    Parameters
    ----------
    weights : array (R, n), positive
    start : array (p,), uncensored rows to start from

    References
    ----------
    Portnoy (2003), Censored regression quantiles, J. Am. Stat. Assoc. 98.
    """
    X, y, censored = problem.X, problem.y, problem.censored
    path = Path(len(weights), len(problem.levels), X.shape[1])
    who = np.arange(len(weights))
    basis = np.tile(start, (len(weights), 1))
    passed = np.full(weights.shape, np.inf)  # θ_c
    total = weights @ X
    before, fitted = 0.0, None
    for number, level in enumerate(problem.levels):
        share = np.where(censored, 0.0, 1.0)
        seen = np.where(np.isfinite(passed), (level - passed) / (1 - np.minimum(passed, level)), share)
        upper = weights * seen
        found = solve(X, y, upper, (1 - level) * total - (weights - upper) @ X, basis)
        going = found.bounded
        if not going.all():
            who, weights, passed, total = who[going], weights[going], passed[going], total[going]
            fitted = None if fitted is None else fitted[going]
            if not len(who):
                break
        basis, residuals = found.basis[going], found.residuals[going]
        path.bases[who, number], path.reached[who, number] = basis, True
        new = censored & np.isinf(passed) & (residuals <= 0)
        now = y - residuals
        if fitted is None:
            passed[new] = 0.0
        else:
            run, row = np.nonzero(new)
            way = (y[row] - fitted[run, row]) / (now[run, row] - fitted[run, row])
            passed[run, row] = before + (level - before) * np.clip(way, 0.0, 1.0)
        before, fitted = level, now
    return path
