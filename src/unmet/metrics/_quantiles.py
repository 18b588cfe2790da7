"""Measures of several quantiles at once: tilted loss and crossings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet import losses
from unmet.metrics._arrays import Floats, Reduction, choose, numbers, reduced


def tilted_loss(
    y: ArrayLike,
    quantile_values: ArrayLike,
    thetas: ArrayLike,
    reduce: Reduction = "mean",
    *,
    rows: Any = None,
) -> float:
    """Return the mean or sum of the tilted loss ρ_θ(y − q) over all rows and levels.

    Parameters
    ----------
    y
        Shape (n,).
    quantile_values
        Shape (n, K) in the order of thetas, or (n,) for a single level.
    thetas
        The K levels, inside (0, 1).
    reduce
        "mean" over rows and levels, or "sum" (the paper's Table III).
    rows
        Boolean mask of the rows to measure; all by default.

    Examples
    --------
    >>> tilted_loss([3.0, 1.0], [[1.0, 3.0], [1.0, 3.0]], [0.25, 0.75], reduce="sum")
    1.0
    """
    values, levels = numbers(y, "y"), np.atleast_1d(numbers(thetas, "thetas"))
    curves = numbers(quantile_values, "quantile_values")
    curves = curves[:, None] if curves.ndim == 1 else curves
    if values.ndim != 1 or levels.ndim != 1 or curves.shape != (values.size, levels.size):
        raise ValueError(
            "y must have shape (n,), thetas (K,) and quantile_values (n, K), "
            f"got {values.shape}, {levels.shape} and {curves.shape}"
        )
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError("thetas must lie inside (0, 1)")
    values, curves = choose(rows, values, curves)
    return reduced(losses.tilted_loss(values[:, None], curves, levels), reduce)


def crossings(Q: ArrayLike, strict: bool = False, *, rows: Any = None) -> float:
    """Count neighbouring levels in the wrong order: Σᵢ Σₖ [qᵢₖ ≥ qᵢ,ₖ₊₁], ties included as in the paper.

    `strict=True` does not count ties: [qᵢₖ > qᵢ,ₖ₊₁]. Q has shape (n, K), levels increasing.

    Examples
    --------
    >>> Q = [[1.0, 1.0, 0.5], [1.0, 2.0, 3.0]]
    >>> crossings(Q), crossings(Q, strict=True)
    (2.0, 1.0)
    """
    steps = _steps(Q, rows)
    return float((steps < 0).sum() if strict else (steps <= 0).sum())


def crossing_loss(Q: ArrayLike, reduce: Reduction = "sum", *, rows: Any = None) -> float:
    """Return by how much neighbouring levels cross: Σᵢ Σₖ max(0, qᵢₖ − qᵢ,ₖ₊₁).

    The sum is the paper's formula; `reduce="mean"` divides by the n (K − 1) pairs.

    Examples
    --------
    >>> crossing_loss([[1.0, 1.0, 0.5], [1.0, 2.0, 3.0]])
    0.5
    """
    return reduced(np.maximum(0.0, -_steps(Q, rows)), reduce)


def _steps(Q: ArrayLike, rows: Any) -> Floats:
    """Return the differences of neighbouring levels, shape (n, K − 1)."""
    curves = numbers(Q, "Q")
    if curves.ndim != 2 or curves.shape[1] < 2:
        raise ValueError(f"Q must have shape (n, K) with at least two levels, got {curves.shape}")
    (curves,) = choose(rows, curves)
    return np.diff(curves, axis=1)
