"""`unmet demo --models`: six models on data whose truth is known, as a table and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.datasets import SyntheticData

LEVELS = (0.05, 0.5, 0.95)
# As in the paper: one linear layer with no other intercept than x0 = 1, Adam at a constant 0.01, patience 10.
# Only the start differs: the paper's networks start at ones, which happen to be the true coefficients.
PAPER = {
    "head": "free",
    "loss": "published",
    "learning_rate": 0.01,
    "schedule": "constant",
    "patience": 10,
    "l2": 0.001,
    "initialiser": "normal",
    "standardise": False,
    "fit_intercept": False,
}


@dataclass(frozen=True)
class Result:
    """A fitted model and how well it did on the test rows."""

    name: str
    about: str
    model: Any
    seconds: float
    errors: tuple[float, ...]  # mean absolute error against the true quantiles, one per level
    covered: float
    length: float
    crossings: int

    @property
    def error(self) -> float:
        """The mean of the errors over the levels."""
        return sum(self.errors) / len(self.errors)


def show_models(output: Path, noise: str, seed: int, quiet: bool) -> None:
    """Fit six models to censored data, compare them with the truth, write a figure.

    QNN ignores the censoring; CQNN, Multi-CQNN and Tobit know of it; then the default of this package; and
    the oracle, the same model fitted to the latent values: as good as it gets.
    """
    from unmet.cli._demo_figure import write_figure
    from unmet.cli._demo_table import tell
    from unmet.datasets import make_synthetic

    data = make_synthetic(noise, seed=seed)
    output.mkdir(parents=True, exist_ok=True)
    results, preparing = compare(data, shown=False if quiet else None)
    files = write_figure(data, results, output)
    if not quiet:
        tell(data, results, preparing, files)


def compare(data: SyntheticData, shown: bool | None = None) -> tuple[list[Result], float]:
    """Fit and measure every model; the seconds that went into preparing programs come second.

    Each model is fitted twice, to the same bits: the first time includes compiling, the second is the time
    that is told.
    """
    from time import perf_counter

    from unmet.runs import progress

    results, preparing = [], 0.0
    with progress(6, "Fitting", "models", shown=shown) as bar:
        for name, about, model, rows in models(data):
            began = perf_counter()
            model.fit(**rows)
            first = perf_counter() - began
            model.fit(**rows)
            seconds = perf_counter() - began - first
            preparing += max(0.0, first - seconds)
            results.append(measure(data, name, about, model, seconds))
            bar.advance()
    return results, preparing


def models(data: SyntheticData) -> Iterator[tuple[str, str, Any, dict[str, Any]]]:
    """Name, description, unfitted model and arguments of `fit`, one after the other."""
    import numpy as np

    from unmet.estimators import CensoredQuantileRegressor, TobitRegressor

    split = data.split()
    rows = np.sort(np.concatenate([split.train, split.validation]))
    unaware = {"X": data.X[rows], "y": data.y[rows]}
    aware = {**unaware, "threshold": data.threshold[rows]}
    latent = {"X": data.X[rows], "y": data.latent[rows]}
    stop = {"validation": np.isin(rows, split.validation)}
    common: dict[str, Any] = {"quantiles": LEVELS, "side": data.side, "random_state": 0, "progress": False}
    paper = {**common, **PAPER}
    yield "QNN", "ignores censoring", CensoredQuantileRegressor(**paper, joint=False), unaware | stop
    yield "CQNN", "a network per quantile", CensoredQuantileRegressor(**paper, joint=False), aware | stop
    yield "Multi-CQNN", "one network", CensoredQuantileRegressor(**paper), aware | stop
    yield "Tobit", "normal, one spread", TobitRegressor(**common), aware
    yield "unmet", "the default", CensoredQuantileRegressor(**common), aware
    yield "oracle", "sees latent values", CensoredQuantileRegressor(**common), latent


def measure(data: SyntheticData, name: str, about: str, model: Any, seconds: float) -> Result:
    """Hold one model against the truth on the test rows."""
    from unmet import metrics

    test = data.split().test
    estimated = model.predict_quantiles(data.X[test])
    truth = data.quantile(LEVELS)[test]
    low, high = estimated[:, 0], estimated[:, -1]
    return Result(
        name,
        about,
        model,
        seconds,
        tuple(metrics.mae(estimated[:, k], truth[:, k]) for k in range(len(LEVELS))),
        metrics.icp(data.latent[test], low, high),
        metrics.mil(low, high),
        int(metrics.crossings(estimated)),
    )
