"""Which columns move the scale: a test on the residuals of a quick Tobit fit before training."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]
# Rows enough to see any scale worth fitting. Rows come in random order.
_MOST_ROWS = 4096
# With so many rows per column the ridge alone keeps the scale network in check.
PLENTY = 1000
_ROUNDS = 12
_FARTHEST = 3.0  # of a residual, in standard deviations


def scale_columns(
    columns: Floats, y: Floats, censored: NDArray[np.bool_], weight: Floats
) -> NDArray[np.bool_]:
    """Return the columns with which the size of right-censored residuals changes, in a line or a parabola.

    A network that need not look at a column cannot learn noise from it. The test is that of Koenker (1981)
    and Glejser (1969): n times the squared correlation of |residual| with a column, or with its square.

    Parameters
    ----------
    columns : standardised, shape (columns, rows).
    y, censored, weight : shape (rows,); a censored y is a lower bound.
    """
    count, rows = columns.shape
    if rows >= PLENTY * count:
        return np.ones(count, bool)
    columns, y, weight = columns[:, :_MOST_ROWS], y[:_MOST_ROWS], weight[:_MOST_ROWS]
    hidden = censored[:_MOST_ROWS]
    size = _residual_sizes(columns, y, hidden, weight / weight.sum())
    needed = 5 + 2 * np.log(count)
    strength = [_correlation(size, values, weight) for values in (columns, np.square(columns))]
    return np.maximum(*strength) ** 2 * len(y) > needed


def _residual_sizes(columns: Floats, y: Floats, hidden: NDArray[np.bool_], weight: Floats) -> Floats:
    """Return |residual| of a normal line fitted by the EM algorithm, expected ones for hidden rows.

    Sums go through einsum: the bits of a matrix product depend on the number of threads.
    """
    count, rows = columns.shape
    design = np.concatenate([np.ones((1, rows)), columns])
    weighted = design * weight
    gram = np.einsum("ir,jr->ij", weighted, design) + (0.5 * count / rows) * np.eye(count + 1)
    project = np.linalg.solve(gram, weighted)
    filled, extra, scale = y, np.zeros(rows), 1.0
    for _ in range(_ROUNDS):
        middle = np.einsum("ir,i->r", design, np.einsum("ir,r->i", project, filled))
        scale = max(float(np.sqrt(np.sum(weight * (np.square(filled - middle) + extra)))), 1e-9)
        bound = (y - middle) / scale
        beyond = _density_ratio(bound)
        filled = np.where(hidden, middle + scale * beyond, y)
        extra = np.where(hidden, np.square(scale) * np.maximum(1 + bound * beyond - np.square(beyond), 0), 0)
    seen = np.minimum(np.abs(bound), _FARTHEST)
    # E[|e| | e > b]: below zero the part from b to zero is added with its sign turned.
    low = (np.sqrt(2 / np.pi) - _density(bound)) / np.exp(log_ndtr(-np.minimum(bound, 0)))
    return np.where(hidden, np.where(bound > 0, np.minimum(beyond, _FARTHEST), low), seen)


def _density(z: Floats) -> Floats:
    return np.exp(-0.5 * np.square(z)) / np.sqrt(2 * np.pi)


def _density_ratio(z: Floats) -> Floats:
    """Return φ(z) / (1 − Φ(z))."""
    return np.exp(-0.5 * np.square(z) - 0.5 * np.log(2 * np.pi) - log_ndtr(-z))


def _correlation(one: Floats, others: Floats, weight: Floats) -> Floats:
    """Return the correlation of one vector with each row of others; 0 where there is none."""
    weight = weight / weight.sum()
    one = one - np.sum(weight * one)
    others = others - np.einsum("ir,r->i", others, weight)[:, None]
    together = np.einsum("ir,r->i", others, weight * one)
    spread = np.sqrt(np.einsum("ir,r->i", np.square(others), weight) * np.sum(weight * np.square(one)))
    return np.divide(together, spread, out=np.zeros(len(others)), where=spread > 1e-12)
