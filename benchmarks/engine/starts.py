"""Starting weights for the rivals, so that all of them begin from the same kind of network."""

from __future__ import annotations

import numpy as np


def draw(shape: tuple[int, ...], seed: list[int], initialiser: str) -> np.ndarray:
    """One parameter: N(0, 1) or Glorot-uniform for a weight matrix, zero for a bias.

    Examples
    --------
    >>> draw((3,), [0, 1], "normal")
    array([0., 0., 0.], dtype=float32)
    """
    if len(shape) == 1:
        return np.zeros(shape, dtype=np.float32)
    rng = np.random.default_rng(seed)
    if initialiser == "normal":
        return rng.standard_normal(shape, dtype=np.float32)
    limit = np.sqrt(6 / sum(shape))
    return rng.uniform(-limit, limit, size=shape).astype(np.float32)
