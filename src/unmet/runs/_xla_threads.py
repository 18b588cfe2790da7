"""The number of threads that XLA uses in a process; the last bits of its results depend on it."""

import os
import sys

# PJRT reads them, in this order, when JAX makes its CPU device; later changes have no effect.
_VARIABLES = ("PJRT_NPROC", "NPROC")


def limit_xla_threads() -> bool:
    """Let XLA use one thread in this process, unless the user chose a number or JAX is already running.

    XLA splits long sums by the number of threads, so the last bits of a result depend on that number. With
    one thread everywhere, a fit gives the same bits in the main process, in a worker, on a cluster and on
    machines with more cores. Call this before the first use of JAX. Return whether XLA will use one thread.
    """
    if not any(os.environ.get(name) for name in _VARIABLES) and not _jax_is_running():
        os.environ["PJRT_NPROC"] = "1"
    return xla_threads() == 1


def xla_threads() -> int:
    """Return how many threads XLA uses in this process, or would use if JAX started now."""
    for name in _VARIABLES:
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) > 0:
            return int(value)
    return len(allowed_cores())


def allowed_cores() -> list[int]:
    """Return the numbers of the cores on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))  # pragma: no cover


def _jax_is_running() -> bool:
    bridge = sys.modules.get("jax._src.xla_bridge")
    running = getattr(bridge, "backends_are_initialized", None)
    return bool(running()) if callable(running) else "jax" in sys.modules and bridge is not None
