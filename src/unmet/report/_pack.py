"""Many numbers in little text: two letters each, in steps that suit the series."""

import numpy as np

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MOST = 4093  # the largest ordinary code
UNBOUNDED = 4094  # infinite: not identified
MISSING = 4095

_PAIRS = np.array([first + second for first in LETTERS for second in LETTERS], dtype="U2")
_STEPS = tuple(base * 10.0**power for power in range(-2, 7) for base in (1, 2, 5))


def step_for(largest: float) -> float:
    """The smallest round step from 0.01 up with which `largest` still has a code.

    Examples
    --------
    >>> step_for(12.0), step_for(100.0)
    (0.01, 0.05)
    """
    for step in _STEPS:
        if largest <= step * MOST:
            return step
    raise ValueError(f"a count of {largest:g} is too large for the report; check y in the panel")


def pack(values: np.ndarray, step: float) -> str:
    """Non-negative numbers as text; what is below zero by rounding becomes zero.

    Examples
    --------
    >>> pack(np.array([0.0, 0.64, np.inf, np.nan]), 0.01)
    'AABA_-__'
    """
    values = np.asarray(values, dtype=float)
    codes = np.full(values.shape, MISSING)
    finite = np.isfinite(values)
    codes[finite] = np.clip(np.rint(values[finite] / step), 0, MOST)
    codes[np.isposinf(values)] = UNBOUNDED
    return "".join(_PAIRS[codes.astype(np.int64)].tolist())
