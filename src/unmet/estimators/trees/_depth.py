"""How deep a forest grows: the fewest rows in a leaf, chosen on rows that its trees did not see."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import StayingUncensored
from unmet.estimators.trees._arrays import Floats
from unmet.estimators.trees._neighbours import GROWN, Neighbours, grow, survival_of_all

# The smallest leaf that is tried, the largest, and how many of the latter a tree must be able to hold.
_FIRST, _LARGEST, _LEAST_LEAVES = 8, 512, 3
# Trees of a trial forest, the rows that judge it, and the values at which they do.
_TREES, _JUDGES, _POINTS = 15, 400, 100
# Values that fewer rows than this share could show are not judged.
_LEAST_CHANCE = 0.1


def fewest_rows(
    X: Floats, y: Floats, censored: NDArray[np.bool_], share: Floats, *, n_estimators: int, **how: Any
) -> int:
    """Return the fewest rows in a leaf with the least out-of-bag score; all rows where no split helps.

    Leaves of 8, 32, 128 and 512 rows are tried with small forests, and no split; then half and twice the
    best. `how` goes to `grow`.
    """

    @cache
    def score(size: int) -> float:
        trees = min(n_estimators, _TREES)
        forest, _, grown = grow(X, y, censored, share, n_estimators=trees, min_samples_leaf=size, **how)
        return out_of_bag_score(forest, grown)

    sizes = [_FIRST]
    while 2 * sizes[-1] <= min(_LARGEST, GROWN * len(y) / _LEAST_LEAVES):
        sizes.append(2 * sizes[-1])
    best = min([*sizes[::2], len(y)], key=score)
    if best not in sizes:
        return best
    place = sizes.index(best)
    return min([best, *sizes[max(place - 1, 0) : place + 2]], key=score)


def out_of_bag_score(forest: Neighbours, grown: NDArray[np.bool_]) -> float:
    """Return the Brier score of some training rows, integrated over the marginal law; lower is better.

    The mean of ∫ [F̂(t)² 1{y > t}/Ĝ(t) + (1 − F̂(t))² 1{y ≤ t} δ/Ĝ(y−)] dF(t), where F̂ is a row's distribution
    from trees that it did not grow, F and Ĝ are Kaplan–Meier estimates of all values and of the censoring,
    and δ is 1 in uncensored rows (Graf and others, 1999). Censored rows count up to where they are cut off.
    Beyond the last value that a tenth of the rows could show, nothing is judged. No unit of y enters.
    """
    y, censored, share = forest.y, forest.censored, forest.share
    staying = StayingUncensored(y, censored, share)
    chance = np.maximum(staying.before(y), _LEAST_CHANCE)
    last = np.flatnonzero(chance > _LEAST_CHANCE)[-1]
    asked = np.unique(np.linspace(0, last, _POINTS).astype(int))
    points = np.unique(np.searchsorted(y, y[asked], side="right") - 1)
    width = -np.diff(survival_of_all(censored, share)[points], prepend=1.0)
    after = np.maximum(staying.at(y[points]), _LEAST_CHANCE)
    judges = np.unique(np.linspace(0, len(y) - 1, _JUDGES).astype(int))
    total = weight = 0.0
    for rows, levels in forest.out_of_bag(grown, judges):
        seen = grown[rows].all(axis=1)  # every tree saw them: no judges
        level, own = levels[:, points], y[rows, None]
        happened = np.where(censored[rows, None], 0.0, np.square(1 - level) / chance[rows, None])
        each = np.where(own > y[points], np.square(level) / after, happened) @ width
        total += float(share[rows][~seen] @ each[~seen])
        weight += float(share[rows][~seen].sum())
    return total / weight if weight else 0.0
