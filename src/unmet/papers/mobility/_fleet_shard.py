"""One shard of the fleet grid: fit every subset at once and measure against the whole fleet's rides."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import metrics
from unmet.calibration import rolling_intervals
from unmet.papers.mobility._bike_shard import KEPT_BACK, random_state, sorted_pairs, to_table
from unmet.papers.mobility._fleet import FleetShard
from unmet.papers.mobility._models import COVERAGE, QUANTILES, RAW
from unmet.papers.mobility._series import LAGS, calendar_columns, lag_columns, thirds


def compute(shard: FleetShard) -> bytes:
    """A Parquet table with one row for each subset of the vehicles."""
    with warnings.catch_warnings():
        # Meant here: it is the paper's point, and the result says what it means.
        warnings.filterwarnings("ignore", message="every row is censored", category=UserWarning)
        return to_table(_published(shard) if shard.model.starts else _ours(shard))


def _published(shard: FleetShard) -> Iterator[dict[str, Any]]:
    """The paper's protocol: all rows are censored at what was observed; one start for each subset."""
    from unmet.estimators import CensoredQuantileRegressor, iter_fit_many

    split = thirds(len(shard.demand.latent) - LAGS)
    fitted_on = slice(0, split.validation.stop)
    stopping = np.arange(split.validation.stop) >= split.train.stop
    inputs, problems = [], []
    for subset, observed in enumerate(shard.demand.observed[shard.alpha]):
        X, y = lag_columns(observed)[fitted_on], observed[LAGS:][fitted_on]
        problem = {"X": X, "y": y, "validation": stopping, "random_state": random_state(shard.seed(subset))}
        if shard.model.sees == "rule":
            problem["censored"] = np.ones(len(y), bool)
            problem["threshold"] = y
        inputs.append(lag_columns(observed)[split.test])
        problems.append(problem)
    estimator = CensoredQuantileRegressor(quantiles=QUANTILES, **_parameters(shard))
    for subset, model in sorted_pairs(iter_fit_many(estimator, problems, progress=False)):
        tested = model.predict_quantiles(inputs[subset])
        yield _row(shard, shard.model.name, subset, int(model.n_iter_), tested, split.test)


def _ours(shard: FleetShard) -> Iterator[dict[str, Any]]:
    """Counts divided by the known share of the fleet that is left, and then nothing is censored."""
    from unmet.estimators import CensoredQuantileRegressor, iter_fit_many

    split = thirds(len(shard.demand.latent) - LAGS)
    last = max(split.train.stop, split.test.start - KEPT_BACK)
    cells, problems = [], []
    for subset, observed in enumerate(shard.demand.observed[shard.alpha]):
        scaled = observed / (1 - shard.alpha)
        X = calendar_columns(scaled, np.ones(len(scaled), bool), shard.demand.days, shard.demand.holiday)
        y = scaled[LAGS:]
        cells.append((X, y))
        problems.append({"X": X[:last], "y": y[:last], "random_state": random_state(shard.seed(subset))})
    estimator = CensoredQuantileRegressor(**_parameters(shard))
    for subset, model in sorted_pairs(iter_fit_many(estimator, problems, progress=False)):
        X, y = cells[subset]
        raw = model.predict_quantiles(X[last:], quantiles=QUANTILES)
        calibrated = rolling_intervals(y[last:], *raw.T, coverage=COVERAGE)
        for name, interval in ((shard.model.name, calibrated), (shard.model.name + RAW, raw)):
            tested = interval[split.test.start - last :]
            yield _row(shard, name, subset, int(model.n_iter_), tested, split.test)


def _parameters(shard: FleetShard) -> dict[str, Any]:
    parameters = dict(shard.model.parameters)
    if shard.config.epochs is not None:
        parameters["max_epochs"] = shard.config.epochs
    return parameters


def _row(
    shard: FleetShard, name: str, subset: int, epochs: int, interval: NDArray[np.float64], test: slice
) -> dict[str, Any]:
    latent = shard.demand.latent[LAGS:][test]
    return {
        "alpha": shard.alpha,
        "block": shard.model.block,
        "model": name,
        "subset": subset,
        "epochs": epochs,
        "icp": metrics.icp(latent, *interval.T),
        "mil": metrics.mil(*interval.T),
        "crossing_loss": metrics.crossing_loss(interval) / len(latent),
    }
