"""Wang and Wang's locally weighted estimator: Portnoy's weights from a local Kaplan–Meier estimate."""

import numpy as np

from unmet.estimators.linear._beran import beran
from unmet.estimators.linear._paths import Floats, Path, Problem, Rows
from unmet.estimators.linear._simplex import solve


def wang_wang(problem: Problem, weights: Floats, start: Rows, *, X: Floats, bandwidth: float | None) -> Path:
    """Fit each level by itself, for R sets of row weights at once.

    A censored row with F̂(yᵢ | xᵢ) = F below θ has the share (θ − F)/(1 − F) of its weight at its value and
    the rest at infinity; other rows keep their values. F̂ is Beran's estimate over the columns `X` as given.

    References
    ----------
    Wang & Wang (2009), Locally weighted censored quantile regression, J. Am. Stat. Assoc. 104.
    """
    rows = np.flatnonzero(problem.censored)
    path = Path(len(weights), len(problem.levels), problem.X.shape[1])
    below = np.ones(weights.shape)
    if len(rows):
        below[:, rows] = beran(X, problem.y, problem.censored, rows, weights, bandwidth)
    total = weights @ problem.X
    who = np.arange(len(weights))
    basis = np.tile(start, (len(weights), 1))
    for number, level in enumerate(problem.levels):
        share = np.where(below < level, (level - below) / (1 - np.minimum(below, level)), 1.0)
        upper = weights * share
        target = (1 - level) * total - (weights - upper) @ problem.X
        found = solve(problem.X, problem.y, upper, target, basis)
        basis = np.where(found.bounded[:, None], found.basis, basis)
        path.bases[who, number], path.reached[who, number] = basis, found.bounded
    return path
