"""Beran's estimate: Kaplan–Meier in a neighbourhood of each row."""

from collections.abc import Iterator

import numpy as np

from unmet.estimators.linear._paths import Floats, Rows

# Columns with at most this many values are matched exactly; the others are continuous.
_FEW = 5
_MOST_CONTINUOUS = 3
# Numbers in one array of a block of rows: it should stay in a core's cache.
_BLOCK = 2**17


def split_columns(X: Floats) -> tuple[list[int], list[int]]:
    """Numbers of the continuous columns and of those with few values; constant ones are left out."""
    counts = [len(np.unique(column)) for column in X.T]
    continuous = [number for number, count in enumerate(counts) if count > _FEW]
    return continuous, [number for number, count in enumerate(counts) if 1 < count <= _FEW]


def neighbours(X: Floats, rows: Rows, bandwidth: float | None) -> Iterator[tuple[Rows, Floats]]:
    """Yield for each of the given rows the numbers of the rows near it, in order, and their kernel weights.

    The kernel is a product of biweights (1 − u²)² over the continuous columns, u in bandwidths, and of exact
    matches over the others. Bandwidths are standard deviations times `bandwidth`, by default 2 n^(−v): v =
    0.3 for one column, which undersmooths (Wang and Wang ask for 1/4 < v < 1/3), and 0.95/(3d) for d = 2 or
    3.
    """
    continuous, discrete = split_columns(X)
    if len(continuous) > _MOST_CONTINUOUS:
        raise ValueError(
            f"method='wang-wang' smooths over at most {_MOST_CONTINUOUS} continuous columns, but X has "
            f"{len(continuous)} columns with more than {_FEW} values: use method='portnoy' or 'peng-huang'"
        )
    if bandwidth is None:
        power = 0.3 if len(continuous) <= 1 else 0.95 / (3 * len(continuous))
        bandwidth = 2 * len(X) ** -power
    widths = bandwidth * X.std(axis=0)
    size = max(1, _BLOCK // len(X))
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        near = np.ones((len(part), len(X)))
        for number in continuous:
            apart = (X[part, number][:, None] - X[:, number]) / widths[number]
            near *= np.square(np.maximum(1 - np.square(apart), 0.0))
        for number in discrete:
            near *= X[part, number][:, None] == X[:, number]
        for kernel in near:
            index = np.flatnonzero(kernel)
            yield index, kernel[index]


def beran(
    X: Floats, y: Floats, censored: np.ndarray, rows: Rows, weights: Floats, bandwidth: float | None
) -> Floats:
    """Share of latent values at or below yᵢ among the neighbours of each given row i, shape (R, rows).

    F̂(yᵢ | xᵢ) = 1 − Π (1 − Bⱼ / Σ_{k: y_k ≥ yⱼ} B_k) over uncensored rows j with yⱼ ≤ yᵢ, where B are kernel
    weights times row weights (R, n).

    References
    ----------
    Beran (1981), Nonparametric regression with randomly censored survival data.
    """
    order = np.argsort(y, kind="stable")
    place = np.empty(len(y), np.intp)
    place[order] = np.arange(len(y))
    seen, weights = ~censored[order], weights[:, order]
    found = np.empty((len(weights), len(rows)))
    for number, (index, kernel) in enumerate(neighbours(X[order], place[rows], bandwidth)):
        mass = kernel * weights[:, index]
        at_risk = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
        passed = seen[index] & (index <= place[rows[number]])
        hazard = mass[:, passed] / at_risk[:, passed]
        with np.errstate(divide="ignore"):  # the last row at risk: everything lies below
            found[:, number] = -np.expm1(np.log1p(-np.minimum(hazard, 1.0)).sum(axis=1))
    return found
