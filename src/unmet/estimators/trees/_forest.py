"""Censored quantile regression forests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._base import CensoredRegressor
from unmet.estimators._checks import check_jobs, refuse_all_censored, refuse_two_sided
from unmet.estimators._choices import Auto
from unmet.estimators._rows import canonical_rows
from unmet.estimators._settings import check_choice, check_number, check_quantiles
from unmet.estimators._warn import warn_user
from unmet.estimators.trees._arrays import Floats
from unmet.estimators.trees._depth import fewest_rows
from unmet.estimators.trees._neighbours import Neighbours, grow, take_neighbours

# What to use for rows that are open on different sides.
TWO_SIDED = (
    "TobitRegressor or CensoredQuantileRegressor with lower= and upper= for intervals and for both sides"
)


@dataclass(frozen=True)
class FittedForest:
    """A forest that predicts any level, of −y if the data are censored from below."""

    neighbours: Neighbours
    levels: tuple[float, ...]
    side: Side
    parametric = True

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> Floats:
        left = self.side == "left"
        asked = mirror_levels(wanted) if left else wanted
        found, reached = self.neighbours.quantiles(X, asked)
        lost = [level for level in asked if (reached < level - 1e-9).any()]
        if lost:
            share = float((reached < lost[-1] - 1e-9).mean())
            first = f"{1 - lost[0] if left else lost[0]:g}"
            which = (
                f"at level {first}" if len(lost) == 1 else f"from level {first} {'down' if left else 'up'}"
            )
            middle = float((reached < 0.5 - 1e-9).mean()) if lost[-1] > 0.5 else 0.0
            median = f" (the median in {middle:.0%})" if middle > 0 else ""
            warn_user(
                f"quantiles {which} are not identified in {'' if len(lost) == 1 else 'up to '}{share:.0%} of "
                f"the rows{median}, because too many of their neighbours are censored: they follow a normal "
                f"law from the {'lowest' if left else 'largest'} of their values on"
            )
        return -found[:, ::-1] if left else found


@dataclass(kw_only=True, eq=False, repr=False)
class CensoredQuantileForest(CensoredRegressor):
    """Quantiles of a latent target that is observed only up to a cap, by a random forest.

    The quantile q at level θ solves (1 − θ) Ĝ(q | x) = Σ wᵢ(x) 1{yᵢ > q}, where w are forest weights and Ĝ is
    the weighted Kaplan–Meier estimate of the censoring: each prediction is a Kaplan–Meier estimate of its
    neighbours. Quantiles never cross. How many neighbours there are, the data decide.

    Assumes that where a row is cut off is independent of its latent value given X. Thresholds are not used
    beyond telling which rows are censored. Levels that the neighbours of a row leave unidentified go on from
    their largest value as those of a normal law, whose spread is the same for all rows: an assumption, and
    `predict_quantiles` warns. All other quantiles are observed values.

    Cost: n_estimators trees of n log n steps per column; a prediction sorts nothing but adds over all n
    training rows. 200 trees on 1,000 rows take about a second, and so do 1,000 predictions.

    Parameters
    ----------
    quantiles : sequence of float
        Levels that `predict_quantiles` returns by default. Any other level can be asked for.
    side : {"right", "left"}
        Whether large or small values are cut off. All censored rows are open on the same side.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.
    n_estimators : int
        Number of trees.
    min_samples_leaf : int or "auto"
        Fewest rows in a leaf, among those that grew the tree. "auto": 8 to 512, or no split at all, whichever
        has the least Brier score with inverse censoring weights on rows that small trial forests did not see.
        Where columns tell little, leaves are large and quantiles near those of a Kaplan–Meier estimate.
    max_features : float
        Share of the columns that each split may choose from.
    n_jobs : int
        Threads that grow trees; −1: one per core. The result does not depend on it.
    random_state : int, RandomState or None

    Attributes
    ----------
    fitted_ : FittedForest
        Trees and training rows.
    min_samples_leaf_ : int
        Fewest rows in a leaf, as fitted; the number of rows where "auto" found no split that helps.

    References
    ----------
    Li & Bradic (2020), Censored quantile regression forest, AISTATS. Meinshausen (2006), Quantile regression
    forests, J. Mach. Learn. Res. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import CensoredQuantileForest
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=300)
    >>> latent, limit = np.sin(6 * x) + 0.3 * random.normal(size=300), 0.8 + random.exponential(size=300)
    >>> model = CensoredQuantileForest(n_estimators=50, random_state=0)
    >>> model = model.fit(x[:, None], np.minimum(latent, limit), censored=latent > limit)
    >>> model.predict_quantiles([[0.2]], quantiles=(0.25, 0.5)).shape
    (1, 2)
    """

    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    n_estimators: int = 200
    min_samples_leaf: int | Auto = "auto"
    max_features: float = 1.0
    n_jobs: int = 1
    random_state: Any = None

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        refuse_two_sided(observed, type(self).__name__, TWO_SIDED)
        table, seen, share = rows_to_grow(X, observed, weight)
        rows = table, seen.observed, seen.censored, share
        how: Any = {"max_features": self.max_features, "seed": seed, "jobs": check_jobs(self.n_jobs)}
        leaf, count = self.min_samples_leaf, self.n_estimators
        if leaf == "auto":
            leaf = fewest_rows(*rows, n_estimators=count, **how)
            count = count if leaf < len(seen) else 1  # trees without a split are all alike
        neighbours, _, _ = grow(*rows, n_estimators=count, min_samples_leaf=leaf, **how)
        self.min_samples_leaf_ = int(leaf)
        self.fitted_ = FittedForest(neighbours, check_quantiles(self.quantiles), observed.side)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        rows = self.fitted_.neighbours
        arrays = {"y": rows.y, "censored": rows.censored, "share": rows.share, "leaves": rows.leaves}
        units = {} if rows.units is None else rows.units.arrays()
        config = {"side": self.fitted_.side, "leaf": self.min_samples_leaf_}
        return config, {**rows.trees.arrays(), **arrays, **units}

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        check_choice("side", config["side"], get_args(Side))
        neighbours = take_neighbours(arrays, config["columns"])
        check_number("leaf", config.get("leaf", self.min_samples_leaf), 1, whole=True)
        self.min_samples_leaf_ = int(config.get("leaf", self.min_samples_leaf))
        self.fitted_ = FittedForest(neighbours, check_quantiles(self.quantiles), config["side"])

    def _check_parameters(self) -> None:
        check_choice("side", self.side, get_args(Side))
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        if self.min_samples_leaf != "auto":
            check_number("min_samples_leaf", self.min_samples_leaf, 1, whole=True)
        check_number("max_features", self.max_features, 0, 1, open_=True)
        check_jobs(self.n_jobs)
        check_quantiles(self.quantiles)


def rows_to_grow(X: Floats, observed: Observed, weight: Floats | None) -> tuple[Floats, Observed, Floats]:
    """Return canonical rows and their weights, mirrored if they are all open below."""
    seen = observed.mirrored() if observed.side == "left" else observed
    floor, cap = seen.limits
    # Columns of zeros do not change the order: without floors it is that of caps.
    bounded = np.isfinite(floor)
    columns = [seen.observed, cap, seen.censored, np.where(bounded, floor, 0.0), bounded]
    index, share = canonical_rows(X, columns, weight)
    seen = seen.take(index)
    refuse_all_censored(seen)
    return X[index], seen, share * len(index)
