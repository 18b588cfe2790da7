"""One piece of work on a cluster: what is sent to its workers, what comes back, and what is sent again."""

import contextlib
import os
import secrets
import socket
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.runs._allocator import keep_freed_memory
from unmet.runs._checksum import code_version
from unmet.runs._shards import ShardError, WorkerDiedError, shard_error, unwrap
from unmet.runs._workers import Failure, call, worker_environment

if TYPE_CHECKING:
    from unmet.runs._cluster import Cluster

# A task is given up after this many failures of the system, or so many rounds of deaths of its workers; the
# scheduler counts the deaths of a round (four, unless its setting `allowed-failures` says otherwise).
_TRIES, _ROUNDS = 3, 2
_LOSSES = 10  # of the scheduler, with nothing finished in between
_LOOK = 5.0  # seconds between two looks at whether there are workers


class ClusterLostError(ConnectionError):
    """The scheduler of a cluster, or all its workers, stayed away for too long."""


@dataclass(frozen=True)
class Task:
    """A part of the work: its argument, and what an error calls it."""

    name: str
    argument: Any


class Work:
    """One call of `Cluster.run`: what is sent, what comes back, and what is sent again."""

    def __init__(
        self, cluster: "Cluster", function: bytes, welcome: bytes, progress: Callable[[int], Hashable]
    ) -> None:
        self.cluster, self.function, self.welcome, self.progress = cluster, function, welcome, progress
        self.name = f"unmet-{secrets.token_hex(8)}"
        self.again: list[tuple[int, Any]] = []
        self.suspects: list[tuple[int, Any]] = []  # their workers died; they run alone, after all others
        self.pending: dict[Any, tuple[int, Any]] = {}
        self.poison: list[tuple[tuple[int, Any], Exception]] = []
        self.deaths: dict[int, int] = {}
        self.failures: dict[int, int] = {}
        self.reached: dict[int, Hashable] = {}
        self.sent = 0
        self.losses = 0
        self.broken: Exception | None = None  # what the shards themselves raised

    def results(self, source: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        import distributed

        lost = (distributed.client.CancelledError, OSError)
        try:
            while True:
                try:
                    self._send(source)
                    if not self.pending:
                        self._tell_poison()
                        return
                    finished = self._finished()
                except ClusterLostError:
                    raise
                except lost as error:
                    if error is self.broken:
                        raise
                    self._scheduler_lost(error)
                    continue
                for future in sorted(finished, key=lambda future: self.pending[future][0]):
                    if future in self.pending:  # else the scheduler was lost meanwhile
                        yield from self._take(future, lost)
        finally:
            if self.pending:
                with contextlib.suppress(Exception):
                    self.cluster.client.cancel(list(self.pending))

    def _send(self, source: Iterator[tuple[int, Any]]) -> None:
        client = self.cluster.client
        room = 2 * self.cluster.threads()
        while len(self.pending) < room:
            item = self.again.pop() if self.again else self._next(source)
            if item is None:
                if self.pending or not self.suspects:
                    return
                item, room = self.suspects.pop(), 1
            self._submit(client, item)

    def _next(self, source: Iterator[tuple[int, Any]]) -> tuple[int, Any] | None:
        try:
            return next(source, None)
        except Exception as error:  # of the caller, whatever it looks like
            self.broken = error
            raise

    def _submit(self, client: Any, item: tuple[int, Any]) -> None:
        index, shard = item
        self.sent += 1
        argument = shard.argument if isinstance(shard, Task) else shard
        try:
            with _large_tasks():
                future = client.submit(
                    call,
                    self.function,
                    self.welcome,
                    argument,
                    key=f"{self.name}-{index}-{self.sent}",
                    pure=False,
                )
        except BaseException:
            self.again.append(item)
            raise
        self.pending[future] = item

    def _finished(self) -> list[Any]:
        import distributed

        while True:
            try:
                done = distributed.wait(list(self.pending), timeout=_LOOK, return_when="FIRST_COMPLETED").done
                return list(done)
            except TimeoutError:
                self.cluster.check_workers()

    def _take(self, future: Any, lost: tuple[type[BaseException], ...]) -> Iterator[tuple[int, Any]]:
        from distributed.scheduler import KilledWorker

        index, shard = self.pending[future]
        try:
            result = future.result()
        except KilledWorker as error:
            del self.pending[future]
            self._killed((index, shard), error)
            return
        except lost as error:
            self._scheduler_lost(error)
            return
        except Exception as error:
            raise shard_error(index, error, _name(index, shard)) from error
        del self.pending[future]
        self.losses = 0
        if self._is_passing(result) and self._fails_again(index):
            self.again.append((index, shard))
            return
        yield index, unwrap(index, result, _name(index, shard))

    def _is_passing(self, result: Any) -> bool:
        """Return whether a failure may be one of the system: a shared folder that hangs, no memory left."""
        return isinstance(result, Failure) and result.kind in ("OSError", "MemoryError")

    def _fails_again(self, index: int) -> bool:
        """Count a failure; return whether the shard has another try."""
        self.failures[index] = self.failures.get(index, 0) + 1
        return self.failures[index] < _TRIES

    def _killed(self, item: tuple[int, Any], error: Exception) -> None:
        index = item[0]
        reached = self.progress(index)
        if reached != self.reached.get(index):
            self.deaths[index] = 0
        self.reached[index] = reached
        self.deaths[index] = self.deaths.get(index, 0) + 1
        if self.deaths[index] >= _ROUNDS:
            self.poison.append((item, error))
        else:
            self.suspects.append(item)

    def _tell_poison(self) -> None:
        """Name the shards that no worker survived, once all others are done."""
        if not self.poison:
            return
        (index, _), error = self.poison[0]
        names = ", ".join(_name(*item) for item, _ in self.poison[:10])
        raise WorkerDiedError(
            f"{names}: every worker that tried it died ({error}). It may need more memory than a worker has, "
            "or its input may crash them. What else is finished is kept, and the same command goes on from "
            "there",
            index,
        ) from error

    def _scheduler_lost(self, error: BaseException) -> None:
        """Wait for the scheduler, and send again all that was under way."""
        self.losses += 1
        if self.losses > _LOSSES:
            raise ShardError(
                f"the Dask scheduler at {self.cluster} was lost {self.losses} times without one task "
                f"finished in between ({type(error).__name__}: {error})",
                -1,
            ) from error
        self.again += [item for item in self.pending.values() if item not in self.again]
        self.again.sort(key=lambda item: -item[0])
        self.pending.clear()
        self.cluster.reconnect()


def _large_tasks() -> Any:
    """Send tasks that carry their data without Dask's advice to load it on the workers."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})


def _name(index: int, shard: Any) -> str:
    return shard.name if isinstance(shard, Task) else f"shard {index}"


@dataclass(frozen=True)
class Welcome:
    """What a worker does before its first task: check code and shared folder, set threads and memory."""

    code: str
    token: str | None
    environment: dict[str, str]
    sender: tuple[str, int]
    initializer: Callable[[], object] | None

    @classmethod
    def of(cls, folder: Path | None, initializer: Callable[[], object] | None) -> "Welcome":
        token = None
        if folder is not None:
            token = str(folder / "shared")
            Path(token).touch()
        here = (socket.gethostname(), os.getpid())
        return cls(code_version(), token, worker_environment(), here, initializer)

    def __call__(self) -> None:
        if code_version() != self.code:
            raise ValueError(
                f"the worker on {socket.gethostname()} has unmet {code_version()}, and this process has "
                f"{self.code}: install the same version"
            )
        if self.token is not None and not os.path.exists(self.token):
            raise ValueError(
                f"the worker on {socket.gethostname()} does not see {os.path.dirname(self.token)}: give a "
                "folder that all machines share under the same path"
            )
        if (socket.gethostname(), os.getpid()) != self.sender:
            os.environ.update(self.environment)
            keep_freed_memory()
        if self.initializer is not None:
            self.initializer()
