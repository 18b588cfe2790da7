"""The runner of the synthetic experiments: make data, fit everything at once, measure, average."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from unmet.papers._cells import Cell, averaged, from_json, read_published, select, to_json
from unmet.papers._experiments import Block, Experiment
from unmet.papers._measures import MEASURES, Prediction
from unmet.papers._models import Model
from unmet.papers._pieces import Log, file_name, finish_pieces

Task = tuple[Model, Any, int]  # model, data, run


def run_experiment(experiment: Experiment, folder: Path, *, jobs: int = 1) -> list[Cell]:
    """Return all cells, published ones first. A block that the same code has finished is not run again."""
    from unmet.runs import progress

    by_key = {f"{file_name(block.name)}.json": block for block in experiment.blocks}

    def missing(keys: list[str], log: Log) -> Iterator[tuple[str, bytes]]:
        with progress(len(by_key), experiment.name, "blocks") as bar:
            bar.resume(len(by_key) - len(keys))
            # Together, ours come first: their programs take longest to compile, and others compile beside.
            for group in [keys[::-1]] if experiment.together else [[key] for key in keys]:
                found = run_blocks(experiment, [by_key[key] for key in group], jobs=jobs)
                for key, cells in zip(group, found):
                    yield key, to_json(cells).encode()
                    bar.advance(1)

    source = {"experiment": repr(experiment)}
    paths = finish_pieces(folder / "runs" / experiment.name, source, list(by_key), missing)
    published = select(read_published(), table=experiment.name)
    return [*published, *(cell for path in paths for cell in from_json(path.read_bytes()))]


def run_block(experiment: Experiment, block: Block, *, jobs: int = 1) -> list[Cell]:
    """Return all cells of one block."""
    return run_blocks(experiment, [block], jobs=jobs)[0]


def run_blocks(experiment: Experiment, blocks: Sequence[Block], *, jobs: int = 1) -> list[list[Cell]]:
    """Return all cells of each block. Blocks fitted together compile their programs beside each other."""
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
    return [averaged((experiment.name, block.name, *key), values) for key, values in found.items()]


def predict(experiment: Experiment, pairs: Iterable[tuple[Task, Any]]) -> Iterator[tuple[Task, Prediction]]:
    """Yield what fitted estimators predict for the rows to be measured."""
    for (model, data, run), fitted in pairs:
        rows = data.split().test if experiment.rows == "test" else np.arange(len(data.y))
        if model.sees == "truth":
            quantiles = data.quantile(list(experiment.quantiles), model.truth)[rows]
        else:
            quantiles = fitted.predict_quantiles(data.X[rows], quantiles=experiment.quantiles)
        yield (model, data, run), Prediction(data, rows, experiment.quantiles, quantiles)


def make_tasks(experiment: Experiment, block: Block) -> list[Task]:
    """Return the fits of a block, in a fixed order."""
    from unmet.datasets import make_synthetic

    datasets = [make_synthetic(noise, seed=seed) for noise in experiment.noises for seed in experiment.seeds]
    return [
        (model, data, run)
        for model in block.models
        for data in datasets
        for run in range((block.repeats or experiment.repeats) if model.seeded else 1)
    ]


def fit_tasks(experiment: Experiment, tasks: list[Task], *, jobs: int = 1) -> list[tuple[Task, Any]]:
    """Return the tasks in their order, each with its fitted estimator (None where there is none)."""
    fitted = _fit(experiment, tasks, jobs)
    return [(task, fitted.get(index)) for index, task in enumerate(tasks)]


def _fit(experiment: Experiment, tasks: list[Task], jobs: int) -> dict[int, Any]:
    """Return fitted estimators by the index of their task; problems of one class share programs and slots."""
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
    """Return the problem of one task: its rows, what it may see of them, its settings and its seed."""
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
