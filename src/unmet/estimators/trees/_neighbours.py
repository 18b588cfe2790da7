"""Forest weights: how much each training row says about a new one, and local Kaplan–Meier estimates."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unmet.estimators.trees._arrays import Floats, Trees, join, take_trees
from unmet.estimators.trees._units import Units, narrowed, take_units, units_for_float32

# Share of the rows that grow a tree, drawn without replacement.
GROWN = 0.632
# Numbers in one dense block of weights.
_BLOCK = 2**22
# A level counts as reached if rounding alone stands in its way.
_ROUNDING = 1e-9
# Training rows whose neighbours say how far values spread beyond the last that was seen, and the least
# level that their uncensored neighbours must reach to be asked.
_ASKED, _LEAST_REACHED = 400, 0.1


@dataclass(frozen=True)
class Neighbours:
    """Training rows in the order of y (at equal y uncensored rows first), and the leaves they lie in."""

    trees: Trees
    y: Floats  # (n,), increasing
    censored: NDArray[np.bool_]  # (n,)
    share: Floats  # (n,): row weights
    leaves: NDArray[np.int32]  # (n, T)
    units: Units | None = None  # of columns that float32 would lose

    def leaves_of(self, X: Floats) -> NDArray[np.int32]:
        """Return the leaf of each row of X in each tree, shape (rows, T)."""
        return self.trees.leaves(narrowed(X, self.units))

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

        Beyond that level r, quantiles go on from the largest training value that has weight as those of a
        normal law would: y_last + spread (Φ⁻¹(θ) − Φ⁻¹(r)).
        """
        found, reached = np.empty((len(X), len(wanted))), np.empty(len(X))
        size = max(1, _BLOCK // len(self.y))
        for begin in range(0, len(X), size):
            rows = slice(begin, begin + size)
            weights = self.weights(self.leaves_of(X[rows]))
            levels = self.distribution(weights)
            reached[rows] = levels[:, -1]
            last = self.y[_last(weights)]
            for number, level in enumerate(wanted):
                hit = levels >= level - _ROUNDING
                known = hit[:, -1]
                found[rows, number] = np.where(known, self.y[np.argmax(hit, axis=1)], last)
                if not known.all():
                    beyond = ndtri(level) - ndtri(np.maximum(reached[rows][~known], _LEAST_REACHED))
                    found[rows, number][~known] += self.spread * np.maximum(beyond, 0.0)
        return found, reached

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the normal law by which quantiles go on beyond the last value.

        The median over training rows of (y_last − q(r/2)) / (Φ⁻¹(r) − Φ⁻¹(r/2)), where r is the level that
        their uncensored neighbours reach. One number for all rows: few neighbours say little of a tail.
        """
        asked = np.unique(np.linspace(0, len(self.y) - 1, _ASKED).astype(int))
        found: list[Floats] = []
        size = max(1, _BLOCK // len(self.y))
        for begin in range(0, len(asked), size):
            weights = self.weights(self.leaves[asked[begin : begin + size]])
            levels = self.distribution(weights)
            reached = np.minimum(levels[:, -1], 1 - _ROUNDING)
            known = reached >= _LEAST_REACHED  # Φ⁻¹ is infinite where no neighbour is uncensored
            weights, levels, reached = weights[known], levels[known], reached[known]
            half = self.y[np.argmax(levels >= reached[:, None] / 2, axis=1)]
            found.append((self.y[_last(weights)] - half) / (ndtri(reached) - ndtri(reached / 2)))
        ratios = np.concatenate(found)
        return float(np.median(ratios)) if len(ratios) else float(np.std(self.y))

    def out_of_bag(
        self, grown: NDArray[np.bool_], rows: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Yield blocks of these training rows and F̂(· | x) at every training value, shape (block, n).

        Only trees that a row did not grow are used, all if there are none, and not the row itself.
        """
        size = max(1, _BLOCK // len(self.y))
        for begin in range(0, len(rows), size):
            part = rows[begin : begin + size]
            used = ~grown[part]
            used[~used.any(axis=1)] = True
            weights = self.weights(self.leaves[part], used)
            weights[np.arange(len(part)), part] = 0.0
            yield part, self.distribution(weights)

    def out_of_bag_levels(self, grown: NDArray[np.bool_]) -> Floats:
        """Return the out-of-bag F̂(yᵢ | xᵢ) of every training row."""
        blocks = self.out_of_bag(grown, np.arange(len(self.y)))
        return np.concatenate([levels[np.arange(len(part)), part] for part, levels in blocks])


def _last(weights: Floats) -> NDArray[np.intp]:
    """Return the last training row that has weight, shape (rows,)."""
    return weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)


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
    units = units_for_float32(X)
    narrow = narrowed(X, units)
    rows = len(y)
    drawn = max(1, ceil(GROWN * rows))

    def one(number: int) -> tuple[Trees, NDArray[np.intp]]:
        random = np.random.default_rng([seed, number])
        used = np.sort(random.permutation(rows)[:drawn])
        tree = DecisionTreeRegressor(
            min_samples_leaf=min_samples_leaf,
            max_features=max(1, ceil(max_features * X.shape[1] - 1e-9)),
            random_state=int(random.integers(2**31)),
        )
        tree.fit(narrow[used].astype(np.float32), rank[used], sample_weight=share[used])
        return _plain(tree.tree_), used

    with ThreadPoolExecutor(jobs) as threads:
        grown = list(threads.map(one, range(n_estimators)))
    trees = join([tree for tree, _ in grown])
    member = np.zeros((rows, n_estimators), bool)
    for number, (_, used) in enumerate(grown):
        member[used, number] = True
    return Neighbours(trees, y, censored, share, trees.leaves(narrow), units), order, member


def _ranks(y: Floats, censored: NDArray[np.bool_], share: Floats) -> Floats:
    """Return the expected level of each latent value under the Kaplan–Meier estimate of sorted rows."""
    survival = survival_of_all(censored, share)
    return np.where(censored, 1 - survival / 2, 1 - survival)


def survival_of_all(censored: NDArray[np.bool_], share: Floats) -> Floats:
    """Return the weighted Kaplan–Meier estimate of P(latent > y) at rows in the order of y."""
    at_risk = np.cumsum(share[::-1])[::-1]
    return np.cumprod(1 - np.where(censored, 0.0, np.minimum(share / at_risk, 1.0)))


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
    trees, units = take_trees(arrays, columns), take_units(arrays, columns)
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
    return Neighbours(trees, y, censored, share, leaves, units)
