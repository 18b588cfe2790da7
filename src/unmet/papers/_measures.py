"""What is measured on a prediction: each measure yields (theta, rows, truth, name, value)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import metrics

Measured = tuple[str, str, str, str, float]


@dataclass(frozen=True)
class Prediction:
    """Predicted quantiles of some rows of a synthetic data set."""

    data: Any  # SyntheticData
    rows: NDArray[np.intp]
    levels: tuple[float, ...]
    quantiles: NDArray[np.float64]

    @property
    def latent(self) -> NDArray[np.float64]:
        return self.data.latent[self.rows]

    def truth(self, name: str) -> NDArray[np.float64]:
        return self.data.quantile(list(self.levels), name)[self.rows]


def name_level(level: float) -> str:
    return f"{level:.2f}"


def zeros(prediction: Prediction) -> Iterator[Measured]:
    """Measure for Table I how many quantiles of the observed value are zero."""
    for k, level in enumerate(prediction.levels):
        share = float(np.mean(prediction.quantiles[:, k] <= 0))
        yield name_level(level), "all", "paper", "% zero", 100 * share


def errors(prediction: Prediction) -> Iterator[Measured]:
    """Measure for Table II the errors against true quantiles.

    "non-censored" is what the paper computed under that name: rows whose true quantile is above the
    threshold. "observed" are the rows that are in fact not censored.
    """
    noise = prediction.data.noise
    truths = {"corrected": "exact"}
    if noise in ("gaussian", "heteroskedastic"):  # the paper's truth is right
        truths = {"paper": "exact"}
    elif noise == "mixture":
        truths = {"paper": "published", "corrected": "exact"}
    observed = ~prediction.data.censored[prediction.rows]
    for truth, asked in truths.items():
        true = prediction.truth(asked)
        for k, level in enumerate(prediction.levels):
            groups = {"all": None, "non-censored": true[:, k] > 0, "observed": observed}
            for rows, mask in groups.items():
                for name, measure in (("MAE", metrics.mae), ("RMSE", metrics.rmse), ("R²", metrics.r2)):
                    value = measure(prediction.quantiles[:, k], true[:, k], rows=mask)
                    yield name_level(level), rows, truth, name, value


def mean_errors(prediction: Prediction) -> Iterator[Measured]:
    """Measure mean absolute errors against the correct truth, all rows."""
    true = prediction.truth("exact")
    for k, level in enumerate(prediction.levels):
        yield (
            name_level(level),
            "all",
            "corrected",
            "MAE",
            metrics.mae(prediction.quantiles[:, k], true[:, k]),
        )


def intervals(prediction: Prediction) -> Iterator[Measured]:
    """Measure for Table III coverage, length and summed tilted loss of the outermost levels."""
    low, high = prediction.quantiles[:, 0], prediction.quantiles[:, -1]
    ends, levels = prediction.quantiles[:, [0, -1]], [prediction.levels[0], prediction.levels[-1]]
    for rows, mask in (("all", None), ("non-censored", prediction.latent > 0)):
        yield "", rows, "", "ICP", metrics.icp(prediction.latent, low, high, rows=mask)
        yield "", rows, "", "MIL", metrics.mil(low, high, rows=mask)
        yield (
            "",
            rows,
            "",
            "tilted loss",
            metrics.tilted_loss(prediction.latent, ends, levels, "sum", rows=mask),
        )


def crosses(prediction: Prediction) -> Iterator[Measured]:
    """Count neighbouring levels in the wrong order, ties included, over all rows."""
    yield "", "all", "", "crosses", metrics.crossings(prediction.quantiles)


def crossings(prediction: Prediction) -> Iterator[Measured]:
    """Measure for Table IV crosses, and the crossing loss: per row for all rows, summed for the others."""
    for rows, mask in (("all", None), ("non-censored", prediction.latent > 0)):
        count = len(prediction.rows) if mask is None else 1
        yield "", rows, "", "crosses", metrics.crossings(prediction.quantiles, rows=mask)
        strict = metrics.crossings(prediction.quantiles, strict=True, rows=mask)
        yield "", rows, "", "crosses, ties not counted", strict
        loss = metrics.crossing_loss(prediction.quantiles, rows=mask)
        yield "", rows, "", "crossing loss", loss / count


MEASURES: dict[str, Callable[[Prediction], Iterator[Measured]]] = {
    "zeros": zeros,
    "errors": errors,
    "mean errors": mean_errors,
    "intervals": intervals,
    "crosses": crosses,
    "crossings": crossings,
}
