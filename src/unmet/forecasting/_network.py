"""The censored quantile network: corrects the negative binomial on the scale of normal scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._curves import KNOTS
from unmet.forecasting._inputs import WEEKS_BACK

Floats = NDArray[np.float64]
MOST_ROWS = 24_576
# Scores beyond this are as good as certain; a cap there says nothing.
LOWEST_SCORE = -5.0
KINDS: dict[str, dict[str, Any]] = {
    "linear": {"max_epochs": 400, "batch_size": None},
    "mlp": {"hidden": (32, 32), "batch_size": 2048, "max_epochs": 60},
    "lstm": {"units": 16, "sequence": (WEEKS_BACK, 2), "batch_size": 2048, "max_epochs": 40},
}


def fit_network(kind: str, X: Floats, scores: Floats, thresholds: Floats | None, seed: int) -> Any:
    """Fit one `CensoredQuantileRegressor` for all places.

    Parameters
    ----------
    kind : "linear", "mlp" or "lstm".
    scores : normal scores of demand under the negative binomial, shape (n,).
    thresholds : scores of the known thresholds, where scores are those of min(y, threshold); None: scores are
        complete.
    """
    from unmet.estimators import CensoredQuantileRegressor

    rows = np.arange(len(scores))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng([seed, 11]).choice(len(rows), MOST_ROWS, replace=False))
    model = CensoredQuantileRegressor(
        quantiles=KNOTS, network=kind, random_state=seed, progress=False, **KINDS[kind]
    )
    values = np.maximum(scores[rows], LOWEST_SCORE)
    if thresholds is None:
        return model.fit(X[rows], values)
    caps = np.maximum(thresholds[rows], LOWEST_SCORE)
    return model.fit(X[rows], np.minimum(values, caps), threshold=caps)
