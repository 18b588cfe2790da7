"""Work on a Dask cluster: workers that die, a scheduler that restarts and bad tasks change no result."""

import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmet.runs._checksum import code_version
from unmet.runs._extras import naming_extras
from unmet.runs._shards import ShardError, WorkerDiedError, shard_error, unwrap
from unmet.runs._workers import Failure, available_cores, call, pack, worker_environment

LOCAL = "local"
# A task is given up after this many failures of the system, or so many rounds of deaths of its workers; the
# scheduler counts the deaths of a round (four, unless its setting `allowed-failures` says otherwise).
_TRIES, _ROUNDS = 3, 2
_LOSSES = 10  # of the scheduler, with nothing finished in between
_FIRST_PATIENCE = 20.0  # seconds for the first answer of a scheduler: its address may be wrong
_LOCAL_PATIENCE = 30.0  # seconds without a worker process of our own, after which all are started anew
_LOOK = 5.0  # seconds between two looks at whether there are workers


class ClusterLostError(ConnectionError):
    """The scheduler of a cluster, or all its workers, stayed away for too long."""


@dataclass(frozen=True)
class Task:
    """A part of the work: its argument, and what an error calls it."""

    name: str
    argument: Any


class Cluster:
    """Workers of a Dask scheduler, and the folder through which they and this process exchange files.

    A task whose worker dies runs again on another one. After the loss of the scheduler, this process waits
    for it and sends again what is not finished. A task that kills its workers again and again, or that fails,
    ends the work with an error that names it. Results are those of one machine, to the bit.

    Parameters
    ----------
    address : address of a Dask scheduler, a Dask `Client`, or ``"local"``: worker processes on this machine.
    folder : seen by all workers under the same path; made if needed. None: work without files.
    workers : worker processes for ``"local"``; None: one per core.
    patience : seconds to wait for a scheduler or for workers that are gone.

    Attributes
    ----------
    costs : for each kind of task with a result in the folder: how many there were, their CPU seconds in
        workers, and those of the longest.

    Examples
    --------
    >>> with Cluster("local", workers=2) as cluster:  # doctest: +SKIP
    ...     sorted(cluster.run(abs, [-1, 2]))
    [(0, 1), (1, 2)]
    """

    def __init__(
        self,
        address: Any,
        *,
        folder: str | os.PathLike[str] | None = None,
        workers: int | None = None,
        patience: float = 300.0,
    ) -> None:
        with naming_extras():
            import distributed
        if not isinstance(address, str | distributed.Client):
            raise ValueError(
                f"cluster must be the address of a Dask scheduler, a Client or {LOCAL!r}, "
                f"not {type(address).__name__}"
            )
        if workers is not None and address != LOCAL:
            raise ValueError(f"workers goes with cluster={LOCAL!r}: a scheduler has the workers that it has")
        self.folder = None if folder is None else Path(folder).resolve()
        self._address: Any = address
        self._workers, self._patience = workers, patience
        self.costs: dict[str, dict[str, float]] = {}
        self._client: Any = None
        self._local: Any = None
        self._silence = _Silence()
        self._since: float | None = None  # when there was no worker any more

    def __enter__(self) -> "Cluster":
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._connect(min(self._patience, _FIRST_PATIENCE))
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(Exception):
            if self._client is not None and self._client is not self._address:
                self._client.close(timeout=5)
            if self._local is not None:
                self._local.close(timeout=10)
        self._client = self._local = None
        self._silence.end()

    def __str__(self) -> str:
        return self._address if isinstance(self._address, str) else str(self._address.scheduler.address)

    def threads(self) -> int:
        """Return how many tasks run at a time, at least 1."""
        return max(1, sum(self._client.nthreads().values()))

    def count(self, kind: str, seconds: float) -> None:
        """Add a task to the costs of its kind."""
        cost = self.costs.setdefault(kind, {"tasks": 0, "seconds": 0.0, "longest": 0.0})
        cost["tasks"] += 1
        cost["seconds"] = round(cost["seconds"] + seconds, 3)
        cost["longest"] = round(max(cost["longest"], seconds), 3)

    def run(
        self,
        function: Callable[[Any], Any],
        shards: Iterable[Any],
        *,
        initializer: Callable[[], object] | None = None,
        progress: Callable[[int], Hashable] = lambda index: None,
    ) -> Iterator[tuple[int, Any]]:
        """Yield ``(index, function(shard))`` as they finish; a `Task` is called with its argument.

        Parameters
        ----------
        progress : tells how far a shard has come, for one that leaves files on its way. A shard that comes
            further before each death of its worker is never given up.
        """
        if self._client is None:
            raise ValueError("use Cluster in a with statement: it is not connected")
        work = _Work(self, pack(function), pack(_Welcome.of(self.folder, initializer)), progress)
        return work.results(iter(enumerate(shards)))

    def _connect(self, patience: float) -> None:
        import distributed

        if isinstance(self._address, distributed.Client):
            self._client = self._address
            return
        self._silence.start()
        if self._address == LOCAL:
            self._local = distributed.LocalCluster(
                n_workers=self._workers or available_cores(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # the default listens on all interfaces
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
                memory_limit=0,
                env=worker_environment(),
            )
        end = time.monotonic() + patience
        while True:
            try:
                wait = min(10.0, max(1.0, patience))
                self._client = distributed.Client(self._local or self._address, timeout=wait)
                return
            except OSError as error:
                if time.monotonic() > end:
                    raise ClusterLostError(
                        f"no Dask scheduler answers at {self._address}: start it (`dask scheduler`), or "
                        "check the address; what is finished is kept, and the same command goes on from there"
                    ) from error
                time.sleep(1.0)
            except ValueError as error:
                raise ValueError(f"cluster is not the address of a Dask scheduler: {error}") from error

    def reconnect(self) -> Any:
        """Return a client of the scheduler, once it is back."""
        if self._client is self._address:  # it connects again by itself
            end = time.monotonic() + self._patience
            while self._client.status != "running":
                if time.monotonic() > end or self._client.status == "closed":
                    raise ClusterLostError(
                        f"the Dask scheduler at {self} is gone: start it, and run this again"
                    )
                time.sleep(0.2)
            return self._client
        for part in (self._client, self._local):
            if part is not None:
                with contextlib.suppress(Exception):
                    part.close(timeout=5)
        self._local = self._since = None
        self._connect(self._patience)
        return self._client

    def check_workers(self) -> None:
        """Raise if there has been no worker for too long."""
        if self._client.nthreads():
            self._since = None
            return
        now = time.monotonic()
        self._since = self._since or now
        if self._local is not None and now - self._since > _LOCAL_PATIENCE:
            raise OSError("no worker process came back")  # Dask starts one that fails to start no more
        if now - self._since > self._patience:
            raise ClusterLostError(
                f"the Dask scheduler at {self} has had no workers for {self._patience:.0f} seconds: start "
                "some (`dask worker`); what is finished is kept, and the same command goes on from there"
            )


class _Work:
    """One call of `Cluster.run`: what is sent, what comes back, and what is sent again."""

    def __init__(
        self, cluster: Cluster, function: bytes, welcome: bytes, progress: Callable[[int], Hashable]
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
                    self._scheduler_lost(error)
                    continue
                for future in sorted(finished, key=lambda future: self.pending[future][0]):
                    yield from self._take(future, lost)
        finally:
            if self.pending:
                with contextlib.suppress(Exception):
                    self.cluster._client.cancel(list(self.pending))

    def _send(self, source: Iterator[tuple[int, Any]]) -> None:
        client = self.cluster._client
        room = 2 * self.cluster.threads()
        while len(self.pending) < room:
            item = self.again.pop() if self.again else next(source, None)
            if item is None:
                if self.pending or not self.suspects:
                    return
                item, room = self.suspects.pop(), 1
            self._submit(client, item)

    def _submit(self, client: Any, item: tuple[int, Any]) -> None:
        index, shard = item
        self.sent += 1
        argument = shard.argument if isinstance(shard, Task) else shard
        try:
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


def _name(index: int, shard: Any) -> str:
    return shard.name if isinstance(shard, Task) else f"shard {index}"


@dataclass(frozen=True)
class _Welcome:
    """What a worker does before its first task: check its code and the shared folder, and set its threads."""

    code: str
    token: str | None
    environment: dict[str, str]
    sender: tuple[str, int]
    initializer: Callable[[], object] | None

    @classmethod
    def of(cls, folder: Path | None, initializer: Callable[[], object] | None) -> "_Welcome":
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
        if self.initializer is not None:
            self.initializer()


class _Silence:
    """Keeps Dask from logging that a scheduler is gone: this process says so itself if it stays away."""

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def start(self) -> None:
        for name in ("distributed", *logging.Logger.manager.loggerDict):
            if name.split(".")[0] == "distributed":
                logger = logging.getLogger(name)
                self._before.setdefault(name, logger.level)
                logger.setLevel(logging.CRITICAL + 1)

    def end(self) -> None:
        for name, level in self._before.items():
            logging.getLogger(name).setLevel(level)
        self._before.clear()


@contextlib.contextmanager
def connected(
    cluster: Any, folder: str | os.PathLike[str] | None = None, workers: int | None = None
) -> Iterator[Cluster | None]:
    """Give a connected `Cluster` for whatever a caller gave: one, an address, a Client, "local", or None."""
    if cluster is None or isinstance(cluster, Cluster):
        yield cluster
        return
    with Cluster(cluster, folder=folder, workers=workers if cluster == LOCAL else None) as found:
        yield found


def run_on_cluster(
    function: Any, shards: Iterable[Any], cluster: Any, initializer: Any
) -> Iterator[tuple[int, Any]]:
    """Send shards to a cluster; see `Cluster.run`."""
    if isinstance(cluster, Cluster):
        return cluster.run(function, shards, initializer=initializer)
    return _run_alone(Cluster(cluster), function, shards, initializer)


def _run_alone(
    cluster: Cluster, function: Any, shards: Iterable[Any], initializer: Any
) -> Iterator[tuple[int, Any]]:
    with cluster:
        yield from cluster.run(function, shards, initializer=initializer)
