"""Programs compiled beside other work: XLA's compiler needs a core of its own, not Python's lock."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import ShapeDtypeStruct as Shape

from unmet.runs import available_cores
from unmet.training._problem import sizes
from unmet.training._program import empty_states, program
from unmet.training._spec import ProgramSpec


@cache
def compile_ahead(spec: ProgramSpec) -> tuple[Future[None], ...]:
    """Begin to compile the functions of a spec, once per process; with one core there is nothing to gain.

    JAX finds what was compiled for a shape when the function is called with arrays of that shape.
    """
    if available_cores() == 1:
        return ()
    made = program(spec)
    length, count = sizes(spec)
    problems = (Shape((spec.slots, length), np.float32), Shape((spec.slots, count), np.uint32))
    states = jax.tree.map(lambda array: Shape(array.shape, array.dtype), empty_states(spec))
    number = Shape((), np.int32)
    return (
        _threads().submit(_compile, made.advance, states, *problems, number, number),
        _threads().submit(_compile, made.start, states, *problems, Shape((spec.slots,), bool)),
    )


def _compile(function: Any, *shapes: Any) -> None:
    function.lower(*shapes).compile()


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
