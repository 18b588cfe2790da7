"""Gradient boosting of censored quantiles on LightGBM."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from unmet.censoring import Observed, Side, mirror_levels, quantiles_of_all
from unmet.estimators._base import CensoredRegressor
from unmet.estimators._checks import refuse_two_sided
from unmet.estimators._fitted import at_levels
from unmet.estimators._settings import check_choice, check_number, check_quantiles
from unmet.estimators._warn import warn_user
from unmet.estimators.trees._arrays import Floats, Trees, take_trees
from unmet.estimators.trees._forest import TWO_SIDED, rows_to_grow
from unmet.estimators.trees._lightgbm import boost, increasing, scores
from unmet.estimators.trees._neighbours import grow
from unmet.estimators.trees._units import Units, take_units, units_for_lightgbm

# Rows predicted at a time.
_BLOCK = 1024
# Trees of the forest that gives the levels of censored rows.
_FOREST = 100
# Squares of larger values overflow.
_LARGEST = 1e150


@dataclass(frozen=True)
class FittedBooster:
    """Boosted trees that predict increasing quantiles, of −y if the data are censored from below."""

    trees: Trees  # K trees per round, in the order of the levels
    start: Floats  # (K,): raw scores before the first round
    inner: tuple[float, ...]  # the levels that the trees predict
    center: float
    scale: float
    side: Side
    units: Units | None = None  # of columns that LightGBM would lose
    parametric = False

    @property
    def levels(self) -> tuple[float, ...]:
        return mirror_levels(self.inner) if self.side == "left" else self.inner

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> Floats:
        left = self.side == "left"
        asked = mirror_levels(wanted) if left else wanted
        X = X if self.units is None else self.units.of(X)
        outputs = len(self.start)
        found = np.empty((len(X), len(asked)))
        for begin in range(0, len(X), _BLOCK):
            leaves = self.trees.leaves(X[begin : begin + _BLOCK])
            raw = self.trees.value[leaves].reshape(len(leaves), -1, outputs).sum(axis=1)
            values = increasing(self.start + raw, self.inner)
            found[begin : begin + _BLOCK] = at_levels(values.T, self.inner, asked).T
        found = self.center + self.scale * found
        return -found[:, ::-1] if left else found


@dataclass(kw_only=True, eq=False, repr=False)
class CensoredQuantileBooster(CensoredRegressor):
    """Quantiles of a latent target that is observed only up to a cap, by gradient boosting on LightGBM.

    One model predicts all quantiles: the one nearest the median, and positive steps up and down from it, so
    that none can cross. With `threshold=` the trees follow the gradient of ρ_θ(y − min(cap, q)), Powell's
    loss, and with `side="both"` that of ρ_θ(y − min(cap, max(floor, q))). With `censored=` alone a censored
    row keeps Portnoy's weight w = (θ − F̂)/(1 − F̂) at its value and has the rest at infinity, where F̂(y |
    x) is the out-of-bag estimate of a `CensoredQuantileForest`.

    Columns of a data frame that hold texts or categories are split into groups of categories by LightGBM.
    Where no column allows a split, quantiles are those of a Kaplan–Meier estimate of all rows, or Turnbull's.

    Assumes that where a row is cut off is independent of its latent value given X. Needs the extra
    `boosting` (`pip install "unmet[boosting]"`) to fit; saved models predict without it.

    Cost: about 2 n_estimators trees per quantile, each of n steps per column: about a second for 1,000 rows
    and three quantiles; flags add a forest of 100 trees.

    Parameters
    ----------
    quantiles : sequence of float
        Levels to predict: increasing, each between 0 and 1. Levels in between are interpolated.
    side : {"right", "left", "both"}
        Whether large or small values are cut off, or both, at a known floor and cap. Rows told by flags or
        bounds are all open on the same side.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.
    n_estimators : int
        Most rounds of boosting.
    learning_rate : float
        Rate to begin with. If held-out rows ask for nearly all rounds, four times this rate is tried, up to
        0.5, and kept if their loss is lower.
    num_leaves : int
        Most leaves of a tree.
    min_child_samples : int
        Fewest rows in a leaf.
    l2 : float
        Penalty on the values of leaves.
    column_share : float
        Share of the columns that each tree sees.
    validation_fraction : float or None
        Share of the rows that first decide after how many rounds to stop, by the same censored loss; then all
        rows train for that many. None: run all `n_estimators` rounds at `learning_rate`.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_iter_ : int
        Rounds of boosting.

    References
    ----------
    Ke and others (2017), LightGBM: a highly efficient gradient boosting decision tree, NeurIPS. Powell
    (1986), J. Econometrics 32. Portnoy (2003), J. Am. Stat. Assoc. 98. Wang & Wang (2009), J. Am. Stat.
    Assoc. 104.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import CensoredQuantileBooster
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=300)
    >>> latent, limit = np.sin(6 * x) + 0.3 * random.normal(size=300), 0.8 + random.exponential(size=300)
    >>> model = CensoredQuantileBooster(n_estimators=20, random_state=0)
    >>> model.fit(x[:, None], np.minimum(latent, limit), threshold=limit).predict(x[:, None]).shape
    (300,)
    """

    _encoding = "codes"  # LightGBM splits categories into two groups

    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    n_estimators: int = 300
    learning_rate: float = 0.05
    num_leaves: int = 6
    min_child_samples: int = 20
    l2: float = 5.0
    column_share: float = 1.0
    validation_fraction: float | None = 0.2
    random_state: Any = None

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        if not observed.known:
            refuse_two_sided(observed, f"{type(self).__name__} without a known floor and cap", TWO_SIDED)
        if np.abs(observed.observed).max() > _LARGEST:
            raise ValueError(f"y has values beyond {_LARGEST:g}: use larger units")
        table, seen, share = rows_to_grow(X, observed, weight)
        levels = check_quantiles(self.quantiles)
        inner = mirror_levels(levels) if observed.side == "left" else levels
        below = None
        if seen.kind == "flags":
            forest, order, grown = grow(
                table,
                seen.observed,
                seen.censored,
                share,
                n_estimators=_FOREST,
                min_samples_leaf=min(10, max(1, len(seen) // 5)),
                max_features=0.5,
                seed=seed,
            )
            below = np.ones(len(seen))
            below[order] = np.where(forest.censored, forest.out_of_bag_levels(grown), 1.0)
        known = getattr(self, "categories_", None)
        units = units_for_lightgbm(table, () if known is None else known.coded)
        table = table if units is None else units.of(table)
        found = boost(table, seen.observed, seen.limits, below, share, inner, self, seed)
        fitted = FittedBooster(*found, side=observed.side, units=units)
        if seen.censored.any() and (fitted.trees.feature < 0).all():
            fitted = _without_splits(fitted, seen, share)
        self.fitted_ = fitted
        self.n_iter_ = len(self.fitted_.trees.roots) // len(levels)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        fitted = self.fitted_
        arrays = {"start": fitted.start, "inner": np.asarray(fitted.inner), **fitted.trees.arrays()}
        if fitted.units is not None:
            arrays.update(fitted.units.arrays())
        return {"side": fitted.side, "center": fitted.center, "scale": fitted.scale}, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        check_choice("side", config["side"], get_args(Side))
        trees, columns = take_trees(arrays, config["columns"]), take_units(arrays, config["columns"])
        start, inner = arrays.pop("start"), arrays.pop("inner")
        sound = (
            inner.ndim == 1 and len(inner) > 0 and start.shape == inner.shape and (np.diff(inner) > 0).all()
        )
        if not sound or len(trees.roots) % len(inner):
            raise ValueError("the number of trees does not fit the levels")
        units = float(config["center"]), float(config["scale"])
        self.fitted_ = FittedBooster(trees, start, tuple(inner.tolist()), *units, config["side"], columns)
        self.n_iter_ = len(trees.roots) // len(inner)

    def _check_parameters(self) -> None:
        check_choice("side", self.side, get_args(Side))
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        check_number("learning_rate", self.learning_rate, 0, 1, open_=True)
        check_number("num_leaves", self.num_leaves, 2, whole=True)
        check_number("min_child_samples", self.min_child_samples, 1, whole=True)
        check_number("l2", self.l2, 0)
        check_number("column_share", self.column_share, 0, 1, open_=True)
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, 0, 0.9, open_=True)
        check_quantiles(self.quantiles)


def _without_splits(fitted: FittedBooster, seen: Observed, share: Floats) -> FittedBooster:
    """Return quantiles of all rows alike: trees without a split stay at the quantiles of y."""
    found, (least, most) = quantiles_of_all(seen, fitted.inner, share)
    if fitted.side == "left":
        least, most = 1 - most, 1 - least
    levels = fitted.levels
    hidden = [f"below {least:.3g}"] if levels[0] < least - 1e-9 else []
    ends = ["lowest"] if hidden else []
    if levels[-1] > most + 1e-9:
        hidden, ends = [*hidden, f"above {most:.3g}"], [*ends, "largest"]
    if hidden:
        warn_user(
            f"quantiles {' and '.join(hidden)} are not identified, because too many rows are censored: "
            f"they are the {' and the '.join(ends)} value of y"
        )
    start = scores((found - fitted.center) / (fitted.scale or 1.0), fitted.inner)
    trees = replace(fitted.trees, value=np.zeros_like(fitted.trees.value))
    return replace(fitted, trees=trees, start=start)
