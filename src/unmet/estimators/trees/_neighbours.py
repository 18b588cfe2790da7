"""Forest weights: how much each training row says about a new one, and local Kaplan–Meier estimates."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.trees._arrays import Floats, Trees, join, take_trees

# Share of the rows that grow a tree, drawn without replacement.
_GROWN = 0.632
# Numbers in one dense block of weights.
_BLOCK = 2**22
# A level counts as reached if rounding alone stands in its way.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Neighbours:
    """Training rows in the order of y (at equal y uncensored rows first), and the leaves they lie in."""

    trees: Trees
    y: Floats  # (n,), increasing
    censored: NDArray[np.bool_]  # (n,)
    share: Floats  # (n,): row weights
    leaves: NDArray[np.int32]  # (n, T)

    def weights(self, leaves: NDArray[np.int32], used: NDArray[np.bool_] | None = None) -> Floats:
        """Return the weights of all training rows for rows in these leaves, shape (rows, n).

        wᵢ(x) is the mean over trees of shareᵢ 1{i in the leaf of x} / (share of that leaf). `used` leaves
        out trees, shape (rows, T).
        """
        from scipy import sparse

        rows, count = self.leaves.shape
        size = len(self.trees.feature)
        there = np.ones(leaves.shape) if used is None else used.astype(np.float64)
        mass = np.bincount(self.leaves.ravel(), np.repeat(self.share, count), minlength=size)
        inside = sparse.csr_matrix(
            (
                np.repeat(self.share, count) / mass[self.leaves.ravel()],
                (self.leaves.ravel(), np.repeat(np.arange(rows), count)),
            ),
            shape=(size, rows),
        )
        begin = np.arange(0, leaves.size + 1, count)
        asked = sparse.csr_matrix((there.ravel(), leaves.ravel(), begin), shape=(len(leaves), size))
        return np.asarray((asked @ inside).toarray()) / np.maximum(there.sum(axis=1, keepdims=True), 1.0)

    def distribution(self, weights: Floats) -> Floats:
        """Return F̂(yᵢ | x) at every training value, shape (rows, n).

        With w the forest weights, 1 − F̂ = Π (1 − wᵢ / Σ_{k ≥ i} w_k) over uncensored rows: the solution of Li
        and Bradic's equation (1 − F̂(q)) Ĝ(q | x) = Σ wᵢ 1{yᵢ > q} with Ĝ the weighted Kaplan–Meier estimate
        of the censoring.
        """
        at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
        seen = ~self.censored & (weights > 0)
        hazard = np.where(seen, weights / np.where(at_risk > 0, at_risk, 1.0), 0.0)
        hazard[hazard > 1 - _ROUNDING] = 1.0
        with np.errstate(divide="ignore"):
            return -np.expm1(np.cumsum(np.log1p(-hazard), axis=1))

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> tuple[Floats, Floats]:
        """Return quantiles (rows, K), and for each row the level that its censored rows leave identified.

        A quantile beyond that level is the largest training value that has weight: a lower bound.
        """
        found, reached = np.empty((len(X), len(wanted))), np.empty(len(X))
        size = max(1, _BLOCK // len(self.y))
        for begin in range(0, len(X), size):
            rows = slice(begin, begin + size)
            weights = self.weights(self.trees.leaves(X[rows]))
            levels = self.distribution(weights)
            reached[rows] = levels[:, -1]
            last = len(self.y) - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
            for number, level in enumerate(wanted):
                hit = levels >= level - _ROUNDING
                place = np.where(hit.any(axis=1), np.argmax(hit, axis=1), last)
                found[rows, number] = self.y[place]
        return found, reached

    def out_of_bag(self, grown: NDArray[np.bool_]) -> Floats:
        """Return F̂(yᵢ | xᵢ) of every training row from trees that it did not grow, and without itself."""
        rows = len(self.y)
        found = np.empty(rows)
        size = max(1, _BLOCK // rows)
        for begin in range(0, rows, size):
            part = np.arange(begin, min(begin + size, rows))
            used = ~grown[part]
            used[~used.any(axis=1)] = True
            weights = self.weights(self.leaves[part], used)
            weights[np.arange(len(part)), part] = 0.0
            levels = self.distribution(weights)
            found[part] = levels[np.arange(len(part)), part]
        return found


def grow(
    X: Floats,
    y: Floats,
    censored: NDArray[np.bool_],
    share: Floats,
    *,
    n_estimators: int,
    min_samples_leaf: int,
    max_features: float,
    seed: int,
    jobs: int = 1,
) -> tuple[Neighbours, NDArray[np.intp], NDArray[np.bool_]]:
    """Grow a forest. Return it, the order of its rows, and which rows grew which tree (n, T).

    Trees split by least squares on the expected rank of the latent value: its level under a Kaplan–Meier
    estimate F of all rows, which is F(y) for an uncensored row and (1 + F(y)) / 2 for a censored one.
    """
    from sklearn.tree import DecisionTreeRegressor

    order = np.lexsort((censored, y))
    X, y, censored, share = X[order], y[order], censored[order], share[order]
    rank = _ranks(y, censored, share)
    narrow = X.astype(np.float32)
    rows = len(y)
    drawn = max(1, ceil(_GROWN * rows))

    def one(number: int) -> tuple[Trees, NDArray[np.intp]]:
        random = np.random.default_rng([seed, number])
        used = np.sort(random.permutation(rows)[:drawn])
        tree = DecisionTreeRegressor(
            min_samples_leaf=min_samples_leaf,
            max_features=max(1, ceil(max_features * X.shape[1] - 1e-9)),
            random_state=int(random.integers(2**31)),
        )
        tree.fit(narrow[used], rank[used], sample_weight=share[used])
        return _plain(tree.tree_), used

    with ThreadPoolExecutor(jobs) as threads:
        grown = list(threads.map(one, range(n_estimators)))
    trees = join([tree for tree, _ in grown])
    member = np.zeros((rows, n_estimators), bool)
    for number, (_, used) in enumerate(grown):
        member[used, number] = True
    leaves = trees.leaves(narrow.astype(np.float64))
    return Neighbours(trees, y, censored, share, leaves), order, member


def _ranks(y: Floats, censored: NDArray[np.bool_], share: Floats) -> Floats:
    """Return the expected level of each latent value under the Kaplan–Meier estimate of sorted rows."""
    at_risk = np.cumsum(share[::-1])[::-1]
    survival = np.cumprod(1 - np.where(censored, 0.0, np.minimum(share / at_risk, 1.0)))
    return np.where(censored, 1 - survival / 2, 1 - survival)


def _plain(tree: Any) -> Trees:
    inner = tree.children_left >= 0
    return Trees(
        np.where(inner, tree.feature, -1).astype(np.int32),
        np.where(inner, tree.threshold, 0.0),
        np.where(inner, tree.children_left, 0).astype(np.int32),
        np.where(inner, tree.children_right, 0).astype(np.int32),
        np.zeros(len(inner)),
        np.zeros(1, np.int32),
    )


def take_neighbours(arrays: dict[str, np.ndarray], columns: int) -> Neighbours:
    """Return a checked forest from loaded arrays, and remove these. Raise ValueError if they are none."""
    trees = take_trees(arrays, columns)
    y, censored, share, leaves = (arrays.pop(name) for name in ("y", "censored", "share", "leaves"))
    sound = (
        y.ndim == 1
        and len(y) > 0
        and y.dtype == share.dtype == np.float64
        and censored.dtype == bool
        and y.shape == censored.shape == share.shape
        and leaves.dtype == np.int32
        and leaves.shape == (len(y), len(trees.roots))
    )
    if not sound or (np.diff(y) < 0).any() or (share <= 0).any():
        raise ValueError("the training rows do not fit the trees")
    if leaves.min() < 0 or leaves.max() >= len(trees.feature) or (trees.feature[leaves] >= 0).any():
        raise ValueError("the training rows lie in leaves that do not exist")
    return Neighbours(trees, y, censored, share, leaves)
