"""The shell of all estimators: store, check, observe; predict, score, complete, save."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from unmet.censoring import Observed, Side, observe, refuse_mask
from unmet.estimators._categories import Encoding, find_categories, number_type, refuse_times
from unmet.estimators._checks import (
    check_lengths,
    check_seed,
    check_weights,
    dense,
    is_plain,
    refuse_negative,
    refuse_unread,
    refuse_wide,
    seen_loss,
    warn_if_never_reached,
    warn_if_untold,
)
from unmet.estimators._settings import check_coverage, check_number, check_quantiles, check_switch

Floats = NDArray[np.float64]


class CensoredRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators: dataclasses, so that their parameters are stored and nothing else.

    A subclass says how it checks its parameters, fits checked rows, and packs what it has fitted. `fitted_`
    has `levels`, `parametric` (a quantile at every level) and `quantiles(X, levels)`.
    """

    # Pipelines and searches pass thresholds, flags and bounds along with the rows by default.
    __metadata_request__fit = dict.fromkeys(("threshold", "censored", "lower", "upper"), True)
    __metadata_request__score = dict.fromkeys(("threshold", "censored", "lower", "upper"), True)
    __metadata_request__predict = dict.fromkeys(("quantiles", "coverage"), True)

    # How columns of categories in a data frame become numbers.
    _encoding: ClassVar[Encoding] = "one-hot"

    quantiles: Sequence[float]
    side: Side
    positive: bool = False
    random_state: Any
    fitted_: Any

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError unless every parameter has a value that it may have."""

    @abstractmethod
    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        """Fit to checked rows."""

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return plain data and arrays that describe what was fitted."""

    @abstractmethod
    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore what `_pack` returned, and take all arrays. Raise ValueError if they do not fit."""

    def fit(
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
        """Fit to censored observations.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, columns)
            Columns of a pandas or Polars frame that hold texts or categories become columns of 0 and 1. A
            category that `fit` did not see is an error when predicting. A sparse matrix is made dense as a
            whole. Networks keep columns that are all float32 as they are.
        y : array of shape (n,)
            Observed values: the latent value, or a bound on it in a censored row.
        threshold : float or array of shape (n,), optional
            Where each row is, or would have been, cut off; infinite for no limit. Without `censored`, a row
            is censored if y has reached its threshold. With side="both" a pair (floor, cap), or shape (n, 2).
        censored : boolean array of shape (n,), optional
            Flags of the censored rows. Without `threshold`, the thresholds of the other rows are unknown.
        sample_weight : array of shape (n,), optional
            A row of weight 2 counts as two equal rows, a row of weight 0 not at all.
        lower, upper : arrays of shape (n,), optional
            Instead of y: bounds on the latent value of each row. Equal bounds are exact rows, an infinite
            bound leaves that side open. `side` then follows from the bounds.
        """
        self._check_parameters()
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        rows, observed, weight = self._observe(X, y, sample_weight, **told)
        self._fit_observed(np.asarray(rows, np.float64), observed, weight, check_seed(self.random_state))
        return self

    fit.__qualname__ = "fit"  # Python names it in errors, and users do not know this class

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, **told: Any
    ) -> tuple[NDArray[Any], Observed, Floats | None]:
        """Return checked columns, observations and weights, and record what the columns are.

        Columns that are numbers already stay as they are: a large table is not copied.
        """
        refuse_unread(X)
        refuse_mask(X, "X")
        refuse_mask(y, "y")
        refuse_times(X)
        X = dense(X)
        self.__dict__.pop("categories_", None)  # left by an earlier fit
        found = find_categories(X, self._encoding)
        no_y = y is None and (told.get("lower") is not None or told.get("upper") is not None)
        if found is not None:
            validate_data(self, X, skip_check_array=True)  # the names of the columns, and how many
            self.categories_ = found
            X = found.expand(X)
            if no_y:
                X = check_array(X, dtype=np.float64, estimator=self)
            else:
                X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True, estimator=self)
        elif is_plain(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit to named columns
        elif no_y:
            X = validate_data(self, X, dtype=number_type(X))
        else:
            X, y = validate_data(self, X, y, dtype=number_type(X), y_numeric=True)
        observed = observe(y, side=self.side, **told)
        check_lengths(X, observed, y)
        if check_switch("positive", self.positive):
            refuse_negative(observed)
        self.told_censoring_ = observed.kind != "none"
        warn_if_never_reached(observed)
        weight = None if sample_weight is None else check_weights(sample_weight, len(observed))
        return X, observed, weight

    def predict(
        self, X: ArrayLike, quantiles: Sequence[float] | None = None, coverage: float | None = None
    ) -> Floats:
        """Return the median of the latent value, shape (n,), or the only quantile if there is just one.

        A `Pipeline` has `predict` and no `predict_quantiles`, but passes arguments on: with `quantiles`,
        `predict` returns what `predict_quantiles` returns, and with `coverage` what `predict_interval` does.
        """
        if quantiles is not None and coverage is not None:
            raise ValueError("predict takes quantiles or coverage, not both: call it twice")
        if quantiles is not None:
            return self.predict_quantiles(X, quantiles)
        if coverage is not None:
            return self.predict_interval(X, coverage)
        return self._middle(X)

    def _middle(self, X: ArrayLike) -> Floats:
        self._fitted()
        levels = tuple(self.quantiles)
        return self.predict_quantiles(X, quantiles=levels if len(levels) == 1 else (0.5,))[..., 0]

    def predict_quantiles(self, X: ArrayLike, quantiles: Sequence[float] | None = None) -> Floats:
        """Return quantiles of the latent value, shape (n, K), in the order of `quantiles`.

        Levels between fitted ones are interpolated, linearly in normal scores. Levels outside the fitted
        range raise a ValueError.
        """
        fitted = self._fitted()
        wanted = check_quantiles(self.quantiles if quantiles is None else quantiles)
        if not fitted.parametric and (wanted[0] < fitted.levels[0] or wanted[-1] > fitted.levels[-1]):
            raise ValueError(
                f"quantiles must lie between {fitted.levels[0]:g} and {fitted.levels[-1]:g}, the fitted "
                f"range, not {wanted}: fit with quantiles= that include them"
            )
        return self._quantiles(self._inputs(X), wanted)

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Floats:
        """Return the lower and upper ends of the central interval, shape (n, 2)."""
        check_coverage(coverage)
        tail = round((1 - coverage) / 2, 12)
        ends = tail, round(1 - tail, 12)
        fitted = self._fitted()
        self._refuse_hidden(ends)
        if not fitted.parametric:
            refuse_wide(coverage, ends, fitted.levels)
        return self.predict_quantiles(X, quantiles=ends)

    def _refuse_hidden(self, wanted: Sequence[float]) -> None:
        """Raise ValueError for levels that were to be fitted, and that censoring hides."""

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean censored tilted loss over rows and `quantiles`. Higher is better.

        For right censoring the loss is ρ_θ(y − min(cap, q̂)), as in `fit`. R² on capped values would prefer
        models that ignore the cap. Without thresholds, flagged rows count as bounds and the others as exact;
        a quantile between the bounds of a row then costs nothing.
        Searches of scikit-learn pass no thresholds to `score` unless metadata routing is on: `score` warns.
        """
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        warn_if_untold(self, told, "score")
        quantiles = self.predict_quantiles(X)
        observed = observe(y, side=self.side, **told)
        check_lengths(quantiles, observed, y)
        losses = seen_loss(observed, quantiles, np.asarray(self.quantiles, np.float64))
        weight = None if sample_weight is None else check_weights(sample_weight, len(observed))
        return -float(np.average(losses.mean(axis=1), weights=weight))

    def sample(self, X: ArrayLike, n_draws: int = 1, random_state: Any = None) -> Floats:
        """Return draws of the latent value, shape (n, n_draws), from the predicted quantiles.

        Between fitted levels, and beyond the last ones, quantiles are linear in normal scores.
        """
        from unmet.estimators._complete import QuantileFunction

        check_number("n_draws", n_draws, 1, whole=True)
        law = QuantileFunction(self, self._inputs(X))
        random = np.random.RandomState(check_seed(random_state))
        return law.value(random.uniform(size=(len(law.values), n_draws)))

    def complete(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        n_draws: int | None = None,
        random_state: Any = None,
    ) -> Floats:
        """Return latent values: y where it is exact, and an estimate where it is only a bound.

        The estimate is the mean of the predicted distribution beyond the bound (between the bounds), shape
        (n,). With `n_draws`, it is that many draws from it, shape (n, n_draws), for multiple imputation.

        Parameters
        ----------
        X, y, threshold, censored, lower, upper
            As in `fit`.
        """
        from unmet.estimators._complete import complete_rows

        if n_draws is not None:
            check_number("n_draws", n_draws, 1, whole=True)
        rows = self._inputs(X)
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        warn_if_untold(self, told, "complete")
        observed = observe(y, side=self.side, **told)
        check_lengths(rows, observed, y)
        random = np.random.RandomState(check_seed(random_state))
        return complete_rows(self, rows, observed, n_draws, random)

    def save(self, path: Any) -> None:
        """Write the fitted model to a folder: arrays as safetensors, everything else as JSON."""
        from unmet.estimators._files import pack
        from unmet.runs import save_model

        self._fitted()
        save_model(path, *pack(self))

    def _fitted(self) -> Any:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _quantiles(self, X: Floats, levels: tuple[float, ...]) -> Floats:
        """Return the quantiles of checked rows, shape (n, levels)."""
        found = self._fitted().quantiles(X, levels)
        return np.maximum(found, 0.0) if self.positive else found

    @property
    def _width(self) -> int:
        """How many columns of numbers the model sees; a column of categories may become several."""
        known = self.__dict__.get("categories_")
        return int(self.n_features_in_ if known is None else len(known.columns))

    def _inputs(self, X: Any) -> Floats:
        refuse_mask(X, "X")
        refuse_times(X)
        if (known := self.__dict__.get("categories_")) is not None:
            known.refuse_arrays(X)
            rows = known.expand(validate_data(self, X, skip_check_array=True, reset=False))
            return check_array(rows, dtype=np.float64, estimator=self)
        with np.errstate(over="ignore", invalid="ignore"):  # the check sums all values, such as 1e308 − 1e308
            return validate_data(self, dense(X), dtype=np.float64, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # `score` is minus a loss, not R²
        tags.input_tags.sparse = True
        return tags
