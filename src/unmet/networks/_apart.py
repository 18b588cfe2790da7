"""Compile a part of a program apart from the rest, so that XLA computes its results once."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import jax
from jax.experimental.xla_metadata import set_xla_metadata

P = ParamSpec("P")
R = TypeVar("R")


def apart(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with results that are stored, not computed again by every operation that uses them.

    XLA merges cheap operations into each of their users. Along a chain of steps, every step then repeats
    those before it. On processors an optimisation barrier does not prevent that. A call that XLA may not
    inline does.
    """
    compiled = jax.jit(function)

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with set_xla_metadata(inlineable="false"):
            return compiled(*args, **kwargs)  # type: ignore[no-any-return]

    return called
