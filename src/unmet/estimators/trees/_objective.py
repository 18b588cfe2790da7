"""The censored tilted loss as an objective of gradient boosting: gradients and curvatures."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.censoring import Side, observe
from unmet.estimators.trees._arrays import Floats
from unmet.losses import portnoy_weights


def slopes(
    y: Floats, quantiles: Floats, levels: Floats, limits: tuple[Floats, Floats], below: Floats | None
) -> Floats:
    """Return ∂loss/∂q, shape (n, K).

    Known limits (`below` is None): 1{q > y} − θ for floor < q < cap, else 0. Flags of right-censored rows:
    w 1{q > y} − θ, where w is Portnoy's weight of a censored row whose level F̂(y | x) is `below`; uncensored
    rows have `below` = 1, hence w = 1.
    """
    over = quantiles > y[:, None]
    if below is None:
        floor, cap = limits
        seen = (quantiles > floor[:, None]) & (quantiles < cap[:, None])
        return np.where(seen, over - levels, 0.0)
    return portnoy_weights(below[:, None], levels) * over - levels


def curvature(levels: Floats, scale: float) -> Floats:
    """Return the density of a normal distribution at its quantiles: the mean curvature of the loss."""
    from scipy.special import ndtri

    return np.exp(-0.5 * np.square(ndtri(levels))) / np.sqrt(2 * np.pi) / scale


def censored_objective(
    y: ArrayLike,
    *,
    quantile: float,
    threshold: ArrayLike | None = None,
    censored: ArrayLike | None = None,
    level: ArrayLike | None = None,
    side: Side = "right",
) -> Callable[[Any, Any], tuple[Floats, Floats]]:
    """Return an objective for `lightgbm.train` or `xgboost.train`: f(predictions, data) → (slope, curvature).

    It is the gradient of the censored tilted loss at one level, ρ_θ(y − min(cap, q)) for right censoring and
    ρ_θ(y − min(cap, max(floor, q))) with `side="both"`, with the curvature of a normal distribution. Give the
    rows in the order of the training data. Weights of `lightgbm.Dataset(weight=…)` and
    `xgboost.DMatrix(weight=…)` count: both libraries leave them to the objective.

    Parameters
    ----------
    y, threshold, censored, side
        As in `CensoredQuantileRegressor.fit`.
    quantile
        The level θ.
    level
        With `censored` alone: an estimate of F(y | x) for each row, out of fold, for Portnoy's weights. Only
        its values in censored rows count.

    Examples
    --------
    >>> objective = censored_objective([1.0, 2.0], quantile=0.5, threshold=2.0)
    >>> objective(np.array([0.0, 3.0]), None)[0].tolist()
    [-0.5, 0.0]
    """
    if not 0 < quantile < 1:
        raise ValueError(f"quantile must lie strictly between 0 and 1, not {quantile!r}")
    observed = observe(y, threshold=threshold, censored=censored, side=side)
    sign = -1.0 if observed.side == "left" else 1.0
    seen = observed.mirrored() if sign < 0 else observed
    theta = np.array([quantile if sign > 0 else 1 - quantile])
    below = None
    if observed.kind == "flags":
        if level is None:
            raise ValueError("censored alone needs level=, F(y | x) of each row, or threshold= beside it")
        given = np.asarray(level, np.float64)
        if given.shape != (len(observed),) or not ((given >= 0) & (given <= 1)).all():
            raise ValueError("level must hold one number between 0 and 1 per row of y")
        below = np.where(seen.censored, given if sign > 0 else 1 - given, 1.0)
    elif level is not None:
        raise ValueError("level is for censored= alone: thresholds are known here, so leave it out")

    def objective(predictions: Any, data: Any = None) -> tuple[Floats, Floats]:
        at = sign * np.asarray(predictions, np.float64)
        weight = _weights(data, len(seen))
        spread = float(np.sqrt(np.cov(seen.observed, aweights=weight, ddof=0)))
        gradient = sign * slopes(seen.observed, at[:, None], theta, seen.limits, below)[:, 0]
        return weight * gradient, weight * curvature(theta, spread or 1.0)[0]

    return objective


def _weights(data: Any, rows: int) -> Floats:
    """Return the row weights of training data of LightGBM or XGBoost, which say "none" in different ways."""
    given = data.get_weight() if hasattr(data, "get_weight") else None
    if given is None or not len(given):
        return np.ones(rows)
    weights = np.asarray(given, np.float64)
    if len(weights) != rows or not weights.sum() > 0:
        raise ValueError(
            f"the data must have {rows:,} weights, as the objective has rows, and not only zeros"
        )
    return weights
