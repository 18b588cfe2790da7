"""Programs compiled beside other work: XLA's compiler needs a core of its own, not Python's lock."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np

from unmet.runs import available_cores
from unmet.training._problem import sizes
from unmet.training._program import empty_states, program
from unmet.training._spec import ProgramSpec


@cache
def compile_ahead(spec: ProgramSpec) -> tuple[Future[Any], ...]:
    """Begin to compile the functions of a spec, once per process; with one core there is nothing to gain.

    Each is called with slots that train nothing, so that everything is as after its first real call.
    """
    if available_cores() == 1:
        return ()
    made, states = program(spec), empty_states(spec)
    length, count = sizes(spec)
    floats = np.zeros((spec.slots, length), np.float32)
    integers = np.zeros((spec.slots, count), np.uint32)
    zero = np.int32(0)
    return (
        _threads().submit(made.advance, states, floats, integers, zero, zero),
        _threads().submit(made.start, states, floats, integers, np.zeros(spec.slots, bool)),
    )


def await_compiled(spec: ProgramSpec) -> None:
    """Return once nothing is being compiled for the spec. What failed there fails again when it is called."""
    wait(compile_ahead(spec))


def give_up(specs: Iterable[ProgramSpec]) -> None:
    """Leave out what has not begun; it is compiled when it is called."""
    for spec in specs:
        for future in compile_ahead(spec):
            future.cancel()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(available_cores(), thread_name_prefix="unmet-compile")
