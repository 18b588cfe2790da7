"""Notice that this process was forked while JAX was running: JAX would hang in it for good."""

import os
import sys

_FORKED: list[int] = []


def _note_fork() -> None:
    """Remember a fork in the child. JAX's own question takes a lock that may never be free here."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if getattr(bridge, "_backends", None):
        _FORKED.append(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def refuse_fork() -> None:
    """Raise RuntimeError in a process that was forked from one in which JAX was running."""
    if _FORKED:
        raise RuntimeError(
            "this process was forked after JAX had started, and JAX would hang in it: start processes with "
            "multiprocessing.get_context('spawn'), use n_jobs=, or fork before the first fit or predict"
        )
