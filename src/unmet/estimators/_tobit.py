"""Tobit regression: a normal or sinh-arcsinh latent target, observed only up to a cap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmet.censoring import Observed
from unmet.estimators._base import Floats
from unmet.estimators._choices import TobitScale, TobitShapeName
from unmet.estimators._likelihood import find_likelihood, read_likelihood
from unmet.estimators._network import NetworkRegressor
from unmet.estimators._settings import Settings, check_choice, check_coverage, check_number
from unmet.estimators._tobit_summary import (
    MarginalEffects,
    TobitSummary,
    find_effects,
    summarise_tobit,
    thresholds,
)
from unmet.networks import SMALLEST_SCALE, TobitShape, split


@dataclass(kw_only=True, eq=False, repr=False)
class TobitRegressor(NetworkRegressor):
    """Predict a latent target with location μ(x), scale σ and a normal shape, observed only up to a cap.

    `fit` minimises the mean of −log φ(z) + log σ over uncensored rows and −log(1 − Φ(z)) over right-censored
    ones (−log Φ(z) over left-censored ones), where z = (y − μ(x)) / σ, and of −log(Φ(z_upper) − Φ(z_lower))
    over rows known by an interval. A row is censored if it is flagged, or if y has reached its threshold. The
    fitted distribution gives a quantile at every level.

    Parameters
    ----------
    **What to predict**

    quantiles : sequence of float
        Levels that `predict_quantiles` returns by default: increasing, each between 0 and 1.
    side : {"right", "left", "both"}
        "right" if large values are cut off, "left" if small ones are, "both" for a known floor and cap. With
        `lower` and `upper` in `fit` it follows from them.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.

    **Which model**

    scale : {"constant", "network"} or float
        σ is one learned number ("constant"), a second output of the network ("network"), or the given number.
    shape : {"normal", "sinh-arcsinh"}
        "sinh-arcsinh" also learns skewness and weight of the tails (Jones & Pewsey).
    network : {"linear", "mlp", "kernel", "lstm", "graph", "grid"} or callable
        Network that predicts μ(x).
    hidden, units, sequence, neighbours, activation, dropout, fit_intercept
        As in `CensoredQuantileRegressor`.

    **What to minimise**

    l2 : float
        Penalty on squared weights. Biases are not penalised.

    **How to train**

    learning_rate, schedule, max_epochs, patience, validation_fraction, batch_size
        As in `CensoredQuantileRegressor`, but the learning rate is a number.
    clip_norm, n_restarts, initialiser, standardise, warm_start
        As in `CensoredQuantileRegressor`.

    **Housekeeping**

    random_state, progress
        As in `CensoredQuantileRegressor`.

    Attributes
    ----------
    scale_ : float
        σ in the units of y, if it is the same for all rows.
    coef_, intercept_ : array (columns,) and float
        Of the location, for network="linear".
    likelihood_ : Likelihood or None
        Covariance of the coefficients and log σ, log-likelihood, and how many rows are exact, open or
        intervals; None where `summary` has no standard errors.
    history_, n_iter_
        As in `CensoredQuantileRegressor`.

    Notes
    -----
    Assumes that where a row is cut off is independent of its latent value given X.

    Cost: 2,000 passes over up to 16,384 rows; beyond, 2,000 steps of 2,048 rows, and from 410,000 rows on ten
    passes. Standard errors take one more pass of n p² operations.

    References
    ----------
    Tobin (1958), Estimation of relationships for limited dependent variables, Econometrica 26.

    Examples
    --------
    >>> from unmet import TobitRegressor, datasets
    >>> data = datasets.make_synthetic("gaussian")
    >>> model = TobitRegressor(side="left", random_state=0).fit(data.X, data.y, threshold=data.threshold)
    >>> model.predict_interval(data.X).shape
    (1000, 2)
    """

    _encoding = "reference"  # all categories and an intercept would have no standard errors

    # which model
    scale: TobitScale | float = "constant"
    shape: TobitShapeName = "normal"
    hidden: Sequence[int] = (64, 64)
    # what to minimise, and how
    l2: float = 0.0
    learning_rate: float = 0.02
    patience: int | None = None

    def _settings(self) -> Settings:
        check_choice("shape", self.shape, get_args(TobitShapeName))
        kind, given = "fixed", None
        if isinstance(self.scale, str):
            check_choice("scale", self.scale, get_args(TobitScale))
            kind = self.scale
        else:
            check_number("scale", self.scale, 0, open_=True)
            given = float(self.scale)
        return self._checked(head=TobitShape(kind, self.shape == "sinh-arcsinh"), fixed_scale=given)

    def _fit_observed(
        self, X: Floats, observed: Observed, weight: Floats | None, seed: int, validation: Any = None
    ) -> None:
        super()._fit_observed(X, observed, weight, seed, validation)
        self.likelihood_ = None
        if self._why_no_errors() is None and validation is None:
            self.likelihood_ = find_likelihood(
                np.asarray(X, np.float64),
                observed,
                weight,
                self.intercept_,
                self.coef_,
                self.scale_,
                fit_intercept=bool(self.fit_intercept),
                fixed_scale=not isinstance(self.scale, str),
            )

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config, arrays = super()._pack()
        known = getattr(self, "likelihood_", None)
        if known is not None:
            config["likelihood"], own = known.pack()
            arrays |= own
        return config, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._unpack(config, arrays)
        if "likelihood" in config:
            told = config["likelihood"], arrays, config["columns"], bool(self.fit_intercept)
            self.likelihood_ = read_likelihood(*told)

    def _why_no_errors(self) -> str | None:
        """Return the setting that leaves the fit without standard errors, if any."""
        needs = {"network": "linear", "shape": "normal", "l2": 0, "patience": None, "dropout": 0}
        for name, value in needs.items():
            if getattr(self, name) != value:
                return f"{name}={value!r}"
        if isinstance(self.scale, str) and self.scale == "network":
            return "scale='constant'"
        return None if self._fitted().scaling.y_scale else "rows whose y differ"

    def _errors(self) -> Any:
        self._fitted()
        if getattr(self, "likelihood_", None) is None:
            needed = self._why_no_errors() or "fit itself, without validation rows"
            raise ValueError(f"standard errors need {needed}: fit again with it")
        return self.likelihood_

    def summary(self, coverage: float = 0.95) -> TobitSummary:
        """Return coefficients, standard errors, p-values and Wald intervals. Print it to read it.

        For linear networks with a normal shape and one scale, fitted to all rows without a penalty. A column
        that depends on others, such as a constant one, has no standard error (NaN, shown as –).
        """
        check_coverage(coverage)
        self._errors()
        return summarise_tobit(self, coverage)

    def marginal_effects(self, X: ArrayLike, threshold: ArrayLike | None = None) -> MarginalEffects:
        """Return what one unit more of each column changes, averaged over the rows of X.

        It changes the latent mean by β, the mean of what is observed by β P and the probability P to be
        uncensored by −β (φ(u) − φ(l)) / σ, where l and u are the z-values of floor and cap. Standard errors
        are by the delta method.

        Parameters
        ----------
        threshold : float, array of shape (n,) or a pair (floor, cap), optional
            Where the rows are cut off, on the side where those of `fit` were. By default nowhere. A pair if
            `fit` saw rows open on both sides, or intervals.

        References
        ----------
        McDonald & Moffitt (1980), The uses of Tobit analysis, Rev. Econ. Stat. 62.
        """
        known = self._errors()
        rows = self._inputs(X)
        # Bounds without a censored row say nothing of a side.
        side = self._fitted().side if known.exact < known.rows else self.side
        return find_effects(self, rows, *thresholds(threshold, side, len(rows)))

    @property
    def coef_(self) -> Floats:
        """Slopes of the location of a linear network, in the user's units, shape (columns,)."""
        return self._line()[1]

    @property
    def intercept_(self) -> float:  # type: ignore[override]
        """Intercept of the location of a linear network."""
        return self._line()[0]

    def _line(self) -> tuple[float, Floats]:
        member, scaling = self._fitted().members[0], self._fitted().scaling
        if member.spec.network.kind != "linear":
            raise AttributeError("coef_ and intercept_ exist only for network='linear'")
        parts = split(member.spec, member.weights)
        weight = parts["body.layers[0].weight"][0, : self._width].astype(np.float64)
        slopes = weight * (scaling.y_scale / scaling.x_scale)
        bias = float(parts["body.layers[0].bias"][0]) if member.spec.intercept else 0.0
        start = scaling.y_center + scaling.y_scale * bias - float(slopes @ scaling.x_center)
        return (-start, -slopes) if self._fitted().side == "left" else (start, slopes)

    @property
    def scale_(self) -> float:
        """The scale σ in the units of y, if it is the same for all rows."""
        from jax.nn import softplus

        member = self._fitted().members[0]
        if not isinstance(member.spec.head, TobitShape) or member.spec.head.scale == "network":
            raise AttributeError(
                "scale_ exists only if all rows share one scale: use predict_quantiles instead"
            )
        raw = split(member.spec, member.weights)["head.raw_scale"]
        fixed = member.spec.head.scale == "fixed"
        inner = float(raw[0]) if fixed else float(softplus(raw[0])) + SMALLEST_SCALE
        return inner * (self._fitted().scaling.y_scale or 1.0)
