"""Events as sortable integers: place, second and kind in one number, in NumPy and in SQL."""

from __future__ import annotations

import numpy as np

# Kinds in the order in which they are taken within one second. A period starts before anything that happens
# in its first second; a vehicle must have come back before it can be taken.
EDGE, IS_OPEN, IS_CLOSED, IS_UNKNOWN, RETURN, PICKUP, DELIVERY, REMOVAL = range(8)
CHANGE = np.array([0, 0, 0, 0, 1, -1, 1, -1], np.int8)
_SECONDS = 37
_EARLIEST = -(1 << (_SECONDS - 1))
_PLACE = _SECONDS + 3


def pack(no: np.ndarray, t: np.ndarray | int, kind: np.ndarray | int) -> np.ndarray:
    """One integer per event; sorting it sorts by place, second and kind."""
    no, t = np.asarray(no, np.int64), np.asarray(t, np.int64)
    return (((no << _SECONDS) | (t - _EARLIEST)) << 3) | kind


def unpack(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place number, second and kind of packed events."""
    kind = (keys & 7).astype(np.int8)
    rest = keys >> 3
    return (rest >> _SECONDS).astype(np.int32), (rest & ((1 << _SECONDS) - 1)) + _EARLIEST, kind


def pack_moves(no: np.ndarray, t: np.ndarray, change: np.ndarray) -> np.ndarray:
    """One event for each vehicle that was moved."""
    times = np.abs(change)
    kind = np.where(change > 0, DELIVERY, REMOVAL)
    return np.repeat(pack(no, t, kind), times)


def packed(no: str, moment: str, kind: int) -> str:
    """SQL of :func:`pack` for a place number and a timestamp, cut to whole seconds."""
    second = f"(epoch_us({moment}) // 1000000)"
    return f"({no}::BIGINT * {1 << _PLACE} + ({second} - {_EARLIEST}) * 8 + {kind})"


def place_of(key: str) -> str:
    """SQL for the place number of a packed event."""
    return f"({key} >> {_PLACE})"


def place_of_keys(keys: np.ndarray) -> np.ndarray:
    """Place numbers of packed events."""
    return keys >> _PLACE


def places_between(first: int, last: int) -> tuple[int, int]:
    """Bounds of the packed events of the places from `first` to `last`, the second one excluded."""
    return first << _PLACE, (last + 1) << _PLACE
