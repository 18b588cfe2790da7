"""Fit many problems at once: they share compiled programs, slots and cores."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, count, islice
from math import ceil
from typing import TYPE_CHECKING, Any

from unmet.estimators._checks import check_jobs
from unmet.estimators._network import NetworkRegressor
from unmet.estimators._prepare import Prepared
from unmet.estimators._settings import Settings
from unmet.estimators._stacks import prepare_many
from unmet.training import Job, Trained, train

if TYPE_CHECKING:
    from unmet.runs import Mailed, Parcel, Parcels

    Task = tuple[NetworkRegressor, int, Parcel, Parcels | Mailed]

# Problems per task of a worker. At the end of a task its slots run empty, which costs as much as a hundred
# small problems: tasks are as large as sharing the work evenly allows.
_MOST_PER_TASK = 8192
_FEWEST_PER_TASK = 512
_MOST_BYTES_PER_TASK = 1 << 27
_ROUNDS = 2.5  # tasks per process, if all were as large as the next one


def fit_many(
    estimator: NetworkRegressor,
    problems: Iterable[dict[str, Any]],
    *,
    n_jobs: int = 1,
    progress: bool | None = None,
    cluster: Any = None,
) -> list[NetworkRegressor]:
    """Fit one estimator to many problems: the same bits as one `fit` each, many times faster.

    Parameters
    ----------
    estimator
        Settings for all problems. It stays unfitted.
    problems
        Dicts with X and y (or lower and upper), and optionally threshold, censored, validation,
        sample_weight, random_state. Any other key is a parameter of the estimator for that problem only.
    n_jobs
        Number of processes, this one among them. −1 for one per core.
    cluster
        Instead: a `unmet.runs.Cluster`, the address of a Dask scheduler, a Dask `Client`, or "local".

    Returns
    -------
    list
        Fitted copies of the estimator, in the order of the problems.
    """
    from unmet.runs import collect_seldom

    # With workers no gain was found: runs of the same code differ by more.
    with collect_seldom() if n_jobs == 1 and cluster is None else nullcontext():
        found = dict(iter_fit_many(estimator, problems, n_jobs=n_jobs, progress=progress, cluster=cluster))
    return [found[index] for index in range(len(found))]


def iter_fit_many(
    estimator: NetworkRegressor,
    problems: Iterable[dict[str, Any]],
    *,
    n_jobs: int = 1,
    progress: bool | None = None,
    cluster: Any = None,
) -> Iterator[tuple[int, NetworkRegressor]]:
    """Yield (index, fitted estimator) as fits finish. Memory does not grow with the number of problems."""
    from unmet import runs

    if isinstance(problems, dict):
        raise ValueError("problems must be a list of dicts, not one dict: use fit for one problem")
    total = len(problems) if hasattr(problems, "__len__") else None  # type: ignore[arg-type]
    workers = check_jobs(n_jobs)
    if not isinstance(estimator, NetworkRegressor):
        name = type(estimator).__name__
        raise ValueError(f"fit_many trains networks: fit {name} to one problem at a time")
    if estimator.warm_start:
        raise ValueError("fit_many starts every problem afresh: set warm_start=False")
    if cluster is not None and workers != 1:
        raise ValueError("give n_jobs= for processes on this machine or cluster= for another, not both")
    with (
        runs.progress(total, "fit", "problem", shown=progress) as bar,
        runs.connected(cluster) as connected,
    ):
        source = _Source(problems)
        if connected is None and (workers == 1 or runs.in_worker()):
            for index, fitted in _fit_here(estimator, source):
                bar.advance(1)
                yield index, fitted
            return
        parameters = estimator.get_params(deep=False)
        processes = workers if connected is None else connected.threads()
        # Through shared memory here, and through the network to other machines.
        with runs.Parcels() if connected is None else nullcontext(runs.Mailed()) as parcels:
            sent: dict[int, runs.Parcel] = {}

            def tasks() -> "Iterator[Task]":
                for number, chunk in enumerate(_chunks(source, total, processes)):
                    sent[number] = parcels.pack(chunk)
                    parcels.offer(number)
                    yield estimator, number, sent[number], parcels

            def taken_back() -> "Iterator[tuple[int, dict[str, Any]]]":
                """Yield what waits behind the tasks under way: it would keep this process idle at the end."""
                for number in sorted(sent, reverse=True):
                    if number in sent and parcels.take_back(number):
                        yield from sent[number].open(copy=False)

            if connected is None:  # this process trains too: nothing of its share is packed
                own = _fit_here(estimator, chain(source, taken_back()))
                shared: Any = {"jobs": workers - 1, "beside": own}
            else:
                shared = {"cluster": connected}
            for number, results in runs.run_shards(_fit_chunk, tasks(), **shared):
                if number < 0:
                    bar.advance(1)
                    yield results
                    continue
                parcels.drop(sent.pop(number))
                states = results.open()
                parcels.drop(results)
                for index, state in states:
                    fitted = type(estimator).__new__(type(estimator))
                    fitted.__dict__.update(parameters)
                    fitted.__dict__.update(state)
                    bar.advance(1)
                    yield index, fitted


class _Source:
    """Problems with their numbers, taken by tasks and by this process in turn."""

    def __init__(self, problems: Iterable[dict[str, Any]]) -> None:
        self.taken = 0
        self._problems = iter(problems)

    def __iter__(self) -> "_Source":
        return self

    def __next__(self) -> tuple[int, dict[str, Any]]:
        problem = next(self._problems)
        self.taken += 1
        return self.taken - 1, problem


def _chunks(source: _Source, total: int | None, processes: int) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Yield the problems of each task. If the total is known, later tasks are smaller to end together."""
    while True:
        size = _MOST_PER_TASK
        if total is not None:
            fewest = min(_FEWEST_PER_TASK, ceil(total / (16 * processes)))
            size = max(1, fewest, min(size, ceil((total - source.taken) / (_ROUNDS * processes))))
        chunk, held = [], 0
        for item in islice(source, size):
            chunk.append(item)
            held += getattr(item[1].get("X"), "nbytes", 0) if isinstance(item[1], dict) else 0
            if held >= _MOST_BYTES_PER_TASK:
                break
        if not chunk:
            return
        yield chunk


def _fit_chunk(task: "Task") -> "Parcel":
    """Fit the problems of a task. Return only what differs from the common estimator."""
    estimator, number, problems, parcels = task
    if not parcels.begin(number):
        return parcels.pack([])
    common = estimator.get_params(deep=False)
    nothing = object()
    results = []
    for index, fitted in _fit_here(estimator, problems.open(copy=False)):
        state = {k: v for k, v in vars(fitted).items() if common.get(k, nothing) is not v}
        results.append((index, state))
    return parcels.pack(results)


def _fit_here(
    estimator: NetworkRegressor, problems: Iterable[tuple[int, dict[str, Any]]]
) -> Iterator[tuple[int, NetworkRegressor]]:
    """Feed the jobs of all problems to the trainer and reassemble the finished networks."""
    waiting: dict[int, tuple[int, NetworkRegressor, Prepared, Settings, dict[Any, Trained]]] = {}
    numbers = count()

    def jobs() -> Iterator[Job]:
        for index, one, settings, prepared in prepare_many(estimator, problems):
            number = next(numbers)
            waiting[number] = (index, one, prepared, settings, {})
            for job in prepared.jobs:
                yield Job((number, job.tag), job.spec, job.floats, job.integers)

    for (number, tag), trained in train(jobs()):
        index, one, prepared, settings, results = waiting[number]
        results[tag] = trained
        if len(results) == len(prepared.jobs):
            del waiting[number]
            yield index, one._finish(prepared, results, settings)
