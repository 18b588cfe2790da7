"""Compile programs in background threads: XLA's compiler needs a core but not Python's lock."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import ShapeDtypeStruct as Shape

from unmet.runs import available_cores, one_at_a_time
from unmet.training._problem import sizes
from unmet.training._program import empty_states, program
from unmet.training._shapes import refilled
from unmet.training._spec import ProgramSpec


@one_at_a_time
@cache
def compile_ahead(spec: ProgramSpec) -> tuple[Future[None], ...]:
    """Start to compile the functions of a spec, once per process. Do nothing on a single core.

    JAX finds the compiled function when it is called with arrays of the same shapes.
    """
    if available_cores() == 1:
        return ()
    made = program(spec)
    length, count = sizes(spec)
    size = refilled(spec.slots)
    problems = (Shape((spec.slots, length), np.float32), Shape((spec.slots, count), np.uint32))
    fresh = (Shape((size, length), np.float32), Shape((size, count), np.uint32))
    held = problems if spec.slots > 1 else (Shape((1, 0), np.float32), problems[1])
    states = jax.tree.map(lambda array: Shape(array.shape, array.dtype), empty_states(spec))
    number = Shape((), np.int32)
    return (
        _threads().submit(_compile, made.advance, states, *problems, number, number),
        _threads().submit(_compile, made.start, states, *held, Shape((size,), np.int32), *fresh),
    )


def _compile(function: Any, *shapes: Any) -> None:
    function.lower(*shapes).compile()


def await_compiled(spec: ProgramSpec) -> None:
    """Wait until nothing is being compiled for the spec. A failed compilation fails again when called."""
    wait(compile_ahead(spec))


def give_up(specs: Iterable[ProgramSpec]) -> None:
    """Cancel compilations that have not started. Functions are then compiled when called."""
    for spec in specs:
        for future in compile_ahead(spec):
            future.cancel()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(available_cores(), thread_name_prefix="unmet-compile")
