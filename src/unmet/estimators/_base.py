"""What all estimators share: check data, fit with the trainer, predict, score, save."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unmet.censoring import Observed, Side, observe, refuse_mask
from unmet.estimators._checks import (
    check_mask,
    check_seed,
    check_weights,
    dense,
    is_plain,
    seen_loss,
    warn_all_censored,
    warn_if_never_reached,
)
from unmet.estimators._fitted import Fitted, Member
from unmet.estimators._prepare import Prepared, prepare
from unmet.estimators._settings import Settings, check_number, check_quantiles
from unmet.networks import split
from unmet.training import Trained, train


class CensoredRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators. A subclass turns its parameters into `Settings`."""

    # Pipelines and searches pass thresholds, flags and validation rows along with the rows by default.
    __metadata_request__fit = dict.fromkeys(("threshold", "censored", "lower", "upper", "validation"), True)
    __metadata_request__score = dict.fromkeys(("threshold", "censored", "lower", "upper"), True)

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
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        validation: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> Self:
        """Fit to censored observations.

        Parameters
        ----------
        X : array of shape (n, columns)
        y : array of shape (n,)
            Observed values: the latent value, or a bound on it in a censored row.
        threshold : float or array of shape (n,), optional
            Where each row is, or would have been, cut off; infinite for no limit. Without `censored`, a row
            is censored if y has reached its threshold. With side="both" a pair (floor, cap), or shape (n, 2).
        censored : boolean array of shape (n,), optional
            Flags of the censored rows. Without `threshold`, the thresholds of the other rows are unknown.
        validation : boolean array of shape (n,), optional
            Rows that only decide when to stop; `fit` does not train on them.
        sample_weight : array of shape (n,), optional
            A row of weight 2 counts as two equal rows, a row of weight 0 not at all.
        lower, upper : arrays of shape (n,), optional
            Instead of y: bounds on the latent value of each row. Equal bounds are exact rows, an infinite
            bound leaves that side open. `side` then follows from the bounds.
        """
        from unmet.runs import progress

        settings = self._settings()
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        prepared = self._prepare(settings, X, y, validation, sample_weight, **told)
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
        validation: Any,
        sample_weight: Any,
        random_state: Any = None,
        **told: Any,
    ) -> Prepared:
        """Check the data and return the training jobs."""
        X, observed = self._observe(X, y, settings.side, **told)
        rows = len(observed)
        if observed.side != settings.side:
            settings = replace(settings, side=observed.side)
        weight = None if sample_weight is None else check_weights(sample_weight, rows)
        mask = None if validation is None else check_mask(validation, rows)
        if observed.censored.all():
            warn_all_censored(observed)
        table = np.asarray(X, np.float64)
        seed = check_seed(self.random_state if random_state is None else random_state)
        if settings.loss == "ipcw":
            table, observed, weight, mask = self._weigh(table, observed, weight, mask, settings, seed)
        return prepare(table, observed, weight, mask, settings, seed)

    def _weigh(
        self, X: Any, observed: Observed, weight: Any, mask: Any, settings: Settings, seed: int
    ) -> tuple[Any, Observed, Any, Any]:
        """Return the uncensored rows with the inverse of their chance to be seen as weights."""
        from unmet.estimators._inverse_weights import inverse_weights

        if observed.side == "both" and observed.censored.any():
            raise ValueError("loss='ipcw' needs rows that are open on the same side: use loss='censored'")
        if observed.censored.all():
            raise ValueError("loss='ipcw' needs uncensored rows, and every row is censored")
        seen = observed.mirrored() if observed.side == "left" else observed
        weights, self.ipcw_ = inverse_weights(X, seen, weight, settings.censoring, seed)
        rows = ~observed.censored
        exact = observe(observed.observed[rows], threshold=None, side=settings.side)
        return X[rows], exact, weights[rows], None if mask is None else mask[rows]

    def _observe(self, X: Any, y: Any, side: Side, **told: Any) -> tuple[Any, Observed]:
        """Return checked columns and observations, and record what the columns are."""
        refuse_mask(X, "X")
        refuse_mask(y, "y")
        X = dense(X)
        if is_plain(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # left by an earlier fit to named columns
        elif y is None and (told.get("lower") is not None or told.get("upper") is not None):
            X = validate_data(self, X, dtype=np.float64)
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        observed = observe(y, side=side, **told)
        if len(X) != len(observed):
            name = "y" if y is not None else "lower"
            raise ValueError(f"X has {len(X)} rows but {name} has {len(observed)}")
        self.told_censoring_ = observed.kind != "none"
        warn_if_never_reached(observed)
        return X, observed

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
            side=prepared.side,
        )
        self.history_ = histories[0] if settings.joint and len(histories) == 1 else histories
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
        if getattr(self, "told_censoring_", False) and all(
            part is None for part in (threshold, censored, lower, upper)
        ):
            warnings.warn(
                "score got no threshold or censored although fit did, so that it prefers models that ignore "
                "the cap: pass them; in searches and cross_val_score use params= and "
                "sklearn.set_config(enable_metadata_routing=True)",
                UserWarning,
                stacklevel=2,
            )
        quantiles = self.predict_quantiles(X)
        observed = observe(
            y, threshold=threshold, censored=censored, lower=lower, upper=upper, side=self.side
        )
        if len(quantiles) != len(observed):
            raise ValueError(f"X has {len(quantiles)} rows but y has {len(observed)}")
        losses = seen_loss(observed, quantiles, np.asarray(self.quantiles, np.float64))
        weight = None if sample_weight is None else check_weights(sample_weight, len(observed))
        return -float(np.average(losses.mean(axis=1), weights=weight))

    def sample(self, X: ArrayLike, n_draws: int = 1, random_state: Any = None) -> NDArray[np.float64]:
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
    ) -> NDArray[np.float64]:
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
        observed = observe(
            y, threshold=threshold, censored=censored, lower=lower, upper=upper, side=self.side
        )
        if len(rows) != len(observed):
            raise ValueError(f"X has {len(rows)} rows but y has {len(observed)}")
        random = np.random.RandomState(check_seed(random_state))
        return complete_rows(self, rows, observed, n_draws, random)

    def save(self, path: Any) -> None:
        """Write the fitted model to a folder: arrays as safetensors, everything else as JSON."""
        from unmet.runs import save_model

        self._fitted()
        save_model(path, *self._packed())

    def _packed(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what `save` writes."""
        from unmet.estimators._files import pack

        return pack(self)

    def _fitted(self) -> Fitted:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _inputs(self, X: Any) -> NDArray[np.float64]:
        refuse_mask(X, "X")
        with np.errstate(over="ignore", invalid="ignore"):  # the check sums all values, such as 1e308 − 1e308
            return validate_data(self, dense(X), dtype=np.float64, reset=False)

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
        if fitted.side == "left":
            slopes, bias = -slopes[::-1], -bias[::-1]
        asked = [fitted.levels.index(level) for level in check_quantiles(self.quantiles)]
        return slopes[asked], bias[asked]  # the fit may include a grid of other levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # `score` is minus a loss, not R²
        tags.input_tags.sparse = True
        return tags
