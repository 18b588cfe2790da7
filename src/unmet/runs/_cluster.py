"""Work on a Dask cluster: workers that die, a scheduler that restarts and bad tasks change no result."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

from unmet.runs._addresses import refuse_address
from unmet.runs._cluster_work import ClusterLostError, Welcome, Work
from unmet.runs._extras import naming_extras
from unmet.runs._workers import available_cores, pack, worker_environment

LOCAL = "local"
_FIRST_PATIENCE = 20.0  # seconds for the first answer of a scheduler: its address may be wrong
_LOCAL_PATIENCE = 30.0  # seconds without a worker process of our own, after which all are started anew


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
    client : the Dask `Client`; None while it is not connected.
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
        if folder is not None:
            refuse_address(folder)
        self.folder = None if folder is None else Path(folder).resolve()
        self._address: Any = address
        self._workers, self._patience = workers, patience
        self.costs: dict[str, dict[str, float]] = {}
        self.client: Any = None
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
            if self.client is not None and self.client is not self._address:
                self.client.close(timeout=5)
            if self._local is not None:
                self._local.close(timeout=10)
        self.client = self._local = None
        self._silence.end()

    def __str__(self) -> str:
        return self._address if isinstance(self._address, str) else str(self._address.scheduler.address)

    def threads(self) -> int:
        """Return how many tasks run at a time, at least 1."""
        return max(1, sum(self.client.nthreads().values()))

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
        if self.client is None:
            raise ValueError("use Cluster in a with statement: it is not connected")
        work = Work(self, pack(function), pack(Welcome.of(self.folder, initializer)), progress)
        return work.results(iter(enumerate(shards)))

    def _connect(self, patience: float) -> None:
        import distributed

        if isinstance(self._address, distributed.Client):
            self.client = self._address
            return
        if self._address != LOCAL:
            _check_address(self._address)
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
                self.client = distributed.Client(self._local or self._address, timeout=wait)
                return
            except OSError as error:
                if time.monotonic() > end:
                    raise ClusterLostError(
                        f"no Dask scheduler answers at {self._address}: start it (`dask scheduler`), or "
                        "check the address; what is finished is kept, and the same command goes on from there"
                    ) from error
                time.sleep(1.0)

    def reconnect(self) -> Any:
        """Return a client of the scheduler, once it is back."""
        if self.client is self._address:  # it connects again by itself
            end = time.monotonic() + self._patience
            while self.client.status != "running":
                if time.monotonic() > end or self.client.status == "closed":
                    raise ClusterLostError(
                        f"the Dask scheduler at {self} is gone: start it, and run this again"
                    )
                time.sleep(0.2)
            return self.client
        for part in (self.client, self._local):
            if part is not None:
                with contextlib.suppress(Exception):
                    part.close(timeout=5)
        self._local = self._since = None
        self._connect(self._patience)
        return self.client

    def check_workers(self) -> None:
        """Raise if there has been no worker for too long."""
        if self.client.nthreads():
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


def _check_address(address: str) -> None:
    """Refuse what no scheduler can have as its address, before Dask starts a thread to connect to it."""
    from distributed import Security
    from distributed.comm import get_address_host_port, normalize_address
    from distributed.comm.registry import get_backend

    try:
        found = normalize_address(address)
        get_backend(found.split("://", 1)[0])
        if found.startswith(("tcp://", "tls://")):
            _, port = get_address_host_port(found, strict=True)
            if not 0 < port < 65_536:
                raise ValueError(f"port {port} is not between 1 and 65,535")
    except ValueError as error:
        raise ValueError(
            "cluster must be 'local' or the address of a Dask scheduler, such as tcp://10.0.0.1:8786, "
            f"not {address!r}: {error}"
        ) from error
    if found.startswith("tls://") and Security().get_connection_args("client")["ssl_context"] is None:
        raise ValueError(
            f"cluster {address} needs Dask's TLS settings: set distributed.comm.tls in its configuration"
        )


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
