"""Run a function over shards of work: in this process, in one process per core, or on a cluster.

No other module of the package starts processes.
"""

import atexit
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from unmet.runs._workers import (
    Failure,
    call,
    deaf_to_ctrl_c,
    in_worker,
    pack,
    start_worker,
    worker_environment,
)
from unmet.runs._xla_threads import allowed_cores

Shard = TypeVar("Shard")
Result = TypeVar("Result")

_IDLE_SECONDS = 120
MOST_JOBS = 1024
# How often a process with work of its own looks for results of its workers.
_SECONDS_BETWEEN_LOOKS = 0.02
_NOTHING: Any = object()
# A shard is given up after this many deaths of its worker.
_MAX_DEATHS = 2


class ShardError(RuntimeError):
    """A shard failed. `index` says which; `__cause__` is what it raised, if that could be sent."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.index)


class WorkerDiedError(ShardError):
    """Worker processes died again and again under a shard: killed, out of memory, or crashed."""


class ShardValueError(ShardError, ValueError):
    """A shard raised a ValueError: something in its input is wrong."""


def run_shards(
    function: Callable[[Shard], Result],
    shards: Iterable[Shard],
    *,
    jobs: int = 1,
    cluster: Any = None,
    initializer: Callable[[], object] | None = None,
    beside: Iterator[Result] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield `(index, function(shard))` for each shard as it finishes.

    Parameters
    ----------
    function : pure function of one shard. Lambdas and functions of scripts and notebooks work too: what a
        worker cannot import is sent by value.
    shards : any iterable. It is read as workers become free, at most `2 * jobs` ahead of what was yielded.
    jobs : number of processes. 1 runs all shards in this process, in order. More start workers, each on one
        core, which wait two minutes for the next call.
    cluster : a `Cluster`, the address of a Dask scheduler, a Dask `Client`, or "local", to send the shards
        there; needs the extra `unmet[cluster]`.
    initializer : called once in every process before its first shard.
    beside : work of this process while workers have theirs; what it yields comes with the index −1. It makes
        one more process than `jobs`.

    Raises
    ------
    ShardError
        A shard raised (also a ValueError if that was one), or a worker died twice under it.

    Notes
    -----
    Workers start no processes: inside one, all shards run there. A shard whose worker died is run once more.
    Ctrl-C ends the workers and raises KeyboardInterrupt.

    Examples
    --------
    >>> sorted(run_shards(lambda shard: shard**2, [1, 2, 3]))
    [(0, 1), (1, 4), (2, 9)]
    """
    if not callable(function):
        raise ValueError(f"function must be callable, not {type(function).__name__}")
    if not isinstance(shards, Iterable):
        raise ValueError(f"shards must be an iterable, not {type(shards).__name__}")
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise ValueError(f"jobs must be a whole number of at least 1, not {jobs!r}")
    if jobs > MOST_JOBS:
        raise ValueError(f"jobs must be at most {MOST_JOBS}, not {jobs}")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable or None, not {type(initializer).__name__}")
    if cluster is not None:
        if jobs != 1:
            raise ValueError("give jobs= for processes on this machine or cluster= for another, not both")
        from unmet.runs._cluster import run_on_cluster

        return run_on_cluster(function, shards, cluster, initializer)
    if in_worker() or (jobs == 1 and beside is None):
        return _run_here(function, shards, initializer)
    return _run_in_processes(function, shards, jobs, initializer, beside)


def unwrap(index: int, result: Any, name: str | None = None) -> Any:
    """Return the result of a shard, or raise the exception that it sent."""
    if not isinstance(result, Failure):
        return result
    name = name or f"shard {index}"
    if result.error is None:
        raise ShardError(f"{name} failed in its worker:\n{result.text}", index)
    error = pickle.loads(result.error)
    error.add_note(f"in the worker of {name}:\n{result.text}")
    raise shard_error(index, error, name) from error


def shard_error(index: int, error: BaseException, name: str | None = None) -> ShardError:
    kind = ShardValueError if isinstance(error, ValueError) else ShardError
    return kind(f"{name or f'shard {index}'}: {type(error).__name__}: {error}", index)


def _run_here(function: Any, shards: Iterable[Any], initializer: Any) -> Iterator[tuple[int, Any]]:
    if initializer is not None:
        initializer()
    for index, shard in enumerate(shards):
        try:
            result = function(shard)
        except Exception as error:
            raise shard_error(index, error) from error
        yield index, result


def _run_in_processes(
    function: Any, shards: Iterable[Any], jobs: int, initializer: Any, beside: Iterator[Any] | None
) -> Iterator[tuple[int, Any]]:
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    packed = pack(function)
    packed_initializer = None if initializer is None else pack(initializer)
    source = enumerate(shards)
    again: list[tuple[int, Any]] = []  # shards whose worker died
    deaths: dict[int, int] = {}
    pending: dict[Any, tuple[int, Any]] = {}
    pool = _take_pool(jobs)
    healthy = False
    looked = 0.0
    try:
        while True:
            while len(pending) < 2 * jobs:
                item = again.pop() if again else next(source, None)
                if item is None:
                    break
                try:
                    pending[pool.submit(call, packed, packed_initializer, item[1])] = item
                except BrokenProcessPool:  # a worker died while it was idle, or those under way follow below
                    again.append(item)
                    if pending:
                        break
                    _drop_pool(pool)
                    pool = _take_pool(jobs)
            if beside is not None:
                own = next(beside, _NOTHING)
                if own is _NOTHING:
                    beside = None
                else:
                    yield -1, own
                if time.monotonic() < looked + _SECONDS_BETWEEN_LOOKS:
                    continue
                looked = time.monotonic()
            elif not pending:
                break
            finished, _ = wait(pending, None if beside is None else 0, FIRST_COMPLETED)
            results = []
            for future in finished:
                index, shard = pending.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    deaths[index] = deaths.get(index, 0) + 1
                    again.append((index, shard))
                elif error is not None:
                    raise shard_error(index, error) from error
                else:
                    results.append((index, future.result()))
                    deaths.pop(index, None)
            del finished
            again.sort(key=lambda item: -item[0])
            for index, result in sorted(results, key=lambda item: item[0]):
                yield index, unwrap(index, result)
            del results
            if again and not pending:
                _check_deaths(deaths)
                _drop_pool(pool)
                pool = _take_pool(jobs)
        healthy = True
    finally:
        if not healthy:
            for future in pending:
                future.cancel()
        # Nothing may go on running unseen; a pool at rest is kept.
        if not healthy and any(not future.done() for future in pending):
            _drop_pool(pool)
        else:
            _give_back(pool)


def _check_deaths(deaths: dict[int, int]) -> None:
    lost = sorted(index for index, times in deaths.items() if times >= _MAX_DEATHS)
    if lost:
        names = ", ".join(map(str, lost[:10]))
        raise WorkerDiedError(
            f"worker processes died {_MAX_DEATHS} times while shards {names} were running: they were killed, "
            "ran out of memory, or crashed. Try fewer jobs, or jobs=1 to see the failure in this process",
            lost[0],
        )


# The pool that waits for the next call, with its key. A pool in use is not here, so no two calls share one.
_IDLE: dict[tuple[Any, ...], Any] = {}
_LOCK = threading.Lock()


def _take_pool(jobs: int) -> Any:
    from multiprocessing import resource_tracker

    from loky import ProcessPoolExecutor

    # Before multiprocessing's own handler, which waits until the workers have been idle for two minutes: what
    # was registered last runs first, and loky has just registered that one.
    atexit.unregister(stop_workers)
    atexit.register(stop_workers)

    class Pool(ProcessPoolExecutor):
        def _adjust_process_count(self) -> None:
            resource_tracker.ensure_running()  # else loky starts it now, and it unblocks the signal
            with deaf_to_ctrl_c():
                super()._adjust_process_count()

    environment = worker_environment()
    cores = allowed_cores()
    key = (os.getpid(), jobs, tuple(cores), tuple(sorted(environment.items())))
    with _LOCK:
        pool = _IDLE.pop(key, None)
        others = [_IDLE.pop(other) for other in list(_IDLE)]
    for other in others:  # one set of workers at a time: they hold memory and cores
        if other._unmet_key[0] == os.getpid():
            other.shutdown(wait=True)
    if pool is None or pool._flags.broken is not None or pool._flags.shutdown:
        pool = Pool(
            max_workers=jobs,
            timeout=_IDLE_SECONDS,
            initializer=start_worker,
            initargs=(os.getpid(), cores),
            env=environment,
        )
        pool._unmet_key = key
    return pool


def _give_back(pool: Any) -> None:
    with _LOCK:
        spare = _IDLE.setdefault(pool._unmet_key, pool)
    if spare is not pool:
        pool.shutdown(wait=True)


def _drop_pool(pool: Any) -> None:
    pool.shutdown(wait=True, kill_workers=True)


def stop_workers() -> None:
    """End the idle workers now instead of after two minutes."""
    with _LOCK:
        pools = [_IDLE.pop(key) for key in list(_IDLE)]
    for pool in pools:
        if pool._unmet_key[0] == os.getpid():
            pool.shutdown(wait=True)
