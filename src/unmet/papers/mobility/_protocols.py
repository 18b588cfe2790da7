"""One shard of the bike grid: censor, fit everything at once, measure every start."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import metrics
from unmet.calibration import rolling_intervals
from unmet.papers.mobility._bikes import BikeShard, censor
from unmet.papers.mobility._models import COVERAGE, QUANTILES, RAW
from unmet.papers.mobility._parquet import to_parquet
from unmet.papers.mobility._series import LAGS, calendar_columns, lag_columns, thirds

Floats = NDArray[np.float64]
# Days before the test third on which ours is not trained, so that calibration starts with unseen days.
KEPT_BACK = 60
_NAN = float("nan")


def compute(shard: BikeShard) -> bytes:
    """A Parquet table with one row for each γ, censoring and start."""
    return to_table(_published(shard) if shard.model.starts else _ours(shard))


def to_table(rows: Iterable[dict[str, Any]]) -> bytes:
    """Rows with the same names as a Parquet file."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return to_parquet(columns)


def _published(shard: BikeShard) -> Iterator[dict[str, Any]]:
    """The paper's protocol: early stopping on the validation third, ten starts, one estimate each."""
    from unmet.estimators import CensoredQuantileRegressor, iter_fit_many

    latent = shard.demand.latent[LAGS:]
    split = thirds(len(latent))
    fitted_on = slice(0, split.validation.stop)
    stopping = np.arange(split.validation.stop) >= split.train.stop
    cells, problems = [], []
    for gamma in shard.gammas:
        for censoring in range(shard.config.censorings):
            observed, flags = censor(shard, gamma, censoring)
            X, y, censored = lag_columns(observed), observed[LAGS:], flags[LAGS:]
            problem = {"X": X[fitted_on], "y": y[fitted_on], "validation": stopping}
            if shard.model.sees == "rule":
                factor = latent[split.train].mean() / y[split.train].mean()
                problem |= {"threshold": y[fitted_on] * factor, "censored": censored[fitted_on]}
            for start in range(shard.config.starts):
                cells.append((gamma, censoring, start, X, y, censored))
                problems.append(
                    {**problem, "random_state": random_state(shard.seed(gamma, censoring, start))}
                )
    parameters = _parameters(shard)
    if shard.model.summed:
        # The sum of the loss over rows and levels is this many times its mean.
        together = len(QUANTILES) if parameters.get("joint", True) else 1
        parameters["clip_norm"] /= together * split.train.stop
    estimator = CensoredQuantileRegressor(quantiles=QUANTILES, **parameters)
    for index, model in sorted_pairs(iter_fit_many(estimator, problems, progress=False)):
        gamma, censoring, start, X, y, censored = cells[index]
        quantiles = model.predict_quantiles(X[split.validation.start :])
        count = split.validation.stop - split.validation.start
        checked, tested = quantiles[:count], quantiles[count:]
        row = _row(shard, shard.model.name, gamma, censoring, start)
        row["epochs"] = int(model.n_iter_)
        row["train_mean"] = float(y[split.train].mean())
        row["validation_icp"] = metrics.icp(latent[split.validation], *checked.T)
        row["validation_mil"] = metrics.mil(*checked.T)
        yield row | _measures(shard, tested, split.test, ~censored[split.test])


def _ours(shard: BikeShard) -> Iterator[dict[str, Any]]:
    """Calendar columns, the class as it comes, and intervals calibrated on the latest 60 days."""
    from unmet.estimators import CensoredQuantileRegressor, iter_fit_many

    latent = shard.demand.latent[LAGS:]
    split = thirds(len(latent))
    last = max(split.train.stop, split.test.start - KEPT_BACK)
    cells, problems = [], []
    for gamma in shard.gammas:
        for censoring in range(shard.config.censorings):
            observed, flags = censor(shard, gamma, censoring)
            X = calendar_columns(observed, ~flags, shard.demand.days, shard.demand.holiday)
            y, censored = observed[LAGS:], flags[LAGS:]
            used = np.arange(len(y)) < last
            problem: dict[str, Any] = {"random_state": random_state(shard.seed(gamma, censoring, 0))}
            if shard.model.sees == "exact":
                used &= ~censored
            else:
                problem["censored"] = censored[used]
            cells.append((gamma, censoring, X, y, censored))
            problems.append({**problem, "X": X[used], "y": y[used]})
    estimator = CensoredQuantileRegressor(**_parameters(shard))
    for index, model in sorted_pairs(iter_fit_many(estimator, problems, progress=False)):
        gamma, censoring, X, y, censored = cells[index]
        raw = model.predict_quantiles(X[last:], quantiles=QUANTILES)
        calibrated = rolling_intervals(y[last:], *raw.T, exact=~censored[last:], coverage=COVERAGE)
        for name, interval in ((shard.model.name, calibrated), (shard.model.name + RAW, raw)):
            row = _row(shard, name, gamma, censoring, 0)
            row["epochs"] = int(model.n_iter_)
            row["train_mean"] = float(y[split.train].mean())
            row["validation_icp"] = row["validation_mil"] = _NAN
            tested = interval[split.test.start - last :]
            yield row | _measures(shard, tested, split.test, ~censored[split.test])


def sorted_pairs(pairs: Any) -> Any:
    """Fitted models in the order of their problems, each let go of once it was used."""
    waiting, following = {}, 0
    for index, model in pairs:
        waiting[index] = model
        while following in waiting:
            yield following, waiting.pop(following)
            following += 1


def _parameters(shard: BikeShard) -> dict[str, Any]:
    parameters = dict(shard.model.parameters)
    if shard.config.epochs is not None:
        parameters["max_epochs"] = shard.config.epochs
    return parameters


def _row(shard: BikeShard, name: str, gamma: float, censoring: int, start: int) -> dict[str, Any]:
    return {
        "hub": shard.hub,
        "intensity": shard.intensity,
        "gamma": gamma,
        "block": shard.model.block,
        "model": name,
        "censoring": censoring,
        "start": start,
    }


def _measures(shard: BikeShard, interval: Floats, test: slice, exact: NDArray[np.bool_]) -> dict[str, float]:
    """Measures against latent demand on the test third: all rows, and those that were not censored."""
    latent, (low, high) = shard.demand.latent[LAGS:][test], interval.T
    found = {"icp": metrics.icp(latent, low, high), "mil": metrics.mil(low, high)}
    some = bool(exact.any())
    found["icp_exact"] = metrics.icp(latent, low, high, rows=exact) if some else _NAN
    found["mil_exact"] = metrics.mil(low, high, rows=exact) if some else _NAN
    found["crossing_loss"] = metrics.crossing_loss(interval) / len(latent)
    for name, truth in shard.demand.truth.items():
        true = truth[LAGS:][test]
        found[f"error_low_{name}"] = metrics.mae(low, true[:, 0])
        found[f"error_high_{name}"] = metrics.mae(high, true[:, 1])
    return found


def random_state(entropy: list[int]) -> int:
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
