"""How a shard is computed: the paper's protocol for its models, and ours."""

import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import metrics
from unmet.calibration import rolling_intervals
from unmet.papers.mobility._grid_models import COVERAGE, QUANTILES, RAW
from unmet.papers.mobility._series import LAGS, calendar_columns, lag_columns, thirds
from unmet.papers.mobility._shards import Case, Floats, Shard
from unmet.tables import Columns, read_columns, write_columns

# Days before the test third on which ours is not trained, so that calibration starts with unseen days.
KEPT_BACK = 60
_NAN = float("nan")


def compute(shard: Shard) -> bytes:
    """Return a Parquet table with one row for each case and start."""
    with warnings.catch_warnings():
        # A reduced fleet censors every row. That is the paper's point, and the result says what it means.
        warnings.filterwarnings("ignore", message="every row is censored", category=UserWarning)
        rows = list(_as_published(shard) if shard.model.starts else _ours(shard))
    with tempfile.TemporaryDirectory(prefix="unmet-") as folder:
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return write_columns(Path(folder) / "table.parquet", columns).read_bytes()


def read_rows(paths: Sequence[Path], order: Sequence[str]) -> Columns:
    """Return all rows of the files, ordered by the named columns, the first of which varies slowest."""
    parts = [read_columns(path)[0] for path in paths]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    keys = [table[name].astype(str) if table[name].dtype == object else table[name] for name in order]
    rows = np.lexsort(keys[::-1])
    return {name: values[rows] for name, values in table.items()}


def _as_published(shard: Shard) -> Iterator[dict[str, Any]]:
    """Fit lags as the paper does: stop early on the validation third, from every random start."""
    tasks, problems = [], []
    for case in shard.cases:
        X, y = lag_columns(case.observed), case.observed[LAGS:]
        split = thirds(len(y))
        seen = slice(0, split.validation.stop)
        stopping = np.arange(split.validation.stop) >= split.train.stop
        problem = {"X": X[seen], "y": y[seen], "validation": stopping}
        if shard.model.sees == "rule":
            problem |= {"threshold": case.threshold[LAGS:][seen], "censored": case.censored[LAGS:][seen]}
        for start, seed in enumerate(case.seeds):
            tasks.append((case, X, y, start))
            problems.append({**problem, "random_state": seed})
    parameters = {"quantiles": QUANTILES, **shard.model.parameters}
    if shard.model.summed:
        # The sum of the loss over rows and levels is this many times its mean.
        together = len(QUANTILES) if parameters.get("joint", True) else 1
        parameters["clip_norm"] /= together * split.train.stop
    for (case, X, y, start), model in _fit(shard, parameters, tasks, problems):
        latent = case.demand.latent[LAGS:]
        checked = model.predict_quantiles(X[split.validation])
        validation = {
            "validation_icp": metrics.icp(latent[split.validation], *checked.T),
            "validation_mil": metrics.mil(*checked.T),
        }
        tested = model.predict_quantiles(X[split.test])
        yield _row(shard, shard.model.name, case, start, model, y) | validation | _measures(case, tested)


def _ours(shard: Shard) -> Iterator[dict[str, Any]]:
    """Fit calendar columns with the class as it comes; calibrate intervals on the latest 60 days.

    Where the share of demand that was observed is known, counts are divided by it and nothing is censored.
    """
    tasks, problems = [], []
    for case in shard.cases:
        known = case.share is not None
        seen = case.observed if case.share is None else case.observed / case.share
        exact = np.ones(len(seen), bool) if known else ~case.censored
        X = calendar_columns(seen, exact, case.demand.days, case.demand.holiday)
        y, exact = seen[LAGS:], exact[LAGS:]
        split = thirds(len(y))
        last = max(split.train.stop, split.test.start - KEPT_BACK)
        used = np.arange(len(y)) < last
        problem: dict[str, Any] = {"random_state": case.seeds[0]}
        if shard.model.sees == "exact":
            used &= exact
        elif not known:
            problem["censored"] = ~exact[used]
        tasks.append((case, X, y, exact, last))
        problems.append({**problem, "X": X[used], "y": y[used]})
    for (case, X, y, exact, last), model in _fit(shard, dict(shard.model.parameters), tasks, problems):
        raw = model.predict_quantiles(X[last:], quantiles=QUANTILES)
        calibrated = rolling_intervals(y[last:], *raw.T, exact=exact[last:], coverage=COVERAGE)
        for name, interval in ((shard.model.name, calibrated), (shard.model.name + RAW, raw)):
            tested = interval[thirds(len(y)).test.start - last :]
            nothing = {"validation_icp": _NAN, "validation_mil": _NAN}
            yield _row(shard, name, case, 0, model, y) | nothing | _measures(case, tested)


def _fit(
    shard: Shard, parameters: dict[str, Any], tasks: Sequence[Any], problems: Sequence[dict[str, Any]]
) -> Iterator[tuple[Any, Any]]:
    """Fit all problems at once; yield each task with its model, in the order of the tasks."""
    from unmet.estimators import CensoredQuantileRegressor, iter_fit_many

    if shard.epochs is not None:
        parameters["max_epochs"] = shard.epochs
    estimator = CensoredQuantileRegressor(**parameters)
    for index, model in _in_order(iter_fit_many(estimator, problems, progress=False)):
        yield tasks[index], model


def _in_order(pairs: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield fitted models in the order of their problems, and let go of each once it was used."""
    waiting: dict[int, Any] = {}
    following = 0
    for index, model in pairs:
        waiting[index] = model
        while following in waiting:
            yield following, waiting.pop(following)
            following += 1


def _row(shard: Shard, name: str, case: Case, start: int, model: Any, y: Floats) -> dict[str, Any]:
    return {
        **case.labels,
        "block": shard.model.block,
        "model": name,
        "start": start,
        "epochs": int(model.n_iter_),
        "train_mean": float(y[thirds(len(y)).train].mean()),
    }


def _measures(case: Case, interval: NDArray[np.float64]) -> dict[str, float]:
    """Return measures against latent demand on the test third: all days, and those not censored."""
    test = thirds(len(case.observed) - LAGS).test
    latent, (low, high) = case.demand.latent[LAGS:][test], interval.T
    exact = ~case.censored[LAGS:][test]
    some = bool(exact.any())
    found = {
        "icp": metrics.icp(latent, low, high),
        "mil": metrics.mil(low, high),
        "icp_exact": metrics.icp(latent, low, high, rows=exact) if some else _NAN,
        "mil_exact": metrics.mil(low, high, rows=exact) if some else _NAN,
        "crossing_loss": metrics.crossing_loss(interval) / len(latent),
    }
    for name, truth in case.demand.truth.items():
        true = truth[LAGS:][test]
        found[f"error_low_{name}"] = metrics.mae(low, true[:, 0])
        found[f"error_high_{name}"] = metrics.mae(high, true[:, 1])
    return found
