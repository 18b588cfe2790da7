"""The censored quantile network, which corrects the negative binomial in normal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._around import FEATURES, Around
from unmet.forecasting._inputs import Ahead
from unmet.forecasting._level_correction import KNOTS

Floats = NDArray[np.float64]
# Numbers of training rows: few, so that few programs are compiled.
_SIZES = (24_576, 16_384, 12_288, 8_192, 6_144, 4_096)
_MANY = 98_304  # rows at most if forecasts are renewed each period
# Scores below this are practically certain; a cap there says nothing.
LOWEST_SCORE = -5.0
# Short training and a penalty, because corrections are small and a free network would learn noise.
KINDS: dict[str, dict[str, Any]] = {
    "linear": {"network": "linear", "max_epochs": 12, "learning_rate": 0.02},
    "mlp": {"network": "mlp", "max_epochs": 10, "learning_rate": 0.005, "hidden": (16,)},
    "lstm": {
        "network": "lstm",
        "max_epochs": 8,
        "learning_rate": 0.005,
        "units": 8,
    },
    "graph": {"network": "graph", "max_epochs": 10, "learning_rate": 0.005, "units": 8, "hidden": (16,)},
    "grid": {"network": "grid", "max_epochs": 10, "learning_rate": 0.005, "units": 8, "hidden": (16,)},
}
# An hour ahead there is more to learn than a small correction: what just happened here and around.
EACH_PERIOD: dict[str, dict[str, Any]] = {
    "mlp": {"max_epochs": 40, "hidden": (32,), "l2": 0.0002},
    "lstm": {"max_epochs": 40, "units": 16, "l2": 0.0002},
    "graph": {"max_epochs": 60, "hidden": (32,), "units": 16, "l2": 0.0002},
    "grid": {"max_epochs": 25, "hidden": (16,), "units": 12, "l2": 0.001},
}


@dataclass(frozen=True)
class Network:
    """A fitted `CensoredQuantileRegressor` whose inputs are clipped to the range seen in training.

    The shape of the negative binomial can be almost constant in training. A change of 1% next week would then
    be thousands of standard deviations.

    `around` are the nodes around each place that a graph or grid network sees.
    """

    model: Any
    low: Floats
    high: Floats
    around: Around | None = None

    def predict_quantiles(self, X: Floats) -> Floats:
        """Return quantile curves of normal scores, (n, 9)."""
        return np.asarray(self.model.predict_quantiles(np.clip(X, self.low, self.high)), np.float64)


def rows_to_train(count: int, seed: int, *, many: bool = False) -> NDArray[np.int64]:
    """Return which of `count` rows train a network: all, or a sample of at most 24,576, with `many` 98,304.

    The network has a few hundred weights for the whole city and is stopped early; more rows do not help it.
    What happens rarely and is seen only an hour ahead needs `many`.
    """
    most = min(count, _MANY) if many else next((size for size in _SIZES if size <= count), count)
    if most == count:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, 11]).choice(count, most, replace=False))


def fit_network(
    kind: str, X: Floats, scores: Floats, seed: int, ahead: Ahead, around: Around | None = None
) -> Network:
    """Fit one `CensoredQuantileRegressor` for all places.

    Parameters
    ----------
    kind : "linear", "mlp", "lstm", "graph" or "grid".
    X, scores : columns of the rows (n, q) and normal scores of their demand under the negative binomial (n,).
    ahead : how far ahead forecasts are made; X begins with a sequence of its lags.
    around : with it, X holds the columns of `Around.columns`.
    """
    from unmet.estimators import CensoredQuantileRegressor

    settings = {"l2": 0.02, **KINDS[kind], **(EACH_PERIOD.get(kind, {}) if ahead.each_period else {})}
    if around is not None:
        settings |= {"sequence": (len(ahead.lags), FEATURES), "neighbours": around.shape}
    elif kind == "lstm":
        settings["sequence"] = (len(ahead.lags), 2)
    model = CensoredQuantileRegressor(
        quantiles=KNOTS, batch_size=2048, random_state=seed, progress=False, **settings
    )
    fitted = model.fit(X, np.maximum(scores, LOWEST_SCORE))
    return Network(fitted, X.min(axis=0), X.max(axis=0), around)
