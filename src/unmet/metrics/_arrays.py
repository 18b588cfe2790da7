"""Input checks of the metrics: float64 arrays of matching shapes, restricted to the chosen rows."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import refuse_mask

Floats = NDArray[np.float64]
Reduction = Literal["mean", "sum"]


def numbers(array: ArrayLike, name: str, infinite: bool = False) -> Floats:
    """Return a float64 array without NaN, and without infinities unless they are allowed."""
    refuse_mask(array, name)
    try:
        found = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None
    if np.isnan(found).any():
        raise ValueError(f"{name} has NaN: leave those rows out")
    if not infinite and not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite: leave out rows with infinities")
    return found


def same_shape(**arrays: Floats) -> None:
    """Raise ValueError unless all named arrays have the same shape with at least one axis."""
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) != 1 or () in shapes.values():
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"arrays must have the same shape (one entry per row): {listed}")


def choose(rows: Any, *arrays: Floats) -> list[Floats]:
    """Return the masked rows of each array (all rows if the mask is None). Raise if none is left."""
    n = len(arrays[0])
    if rows is not None:
        refuse_mask(rows, "rows")
        mask = np.asarray(rows)
        if mask.dtype != np.bool_ or mask.shape != (n,):
            raise ValueError(f"rows must be a boolean mask of length {n}, got {mask.dtype} {mask.shape}")
        arrays = tuple(array[mask] for array in arrays)
    if len(arrays[0]) == 0:
        raise ValueError("no rows to measure: rows selects none" if n else "no rows to measure")
    return list(arrays)


def reduced(values: Floats, reduce: Reduction) -> float:
    """Return the mean or the sum of all entries."""
    if reduce not in get_args(Reduction):
        raise ValueError(f'reduce must be "mean" or "sum", got {reduce!r}')
    return float(values.mean() if reduce == "mean" else values.sum())
