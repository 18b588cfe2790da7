"""Conformal bounds around any estimator of censored quantiles."""

from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unmet.censoring import Observed, mirror_levels
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._checks import refuse_two_sided
from unmet.estimators._files import construct, describe, from_plain, pack, rebuild, to_plain
from unmet.estimators._settings import check_choice, check_number, check_quantiles, check_switch
from unmet.estimators._warn import warn_user
from unmet.estimators.conformal._chance import find_chance
from unmet.estimators.conformal._ladder import GRID, STEPS, Bounds, common_levels, ladder_of
from unmet.estimators.conformal._misses import find_top, holding_levels, misses_above, misses_below
from unmet.estimators.conformal._parts import Part, find_unit, hold_out, join_chances, join_ladders

CensoringKind = Literal["forest", "kaplan-meier"]

# `predict_interval` warns if a larger share of the intervals is open at one end.
_MOST_OPEN = 0.75
_FRACTION = 0.5


@dataclass(eq=False, repr=False)
class Conformal(CensoredRegressor):
    """Bounds on a latent target that hold for new rows, around any estimator of censored quantiles.

    `fit` trains the estimator on one part of the rows and calibrates on the other, or does both with all
    rows in `folds`. `predict_lower` returns the lower bound L(x) with P(T ≥ L(x)) ≥ coverage: the highest of
    the estimator's quantiles (and of steps below its lowest) whose estimated share of misses stays below
    1 − coverage. Rows count by the inverse of their chance not to be cut off before a cut-off c(x): with
    cutoff="adaptive" the bound itself, otherwise one number, with which bounds are at most the cut-off.
    `predict_interval` has an upper end where enough rows could be seen beyond it, and +∞ elsewhere.
    `predict_quantiles`, `sample` and `complete` use the estimator's quantiles at the levels that held in the
    calibration rows. For side="left" all is mirrored: `predict_lower` raises, and the interval may have a
    lower end of −∞.

    Assumes that where a row is cut off is independent of its latent value given X, and a good estimate of the
    chance not to be cut off. With the true chance, coverage of the split holds up to 1/n; otherwise also if
    the estimator is good. With `threshold=` the cut-off of every row is used; with `censored=` only those
    that were met.

    The estimator learns from part of the rows only. Where it goes beyond the data, as upper quantiles do
    under heavy censoring, its `score` can be far below that of the same estimator fitted to all rows. With
    `folds` it learns from all rows, and all rows calibrate: those of each fold with a copy of the estimator,
    and a chance, that learnt from the other folds.

    What held for the copies then counts as holding for `estimator_`. That is so for an estimator that changes
    little if a fold is left out (Steinberger and Leeb). The split's guarantee is lost. CV+ (Barber et al.)
    and cross-conformal prediction (Vovk) keep about half of it without censoring, at most 2 (1 − coverage)
    misses, because they build each interval from all copies. Here one estimator answers, and for one that is
    not stable nothing is promised.

    Cost: one fit of the estimator to part of the rows, a forest of 100 trees for the chance, and about 100
    predictions for each calibration row. With `folds`: one fit more than folds, and a forest for each fold.

    Parameters
    ----------
    estimator : estimator of this package
        Its `quantiles` are replaced by a grid. None: `CensoredQuantileRegressor()`. With positive=True no
        bound is below zero.
    coverage : float
        Share of latent values at or above the lower bound, and inside the interval.
    cutoff : "adaptive" or float
    censoring : {"forest", "kaplan-meier"} or callable
        P(C ≥ c | x): by neighbours of a row in a forest, by all rows alike, or f(X, c) → array.
    calibration_fraction : float
        Share of the rows that calibrate. Not with `folds`.
    folds : int or None
        None: one part of the rows fits and the other calibrates. A number, such as 5: cross-fitting, in which
        every row does both.
    counts : bool
        y are counts: uniform numbers are added to fit and calibrate without ties, and bounds are rounded to
        whole numbers outwards.
    random_state : int, RandomState or None
        Splits the rows or deals them to folds, and draws the uniform numbers. The estimator keeps its own.

    Attributes
    ----------
    estimator_ : the fitted estimator
        With `folds`, that of all rows.
    bounds_ : Bounds
        The chosen rungs.

    References
    ----------
    Candès, Lei & Ren (2023), Conformalized survival analysis, J. R. Stat. Soc. B 85. Gui, Hore, Ren & Barber
    (2024), Conformalized survival analysis with adaptive cut-offs, Biometrika 111. Folds: Vovk (2015),
    Cross-conformal predictors, Ann. Math. Artif. Intell. 74. Barber, Candès, Ramdas & Tibshirani (2021),
    Predictive inference with the jackknife+, Ann. Stat. 49. Steinberger & Leeb (2023), Conditional predictive
    inference for stable algorithms, Ann. Stat. 51.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import Conformal, TobitRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(400, 1))
    >>> latent, limit = X[:, 0] + random.normal(size=400), 1 + random.normal(size=400)
    >>> model = Conformal(TobitRegressor(random_state=0), random_state=0)
    >>> model.fit(X, np.minimum(latent, limit), threshold=limit).predict_lower(X).shape
    (400,)
    """

    estimator: Any = None
    _: KW_ONLY
    coverage: float = 0.9
    cutoff: float | Literal["adaptive"] = "adaptive"
    censoring: Any = "forest"
    calibration_fraction: float = _FRACTION
    folds: int | None = None
    counts: bool = False
    random_state: Any = None

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator and calibrate its bounds, with rows that it did not see.

        Parameters
        ----------
        X, y, threshold, censored, lower, upper
            As in the estimator's `fit`. Rows must be open on the same side.
        sample_weight : array of shape (n,), optional
            How much each row counts in the fit and in the calibration: coverage then holds on average over
            new rows drawn with these weights. A row of weight 0 does not count at all, but a row of weight 2
            lies in one part or fold, where two equal rows may lie in two.
        """
        return super().fit(X, y, threshold, censored, sample_weight, lower=lower, upper=upper)

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        refuse_two_sided(observed, "Conformal", "TobitRegressor with lower= and upper=")
        share = np.ones(len(X)) if weight is None else weight / weight[weight > 0].mean()
        if weight is not None:
            X, observed, share = X[weight > 0], observed.take(weight > 0), share[weight > 0]
        least = 2 if self.folds is None else self.folds
        if len(X) < least:
            how = "one to fit and one to calibrate" if self.folds is None else "one for each of its folds"
            raise ValueError(
                f"Conformal needs at least {least} rows, {how}, got {len(X)} sample{'s' * (len(X) > 1)}"
            )
        random = np.random.default_rng(seed)
        held = hold_out(random.permutation(len(X)), self.calibration_fraction, self.folds)
        if self.counts:
            observed = _jittered(observed, random)
        left = observed.side == "left"
        parts = []
        for rows in held:
            rest = np.setdiff1d(np.arange(len(X)), rows)
            train, part = observed.take(rest), share[rest]
            estimator = self._learn(X[rest], train, None if weight is None else part)
            seen = train.mirrored() if left else train
            parts.append(Part(X[rows], estimator, find_chance(self.censoring, X[rest], seen, part, seed)))
        if self.folds is None:
            self.estimator_ = parts[0].estimator
        else:
            self.estimator_ = self._learn(X, observed, None if weight is None else share)
        every = np.concatenate(held)
        seen = observed.take(every)
        self._calibrate(parts, seen.mirrored() if left else seen, share[every], left)

    def _learn(self, X: Floats, observed: Observed, weight: Floats | None) -> Any:
        """Return a copy of the estimator, fitted to these rows."""
        told = {} if weight is None else {"sample_weight": weight}
        inner = self._inner().set_params(quantiles=GRID, side=observed.side)
        return inner.fit(X, **_as_given(observed), **told)

    def _calibrate(self, parts: list[Part], seen: Observed, share: Floats, left: bool) -> None:
        X, chance = np.concatenate([part.X for part in parts]), join_chances(parts)
        levels = common_levels([self.estimator_, *(part.estimator for part in parts)])
        unit = find_unit(parts, levels)
        ladder = join_ladders(parts, levels, unit)
        ladder = -ladder[:, ::-1] if left else ladder
        # The grid is its own mirror image.
        inner = holding_levels(
            ladder[:, STEPS:-STEPS], mirror_levels(levels) if left else levels, seen, share, GRID
        )
        inner = mirror_levels(inner) if left else inner
        cutoff = None if self.cutoff == "adaptive" else float(self.cutoff)
        if left and cutoff is not None:
            cutoff = -cutoff
        last = ladder.shape[1] - 1
        below = np.maximum.accumulate(misses_below(ladder, seen, X, share, chance, cutoff))
        spare = 1 - self.coverage
        lower = max(0, int(np.count_nonzero(below <= spare + 1e-12)) - 1)
        lower_end = max(0, int(np.count_nonzero(below <= spare / 2 + 1e-12)) - 1)
        top = find_top(ladder, seen, X, share, chance)
        above = misses_above(ladder, seen, X, share, chance, top)
        good = np.flatnonzero(above <= spare / 2 + 1e-12)
        upper_end = int(good[0]) if len(good) else None
        if upper_end is not None and upper_end <= lower_end:
            upper_end = min(lower_end + 1, last)
        if not seen.known and np.isfinite(top):  # flags tell nothing of lower bounds beyond it either
            cutoff = top if cutoff is None else min(cutoff, top)
        ends = (lower, lower_end, upper_end, cutoff, inner, top if np.isfinite(top) else None)
        self.bounds_ = Bounds(levels, unit, *ends)
        self.side_ = "left" if left else "right"

    def _ladder(self, X: Any) -> Floats:
        return ladder_of(self.estimator_, X, self.bounds_.levels, self.bounds_.unit)

    def _fitted(self) -> Any:
        check_is_fitted(self, "bounds_")
        return self.estimator_._fitted()

    def predict_lower(self, X: ArrayLike) -> Floats:
        """Return the lower bound of each row, shape (n,); latent values lie at or above it by `coverage`."""
        self._fitted()
        if self.side_ == "left":
            raise ValueError("predict_lower is for right censoring: use predict_interval for side='left'")
        rows = self._inputs(X)
        found = self._ladder(rows)[:, self.bounds_.lower]
        if self.bounds_.cutoff is not None:
            found = np.minimum(found, self.bounds_.cutoff)
        return np.floor(found) if self.counts else found

    def predict_interval(self, X: ArrayLike, coverage: float | None = None) -> Floats:
        """Return the ends of the two-sided interval, shape (n, 2); ±∞ for an end that censoring hides."""
        self._fitted()
        if coverage is not None and coverage != self.coverage:
            raise ValueError(f"coverage={self.coverage} was calibrated: set it in Conformal and fit again")
        ladder = self._ladder(self._inputs(X))
        ladder = -ladder[:, ::-1] if self.side_ == "left" else ladder
        low = ladder[:, self.bounds_.lower_end]
        if self.bounds_.cutoff is not None:
            low = np.minimum(low, self.bounds_.cutoff)
        end = self.bounds_.upper_end
        high = np.full(len(ladder), np.inf) if end is None else ladder[:, end]
        if self.bounds_.top is not None:
            high = np.where(high > self.bounds_.top, np.inf, high)
        if len(high) > 1 and (share := float(np.isinf(high).mean())) > _MOST_OPEN:
            bounds = "predict_lower, " if self.side_ == "right" else ""
            warn_user(
                f"{share:.0%} of the intervals are open at one end: too few rows could show whether an end "
                f"would hold there; use {bounds}a smaller coverage, or another estimator"
            )
        ends = np.column_stack([low, high]) if self.side_ == "right" else np.column_stack([-high, -low])
        ends = np.maximum(ends, 0.0) if self.positive else ends
        return np.column_stack([np.floor(ends[:, 0]), np.floor(ends[:, 1])]) if self.counts else ends

    def predict_quantiles(self, X: ArrayLike, quantiles: Any = None) -> Floats:
        """Return calibrated quantiles, shape (n, K): at each level those that held in the calibration rows.

        The quantiles at level θ are those of the inner estimator at the level u(θ) with F(u(θ)) = θ, where F
        is the Kaplan–Meier estimate of F̂(y | x) over the calibration rows, drawn to u as far as its distance
        from u may be noise (a test of Anderson and Darling). `estimator_` has them as they were fitted.
        Levels beyond those of the inner estimator, or of one of its copies for folds, take the last.
        """
        self._fitted()
        wanted = check_quantiles(self.quantiles if quantiles is None else quantiles)
        return self._quantiles(self._inputs(X), wanted)

    def _quantiles(self, X: Floats, levels: tuple[float, ...]) -> Floats:
        known, held = (0.0, *GRID, 1.0), (0.0, *self.bounds_.inner, 1.0)
        asked = np.clip(np.interp(levels, known, held), self.bounds_.levels[0], self.bounds_.levels[-1])
        distinct, place = np.unique(asked.round(12), return_inverse=True)
        return np.asarray(self.estimator_.predict_quantiles(X, tuple(distinct))[:, place])

    def _middle(self, X: ArrayLike) -> Floats:
        return self.predict_quantiles(X, (0.5,))[:, 0]

    @property
    def quantiles(self) -> tuple[float, ...]:  # type: ignore[override]
        """Levels that `predict_quantiles` and `score` use: those of the estimator as given."""
        return tuple(self._inner().quantiles)

    @property
    def side(self) -> Any:  # type: ignore[override]
        return self._inner().side

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "positive", False))

    def _inner(self) -> Any:
        """Return a copy of the estimator as given."""
        if self.estimator is None:
            from unmet.estimators._regressor import CensoredQuantileRegressor

            return CensoredQuantileRegressor(random_state=0)
        if not isinstance(self.estimator, CensoredRegressor) or isinstance(self.estimator, Conformal):
            raise ValueError(
                f"estimator must be an estimator of unmet such as TobitRegressor(), not {self.estimator!r}"
            )
        return clone(self.estimator)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        inner, arrays = pack(self.estimator_)
        given = None if self.estimator is None else describe(self.estimator)
        bounds = to_plain("", asdict(self.bounds_))
        return {"inner": inner, "given": given, "bounds": bounds, "side": self.side_}, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        check_choice("side", config["side"], ("right", "left"))
        if config["inner"]["estimator"] == "Conformal":
            raise ValueError("a conformal model cannot hold another")
        if config["given"] is not None:
            if config["given"]["estimator"] != config["inner"]["estimator"]:
                raise ValueError("the estimators differ")
            self.estimator = construct(config["given"])
        self.estimator_ = rebuild(config["inner"], arrays)
        self.bounds_ = Bounds(**{name: from_plain(value) for name, value in config["bounds"].items()})
        self.side_ = config["side"]
        rungs = (self.bounds_.lower, self.bounds_.lower_end, self.bounds_.upper_end or 0)
        if not all(0 <= rung < 10_000 for rung in rungs) or len(self.bounds_.inner) != len(GRID):
            raise ValueError("the rungs of the bounds are wrong")

    def _check_parameters(self) -> None:
        check_number("coverage", self.coverage, 0, 0.999, open_=True)
        if self.cutoff != "adaptive":
            check_number("cutoff", self.cutoff, -np.inf)
        if not callable(self.censoring):
            check_choice("censoring", self.censoring, get_args(CensoringKind))
        check_number("calibration_fraction", self.calibration_fraction, 0, 0.9, open_=True)
        if self.folds is not None:
            check_number("folds", self.folds, 2, whole=True)
            if self.calibration_fraction != _FRACTION:
                raise ValueError(
                    "calibration_fraction is for folds=None: with folds every row calibrates, leave it out"
                )
        check_switch("counts", self.counts)
        self._inner()


def _as_given(observed: Observed) -> dict[str, Any]:
    """Return the arguments of `fit` that describe one-sided observations."""
    if observed.known:
        given = {"y": observed.observed, "threshold": observed.threshold}
        return {**given, "censored": observed.censored} if observed.censored.any() else given
    return {"y": observed.observed, "censored": observed.censored}


def _jittered(observed: Observed, random: np.random.Generator) -> Observed:
    """Return counts plus uniform numbers; bounds of censored rows stay, and still are bounds."""
    if observed.side == "left":
        raise ValueError("counts=True is for right censoring")
    if (observed.observed != np.round(observed.observed)).any():
        raise ValueError("counts=True needs whole numbers in y")
    moved = observed.observed + np.where(observed.censored, 0.0, random.uniform(size=len(observed)))
    upper = np.where(observed.censored, np.inf, moved)
    ceiling = np.where(observed.censored, observed.ceiling, np.maximum(observed.ceiling, moved))
    return Observed(moved, moved, upper, observed.floor, ceiling, observed.side, observed.known)
