"""Correct levels: map levels of the corrected distribution to those of the base, and back.

The base is the negative binomial. The network corrects it with quantile curves of normal scores.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
# Levels that the network fits. Beyond the outermost, curves continue straight in normal scores.
KNOTS = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98)
_SCORES = special.ndtri(np.array(KNOTS))
SMALLEST = 1e-7
_LEAST_SLOPE = 0.05


def score(level: Floats) -> Floats:
    """Return the normal score of a level, kept finite."""
    return special.ndtri(np.clip(level, SMALLEST, 1 - SMALLEST))


def raw_level(curves: Floats, level: Floats) -> Floats:
    """Return the level of the base where the corrected distribution reaches `level`.

    Shape (n, K) from curves (n, 9) and levels (n, K). Levels that are not finite (not identified) stay so.
    """
    finite = np.isfinite(level)
    wanted = score(np.where(finite, level, 0.5))
    steps = np.maximum(np.diff(curves, axis=1) / np.diff(_SCORES), _LEAST_SLOPE)
    found = curves[:, :1] + steps[:, :1] * np.minimum(wanted - _SCORES[0], 0.0)
    last = len(_SCORES) - 2
    for k, (low, high) in enumerate(pairwise(_SCORES)):
        width = np.maximum(wanted - low, 0.0) if k == last else np.clip(wanted - low, 0.0, high - low)
        found = found + steps[:, k : k + 1] * width
    return np.where(finite, special.ndtr(found), np.inf)


def raw_levels_by_band(curves: Floats, band: NDArray[np.int64], table: Floats) -> Floats:
    """Return `raw_level` for the levels of each row's band: (n, K) from (n, 9), (n,), (bands, K)."""
    found = np.empty((len(curves), table.shape[1]))
    for number in np.unique(band):
        rows = np.flatnonzero(band == number)
        part = curves[rows]
        for k, level in enumerate(table[number]):
            if not np.isfinite(level):
                found[rows, k] = np.inf
                continue
            wanted = float(score(np.array(level)))
            left = int(np.clip(np.searchsorted(_SCORES, wanted) - 1, 0, len(_SCORES) - 2))
            share = (wanted - _SCORES[left]) / (_SCORES[left + 1] - _SCORES[left])
            step = np.maximum(part[:, left + 1] - part[:, left], _LEAST_SLOPE * np.diff(_SCORES)[left])
            found[rows, k] = special.ndtr(part[:, left] + share * step)
    return found


def corrected_level(curves: Floats, level: Floats) -> Floats:
    """Return the level of the corrected distribution where the base reaches `level`, all of shape (n,)."""
    given = score(level)
    steps = np.maximum(np.diff(curves, axis=1) / np.diff(_SCORES), _LEAST_SLOPE)
    widths = np.diff(_SCORES)
    start = curves[:, 0]
    found = _SCORES[0] + np.minimum(given - start, 0.0) / steps[:, 0]
    for k, width in enumerate(widths):
        share = np.maximum(given - start, 0.0) / steps[:, k]
        found = found + (share if k == len(widths) - 1 else np.minimum(share, width))
        start = start + steps[:, k] * width
    inside = (level > 0) & (level < 1)
    return np.where(inside, special.ndtr(found), level)
