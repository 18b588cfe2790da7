"""Arrays as JSON: infinite and missing numbers become null, times end in Z, text is ASCII."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

DIGITS = 4  # of rides and vehicles; more would be noise


def encode(document: Any) -> bytes:
    """Return compact JSON. A number that is not finite raises ValueError."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")


def number(value: Any) -> float | None:
    """Return a number for JSON; None if it is missing or infinite.

    Examples
    --------
    >>> number(0.123456), number(float("inf")), number(None)
    (0.1235, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), DIGITS)


def column(values: np.ndarray) -> list[Any]:
    """Return a column as a JSON array.

    Examples
    --------
    >>> column(np.array([1.0, np.inf]))
    [1.0, None]
    """
    values = np.asarray(values)
    kind = values.dtype.kind
    if kind == "M":
        return [None if text == "NaT" else text + "Z" for text in np.datetime_as_string(values, unit="s")]
    if kind == "f":
        known = np.isfinite(values)
        coarse = known & (np.abs(values) > 1e12)  # has no such digits, and rounding could overflow
        rounded = np.round(np.where(known & ~coarse, values, 0.0), DIGITS)
        found = np.where(coarse, values, rounded).tolist()
        return found if known.all() else [x if ok else None for x, ok in zip(found, known.tolist())]
    if kind in "iub":
        return list(values.tolist())
    return [None if value is None else value if isinstance(value, bool) else str(value) for value in values]
