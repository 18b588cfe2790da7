"""What all estimators share: check data, fit with the trainer, predict, score, save."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from unmet.censoring import Side, observe
from unmet.estimators._fitted import Fitted, Member
from unmet.estimators._prepare import Prepared, prepare
from unmet.estimators._settings import Settings, check_quantiles
from unmet.losses import censored_tilted_loss
from unmet.networks import split
from unmet.training import Trained, train


class CensoredRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators. A subclass turns its parameters into `Settings`."""

    # Pipelines and searches pass thresholds, flags and validation rows along with the rows by default.
    __metadata_request__fit = {"threshold": True, "censored": True, "validation": True}  # noqa: RUF012
    __metadata_request__score = {"threshold": True, "censored": True}  # noqa: RUF012

    progress: bool | None
    quantiles: Sequence[float]
    side: Side
    random_state: Any

    @abstractmethod
    def _settings(self) -> Settings:
        """Return the checked parameters."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        validation: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to censored observations.

        Parameters
        ----------
        X : array of shape (n, columns)
        y : array of shape (n,)
            Observed values: the latent value, or a bound on it in a censored row.
        threshold : float or array of shape (n,), optional
            Where each row is, or would have been, cut off; infinite for no limit. Without `censored`, a row
            is censored if y has reached its threshold.
        censored : boolean array of shape (n,), optional
            Flags of the censored rows. Without `threshold`, the thresholds of the other rows are unknown.
        validation : boolean array of shape (n,), optional
            Rows that only decide when to stop; `fit` does not train on them.
        sample_weight : array of shape (n,), optional
            A row of weight 2 counts as two equal rows, a row of weight 0 not at all.
        """
        from unmet.runs import progress

        settings = self._settings()
        prepared = self._prepare(settings, X, y, threshold, censored, validation, sample_weight)
        results = {}
        with progress(len(prepared.jobs), "fit", "network", shown=self.progress) as bar:
            for tag, trained in train(prepared.jobs):
                results[tag] = trained
                bar.advance(1)
        return self._finish(prepared, results, settings)

    def _prepare(
        self,
        settings: Settings,
        X: Any,
        y: Any,
        threshold: Any,
        censored: Any,
        validation: Any,
        sample_weight: Any,
        random_state: Any = None,
    ) -> Prepared:
        """Check the data and return the training jobs."""
        if not _plain(X, y):
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        else:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit to named columns
        observed = observe(y, threshold=threshold, censored=censored, side=settings.side)
        rows = len(observed)
        if len(X) != rows:
            raise ValueError(f"X has {len(X)} rows but y has {rows}")
        weight = None if sample_weight is None else _weights(sample_weight, rows)
        mask = None if validation is None else _mask(validation, rows)
        if observed.censored.all():
            beyond = "above" if settings.side == "right" else "below"
            warnings.warn(
                f"every row is censored: the data say nothing {beyond} the observed values, and the fit "
                "depends on its start. Add rows that are not censored, or pass known thresholds",
                UserWarning,
                stacklevel=3,
            )
        state = self.random_state if random_state is None else random_state
        return prepare(np.asarray(X, np.float64), observed, weight, mask, settings, _seed(state))

    def _finish(
        self, prepared: Prepared, results: dict[tuple[int, int], Trained], settings: Settings
    ) -> Self:
        """Keep the best restart of every network."""
        members, histories = [], []
        for group in range(1 + max(group for group, _ in results)):
            restarts = [(result.loss, tag) for tag, result in results.items() if tag[0] == group]
            # NaN loses to any finite loss; ties go to the first start.
            _, tag = min(restarts, key=lambda item: (not np.isfinite(item[0]), item[0], item[1]))
            job = next(job for job in prepared.jobs if job.tag == tag)
            best = results[tag]
            if not np.isfinite(best.weights).all():
                raise ValueError(
                    "training diverged: lower learning_rate, set clip_norm, or keep standardise=True"
                )
            members.append(Member(job.spec.model, prepared.members[group], best.weights))
            histories.append(
                {"loss": best.history[:, 0], "validation_loss": best.history[:, 1]}
                if job.spec.stop_rows
                else {"loss": best.history[:, 0]}
            )
        self.fitted_ = Fitted(
            tuple(members),
            prepared.scaling,
            monotone=not isinstance(settings.head, str) or settings.head != "free",
            parametric=settings.parametric,
            mirrored=prepared.mirrored,
        )
        self.history_ = histories[0] if settings.joint else histories
        self.n_iter_ = max(len(history["loss"]) for history in histories)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the median of the latent value, shape (n,), or the only quantile if there is just one."""
        levels = self._fitted().levels
        if len(levels) == 1:
            return self.predict_quantiles(X)[:, 0]
        return self.predict_quantiles(X, quantiles=(0.5,))[:, 0]

    def predict_quantiles(
        self, X: ArrayLike, quantiles: Sequence[float] | None = None
    ) -> NDArray[np.float64]:
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
        return fitted.quantiles(self._inputs(X), wanted)

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return the lower and upper ends of the central interval, shape (n, 2)."""
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must lie strictly between 0 and 1, not {coverage!r}")
        tail = round((1 - coverage) / 2, 12)
        return self.predict_quantiles(X, quantiles=(tail, 1 - tail))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean censored tilted loss over rows and `quantiles`. Higher is better.

        For right censoring the loss is ρ_θ(y − min(cap, q̂)), as in `fit`. R² on capped values would prefer
        models that ignore the cap. Without thresholds, flagged rows count as bounds and the others as exact.
        Searches of scikit-learn pass no thresholds to `score` unless metadata routing is on.
        """
        quantiles = self.predict_quantiles(X)
        observed = observe(y, threshold=threshold, censored=censored, side=self.side)
        if len(quantiles) != len(observed):
            raise ValueError(f"X has {len(quantiles)} rows but y has {len(observed)}")
        losses = censored_tilted_loss(
            observed.observed[:, None],
            quantiles,
            np.asarray(self.quantiles, np.float64),
            observed.cap[:, None],
            side=observed.side,
        )
        weight = None if sample_weight is None else _weights(sample_weight, len(observed))
        return -float(np.average(losses.mean(axis=1), weights=weight))

    def save(self, path: Any) -> None:
        """Write the fitted model to a folder: weights as safetensors, everything else as JSON."""
        from unmet.estimators._files import save

        check_is_fitted(self, "fitted_")
        save(self, path)

    def _fitted(self) -> Fitted:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _inputs(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):  # the check sums all values, such as 1e308 − 1e308
            return validate_data(self, X, dtype=np.float64, reset=False)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Slopes of a linear network with head="free", in the user's units, shape (K, columns)."""
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts of a linear network with head="free", shape (K,)."""
        return self._linear()[1]

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        fitted = self._fitted()
        spec = fitted.members[0].spec
        if spec.network.kind != "linear" or spec.head != "free":
            raise AttributeError("coef_ and intercept_ exist only for network='linear' with head='free'")
        parts = [split(spec, member.weights) for member in fitted.members]
        weight = np.concatenate([part["body.layers[0].weight"] for part in parts]).astype(np.float64)
        scaling = fitted.scaling
        slopes = weight[:, : self.n_features_in_] * (scaling.y_scale / scaling.x_scale)
        bias = np.zeros(len(weight))
        if spec.intercept:
            bias = np.concatenate([part["body.layers[0].bias"] for part in parts]).astype(np.float64)
        bias = scaling.y_center + scaling.y_scale * bias - slopes @ scaling.x_center
        if fitted.mirrored:
            slopes, bias = -slopes[::-1], -bias[::-1]
        asked = [fitted.levels.index(level) for level in check_quantiles(self.quantiles)]
        return slopes[asked], bias[asked]  # the fit may include a grid of other levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # `score` is minus a loss, not R²
        return tags


_NUMBERS = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32))


def _plain(X: Any, y: Any) -> bool:
    """Return True for arrays that need no conversion: scikit-learn's check costs more than a small fit."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype in _NUMBERS
        and y.dtype in _NUMBERS
        and X.ndim == 2
        and y.ndim == 1
        and X.shape[0] == y.shape[0] > 1
        and X.shape[1] > 0
        and bool(np.isfinite(X).all())
    )


def _weights(sample_weight: ArrayLike, rows: int) -> NDArray[np.float64]:
    weight = np.asarray(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({rows},), not {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return weight


def _seed(state: Any) -> int:
    if not isinstance(state, (int, np.integer)):
        try:
            return int(check_random_state(state).randint(2**31))
        except ValueError as error:
            raise ValueError(f"random_state: {error}") from None
    if not 0 <= state < 2**32:
        raise ValueError(f"random_state must be between 0 and 2**32 - 1, not {state}")
    return int(state)


def _mask(validation: ArrayLike, rows: int) -> NDArray[np.bool_]:
    mask = np.asarray(validation)
    if mask.shape != (rows,) or mask.dtype != bool:
        raise ValueError(
            f"validation must be a boolean array with one entry per row, shape ({rows},), "
            f"not {mask.dtype} of shape {mask.shape}"
        )
    return mask
