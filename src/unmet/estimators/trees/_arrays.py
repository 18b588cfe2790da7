"""Decision trees as arrays: one walk for fitted and loaded models, and no code in their files."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """All trees of a model, node after node. Children come after their parents."""

    feature: Nodes  # (N,): the column that a node asks about; −1 in a leaf
    threshold: Floats  # (N,): a row goes left if its value is at most this
    left: Nodes  # (N,)
    right: Nodes  # (N,)
    value: Floats  # (N,)
    roots: Nodes  # (T,)

    def leaves(self, X: Floats) -> Nodes:
        """Return the leaf that each row reaches in each tree, shape (rows, T)."""
        node = np.tile(self.roots, (len(X), 1))
        row = np.arange(len(X))[:, None]
        while True:
            feature = self.feature[node]
            if (feature < 0).all():
                return node
            low = X[row, np.maximum(feature, 0)] <= self.threshold[node]
            node = np.where(feature < 0, node, np.where(low, self.left[node], self.right[node]))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to save."""
        return {f"trees.{name}": getattr(self, name) for name in self.__dataclass_fields__}


def join(parts: list[Trees]) -> Trees:
    """Return the trees of several parts as one."""
    starts = np.cumsum([0, *(len(part.feature) for part in parts[:-1])])

    def shifted(name: str) -> Nodes:
        return np.concatenate([getattr(p, name) + s for p, s in zip(parts, starts)]).astype(np.int32)

    return Trees(
        np.concatenate([part.feature for part in parts]).astype(np.int32),
        np.concatenate([part.threshold for part in parts]),
        shifted("left"),
        shifted("right"),
        np.concatenate([part.value for part in parts]),
        shifted("roots"),
    )


def take_trees(arrays: dict[str, np.ndarray], columns: int) -> Trees:
    """Return checked trees from loaded arrays, and remove these. Raise ValueError if they are no trees."""
    kinds = {"threshold": np.float64, "value": np.float64}
    found = {name: arrays.pop(f"trees.{name}") for name in Trees.__dataclass_fields__}
    for name, array in found.items():
        if array.ndim != 1 or array.dtype != kinds.get(name, np.int32):
            raise ValueError(f"trees.{name} has the wrong shape or type")
    trees = Trees(**found)
    size = len(trees.feature)
    if any(len(found[name]) != size for name in ("threshold", "left", "right", "value")) or not size:
        raise ValueError("the arrays of the trees differ in length")
    inner = np.flatnonzero(trees.feature >= 0)
    sound = trees.feature.max(initial=-1) < columns and trees.feature.min() >= -1
    for child in (trees.left[inner], trees.right[inner]):
        sound = sound and bool((child > inner).all() and (child < size).all())  # so that every walk ends
    if not sound or not len(trees.roots) or trees.roots.min() < 0 or trees.roots.max() >= size:
        raise ValueError("the arrays do not describe trees")
    return trees
