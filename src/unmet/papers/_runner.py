"""The one runner that all experiments share: make data, fit everything at once, measure, average."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from unmet.papers._cells import Cell, rounded
from unmet.papers._experiments import Block, Experiment
from unmet.papers._measures import MEASURES, Prediction
from unmet.papers._models import Model

Task = tuple[Model, Any, int]  # model, data, run


def run_block(experiment: Experiment, block: Block, *, jobs: int = 1) -> list[Cell]:
    """All cells of one block."""
    return run_blocks(experiment, [block], jobs=jobs)[0]


def run_blocks(experiment: Experiment, blocks: Sequence[Block], *, jobs: int = 1) -> list[list[Cell]]:
    """All cells of each block. Blocks that are fitted together compile their programs beside each other."""
    tasks = [make_tasks(experiment, block) for block in blocks]
    fitted = iter(fit_tasks(experiment, [task for part in tasks for task in part], jobs=jobs))
    return [
        _measure(experiment, block, predict(experiment, islice(fitted, len(part))))
        for block, part in zip(blocks, tasks)
    ]


def _measure(
    experiment: Experiment, block: Block, predictions: Iterable[tuple[Task, Prediction]]
) -> list[Cell]:
    found: dict[tuple[str, str, str, str, str, str], list[float]] = {}
    for (model, data, _), prediction in predictions:
        for measure in experiment.measures:
            for theta, rows, truth, name, value in MEASURES[measure](prediction):
                key = (data.noise, model.name, theta, rows, truth, name)
                found.setdefault(key, []).append(value)
    cells = []
    for key, values in found.items():
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        cells.append(
            rounded(Cell(experiment.name, block.name, *key, float(np.mean(values)), sd, len(values)))
        )
    return cells


def predict(experiment: Experiment, pairs: Iterable[tuple[Task, Any]]) -> Iterator[tuple[Task, Prediction]]:
    """What fitted estimators predict for the rows to be measured."""
    for (model, data, run), fitted in pairs:
        rows = data.split().test if experiment.rows == "test" else np.arange(len(data.y))
        if model.sees == "truth":
            quantiles = data.quantile(list(experiment.quantiles), model.truth)[rows]
        else:
            quantiles = fitted.predict_quantiles(data.X[rows], quantiles=experiment.quantiles)
        yield (model, data, run), Prediction(data, rows, experiment.quantiles, quantiles)


def make_tasks(experiment: Experiment, block: Block) -> list[Task]:
    """The fits of a block, in a fixed order."""
    from unmet.datasets import make_synthetic

    datasets = [make_synthetic(noise, seed=seed) for noise in experiment.noises for seed in experiment.seeds]
    return [
        (model, data, run)
        for model in block.models
        for data in datasets
        for run in range((block.repeats or experiment.repeats) if model.seeded else 1)
    ]


def fit_tasks(experiment: Experiment, tasks: list[Task], *, jobs: int = 1) -> list[tuple[Task, Any]]:
    """The tasks in their order, each with its fitted estimator (None where there is none)."""
    fitted = _fit(experiment, tasks, jobs)
    return [(task, fitted.get(index)) for index, task in enumerate(tasks)]


def _fit(experiment: Experiment, tasks: list[Task], jobs: int) -> dict[int, Any]:
    """Fitted estimators by the index of their task; problems of one class share programs and slots."""
    fitted: dict[int, Any] = {}
    for kind in ("quantile", "tobit"):
        indices = [
            index
            for index, (model, _, _) in enumerate(tasks)
            if model.estimator == kind and model.sees != "truth"
        ]
        if indices:
            from unmet import estimators

            estimator = {
                "quantile": estimators.CensoredQuantileRegressor,
                "tobit": estimators.TobitRegressor,
            }[kind](side="left", quantiles=experiment.quantiles)
            problems = [make_problem(experiment, *tasks[index]) for index in indices]
            models = estimators.fit_many(estimator, problems, n_jobs=jobs)
            fitted.update(zip(indices, models))
    return fitted


def make_problem(experiment: Experiment, model: Model, data: Any, run: int) -> dict[str, Any]:
    """The problem of one task: its rows, what it may see of them, its settings and its seed."""
    split = data.split()
    rows = split.train if model.validation == "nothing" else np.concatenate([split.train, split.validation])
    problem: dict[str, Any] = {"X": data.X[rows], "y": data.y[rows], "random_state": run}
    if model.sees == "latent":
        problem["y"] = data.latent[rows]
    elif model.sees == "threshold":
        problem["threshold"] = data.threshold[rows]
    parameters = dict(model.parameters)
    if model.validation == "stop":
        problem["validation"] = np.arange(len(rows)) >= len(split.train)
    if model.summed:
        # The sum of the loss over rows and levels is this many times its mean.
        together = model.estimator == "quantile" and parameters.get("joint", True)
        times = len(split.train) * (len(experiment.quantiles) if together else 1)
        parameters["clip_norm"] /= times
        parameters["l2"] /= times
    if experiment.epochs is not None:
        parameters["max_epochs"] = experiment.epochs
    return {**problem, **parameters}
