"""The data of one network: named views into one vector of floats and one of integers.

With two vectors per problem instead of a dozen arrays, filling a slot costs less than training it.
"""

from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from unmet.networks import layout
from unmet.training._spec import ProgramSpec

# key (2), max_epochs, patience
_INTEGERS = 4


class Rows(NamedTuple):
    """Rows of data, padded with rows of weight zero. The weights sum to one."""

    x: Any  # (columns, rows)
    y: Any  # (rows,)
    cap: Any  # (rows,), infinite where nothing caps; the upper bound on the latent value for "intervals"
    censored: Any  # (rows,), not zero where censored; in two-sided problems the row's direction
    weight: Any  # (rows,)
    floor: Any = None  # (rows,) in two-sided problems: the cap's counterpart


class Hyper(NamedTuple):
    """Numbers that change training but not the compiled program."""

    learning_rate: Any
    l2: Any
    clip_norm: Any  # infinite: no clipping
    far: Any  # where Portnoy's weights put the unseen mass
    location: Any  # of the observed values, for a neutral start
    scale: Any
    spread: Any  # of the starting output weights around a neutral start
    scale_ridge: Any  # penalty on the squared weights of a scale network
    normal_ridge: Any  # penalty on the distance of a sinh-arcsinh shape from the normal one


class Problem(NamedTuple):
    """One network's data, levels, settings and random numbers."""

    train: Rows
    stop: Rows | None  # rows that only decide when to stop
    levels: Any  # (levels,), increasing
    real: Any  # (columns,): 0 marks padding
    scaling: Any  # (columns,): 1 for columns that a scale network may use
    hyper: Any  # the numbers of `Hyper`: an array in the vector, a Hyper inside a program
    noise: Any  # normal numbers for the starting weights
    key: Any  # (2,) for dropout and shuffling
    max_epochs: Any
    patience: Any


def sizes(spec: ProgramSpec) -> tuple[int, int]:
    """Return the lengths of the two vectors of a problem."""
    return sum(map(prod, _shapes(spec))), _INTEGERS


def views(spec: ProgramSpec, floats: Any, integers: Any) -> Problem:
    """Return the parts of a problem, as views (NumPy) or slices (JAX) of its vectors.

    Vectors may have leading axes, for a stack of problems.
    """
    parts, begin = [], 0
    for shape in _shapes(spec):
        end = begin + prod(shape)
        parts.append(floats[..., begin:end].reshape(*floats.shape[:-1], *shape))
        begin = end
    each = 5 + spec.two_sided
    train, parts = Rows(*parts[:each]), parts[each:]
    stop = None
    if spec.stop_rows:
        stop, parts = Rows(*parts[:each]), parts[each:]
    levels, real, scaling, hyper, noise = parts
    key, max_epochs, patience = integers[..., :2], integers[..., 2], integers[..., 3]
    return Problem(train, stop, levels, real, scaling, hyper, noise, key, max_epochs, patience)


def blank(spec: ProgramSpec, problems: int) -> tuple[np.ndarray, np.ndarray, Problem]:
    """Return the vectors of empty problems (all rows padding, no caps), one per row, and views to fill."""
    length, count = sizes(spec)
    floats, integers = np.zeros((problems, length), np.float32), np.zeros((problems, count), np.uint32)
    problem = views(spec, floats, integers)
    for rows in (problem.train, problem.stop):
        if rows is not None and spec.objective != "intervals":  # there floor and cap are values, not limits
            rows.cap.fill(np.inf)
            if rows.floor is not None:
                rows.floor.fill(-np.inf)
    return floats, integers, problem


@cache
def _shapes(spec: ProgramSpec) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the parts in the vector of floats, in order."""
    model = spec.model
    shapes: list[tuple[int, ...]] = []
    for rows in (spec.rows, spec.stop_rows):
        if rows:
            shapes += [(model.columns, rows), *[(rows,)] * (4 + spec.two_sided)]
    columns = (model.columns,)
    return (*shapes, (model.levels,), columns, columns, (len(Hyper._fields),), (layout(model).noise,))
