"""A worker process: one core, one thread, ignores Ctrl-C, ends when its parent does."""

import atexit
import contextlib
import gc
import hashlib
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from unmet.runs._xla_threads import allowed_cores, xla_threads

_MARK = "UNMET_WORKER"
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

# Kept as long as the worker lives: a core is taken while its socket is bound.
_CORE: list[socket.socket] = []
_FUNCTIONS: dict[bytes, Any] = {}
_INITIALISED: set[bytes] = set()
_SETTLED: set[bytes] = set()


class Failure(NamedTuple):
    """An exception sent back from a worker; `error` is None if it cannot be pickled.

    `kind` is "OSError" or "MemoryError" for failures of the system, which may pass, else "".
    """

    error: bytes | None
    text: str
    kind: str = ""


def in_worker() -> bool:
    """Return whether this process is a worker; workers start no processes."""
    return _MARK in os.environ


def worker_environment() -> dict[str, str]:
    """Return the environment variables of a worker, on top of those of its parent.

    BLAS and OpenMP get one thread. XLA gets as many as in the parent, all on the worker's one core, because
    their number decides the last bits of results. For the same reason XLA's flags stay those of the parent.
    """
    environment = dict.fromkeys(_ONE_THREAD, "1")
    environment[_MARK] = "1"
    environment["PJRT_NPROC"] = str(xla_threads())
    return environment


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, not even before `start_worker` can turn it off.

    A terminal sends it to all of them, and one that still imports would print a traceback. A process
    inherits the signals that its starter blocks.
    """
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker(parent: int, cores: list[int]) -> None:
    """Make this process a worker of `parent`, on a core of its own if one is free."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent acts on it
    _take_core(cores)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    # loky restarts workers whose memory has grown, which for XLA is compiled programs, not a leak.
    executor: Any = sys.modules.get("loky.process_executor")
    if hasattr(executor, "_USE_PSUTIL"):
        executor._USE_PSUTIL = False


def _take_core(cores: list[int]) -> None:
    """Pin this process to the first core that no other worker holds, if there is one.

    A name in the abstract socket space has one owner on the machine, needs no file, and is free again when
    its owner dies. Only Linux has such names, and only Linux can pin.
    """
    if not hasattr(os, "sched_setaffinity") or not sys.platform.startswith("linux"):  # pragma: no cover
        return
    for core in cores:
        with contextlib.suppress(OSError):
            holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                holder.bind(f"\0unmet-core-{core}")
                os.sched_setaffinity(0, {core})
            except OSError:
                holder.close()
                raise
            _CORE.append(holder)
            return


def _leave_with(parent: int) -> None:
    """End this process when its parent has died, even while a shard is running."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def pack(function: Callable[..., Any]) -> bytes:
    """Return a function as bytes, by value if the worker could not import it."""
    import cloudpickle

    return cloudpickle.dumps(function)


def call(function: bytes, initializer: bytes | None, shard: Any) -> Any:
    """Run a packed function on one shard; an exception comes back as a `Failure`."""
    try:
        if initializer is not None and _digest(initializer) not in _INITIALISED:
            _unpacked(initializer)()
            _INITIALISED.add(_digest(initializer))
        result = _unpacked(function)(shard)
        _settle(function)
        return result
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        kind = next((one.__name__ for one in (OSError, MemoryError) if isinstance(error, one)), "")
        try:
            data = pickle.dumps(error)
            pickle.loads(data)  # some exceptions can be packed but not unpacked
        except Exception:
            return Failure(None, text, kind)
        return Failure(data, text, kind)


def _settle(function: bytes) -> None:
    """Exclude what the first call made, modules and programs, from later garbage collections.

    loky collects after nearly every task, and with JAX loaded each collection takes a fifth of a second.
    """
    if in_worker() and _digest(function) not in _SETTLED:
        _SETTLED.add(_digest(function))
        if len(_SETTLED) == 1:
            atexit.register(gc.unfreeze)  # otherwise DuckDB reports leaks when the worker ends
        gc.collect()
        gc.freeze()


def available_cores() -> int:
    """Return how many cores this process may use; more `jobs` than that do not help."""
    return len(allowed_cores())


def _unpacked(function: bytes) -> Any:
    """Return the same object for the same bytes, so that what it compiled or cached lasts between shards."""
    key = _digest(function)
    if key not in _FUNCTIONS:
        while len(_FUNCTIONS) >= 8:
            del _FUNCTIONS[next(iter(_FUNCTIONS))]
        _FUNCTIONS[key] = pickle.loads(function)
    return _FUNCTIONS[key]


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
