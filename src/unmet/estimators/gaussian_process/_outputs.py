"""Observations of several outputs, each checked like those of one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, Side, observe

Floats = NDArray[np.float64]


def several(y: Any, lower: Any) -> bool:
    """Return whether what was observed has more than one column."""
    shape = np.asarray(lower if y is None else y).shape
    return len(shape) == 2 and shape[1] > 1


def observe_outputs(
    y: Any, side: Side, *, threshold: Any = None, censored: Any = None, lower: Any = None, upper: Any = None
) -> list[tuple[NDArray[np.bool_], Observed]]:
    """Return, for each output, which rows have a value, and the checked observations of these.

    NaN in y, or in both bounds, stands for a value that nobody saw.
    """
    if side == "both" and threshold is not None:
        raise ValueError("side='both' takes one output with thresholds: give lower= and upper= for several")
    told: dict[str, Any] = {}
    if y is None:
        told = {"lower": _table("lower", lower), "upper": _table("upper", upper)}
        shape = told["lower"].shape
        known = ~(np.isnan(told["lower"]) & np.isnan(told["upper"]))
    else:
        told["y"] = _table("y", y)
        shape = told["y"].shape
        known = ~np.isnan(told["y"])
        for name, value in (("lower", lower), ("upper", upper)):
            if value is not None:
                told[name] = value  # `observe` says that this is too much
    for name, value in (("threshold", threshold), ("censored", censored)):
        if value is not None:
            told[name] = _fitting(name, value, shape)
    if any(np.shape(value) != shape for value in told.values()):
        listed = ", ".join(f"{name} {np.shape(value)}" for name, value in told.items())
        raise ValueError(f"outputs must have the same shape (rows, outputs), got {listed}")
    if not known.any(axis=0).all():
        raise ValueError(f"output {int(np.argmin(known.any(axis=0)))} has no value in any row: leave it out")
    found = []
    for number, present in enumerate(known.T):
        own = {name: value[present, number] for name, value in told.items()}
        found.append((present, observe(own.pop("y", None), side=side, **own)))
    return found


def _table(name: str, values: Any) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, shape (rows, outputs)") from None


def _fitting(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    try:
        return np.broadcast_to(np.asarray(value), shape)
    except ValueError:
        raise ValueError(
            f"{name} must be one value, or fit y of shape {shape}; got shape {np.shape(value)}"
        ) from None
