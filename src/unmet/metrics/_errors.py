"""Errors of estimates against a known truth, for example estimated against true quantiles."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.metrics._arrays import Floats, choose, numbers, same_shape


def mae(estimate: ArrayLike, truth: ArrayLike, *, rows: Any = None) -> float:
    """Return the mean absolute error, the mean of |estimate − truth|.

    Examples
    --------
    >>> mae([1.0, 4.0], [1.0, 2.0])
    1.0
    """
    estimated, true = _pair(estimate, truth, rows)
    return float(np.abs(estimated - true).mean())


def rmse(estimate: ArrayLike, truth: ArrayLike, *, rows: Any = None) -> float:
    """Return the root mean squared error, √ of the mean of (estimate − truth)².

    Examples
    --------
    >>> rmse([1.0, 4.0], [1.0, 2.0]) == 2**0.5
    True
    """
    estimated, true = _pair(estimate, truth, rows)
    return float(np.sqrt(np.square(estimated - true).mean()))


def r2(estimate: ArrayLike, truth: ArrayLike, *, rows: Any = None) -> float:
    """Return the share of variance explained, 1 − Σ (truth − estimate)² / Σ (truth − mean truth)².

    Compare with latent values or true quantiles: on capped values it prefers models that ignore the cap.

    Examples
    --------
    >>> r2([0.0, 2.0], [0.0, 4.0])
    0.5
    """
    estimated, true = _pair(estimate, truth, rows)
    spread = np.square(true - true.mean()).sum()
    if spread == 0:
        raise ValueError("truth is constant: R² is undefined")
    return float(1 - np.square(true - estimated).sum() / spread)


def _pair(estimate: ArrayLike, truth: ArrayLike, rows: Any) -> list[Floats]:
    estimated, true = numbers(estimate, "estimate"), numbers(truth, "truth")
    same_shape(estimate=estimated, truth=true)
    return choose(rows, estimated, true)
