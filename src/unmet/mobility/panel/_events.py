"""Kinds of events, and events packed into integers that sort by place, second and kind."""

from __future__ import annotations

import numpy as np

# Events of the same second are ordered by kind. A period starts before anything else happens, a vehicle is
# returned before it can be picked up again, and a status record shows the stock at the end of its second.
# Unknown time begins or ends at a CUT.
EDGE, IS_OPEN, IS_CLOSED, IS_UNKNOWN, RETURN, PICKUP, DELIVERY, REMOVAL, RECORD, CUT = range(10)
KIND_BITS = 4
KINDS = CUT + 1
CHANGE = np.array([0, 0, 0, 0, 1, -1, 1, -1, 0, 0], np.int8)  # of the stock, by kind
_SECOND_BITS = 37
_EARLIEST = -(1 << (_SECOND_BITS - 1))


def pack(no: np.ndarray, t: np.ndarray | int, kind: np.ndarray | int) -> np.ndarray:
    """Return one integer per event; integers sort by place, second and kind."""
    no, t = np.asarray(no, np.int64), np.asarray(t, np.int64)
    return (((no << _SECOND_BITS) | (t - _EARLIEST)) << KIND_BITS) | kind


def unpack(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place number, second and kind of packed events."""
    kind = (keys & ((1 << KIND_BITS) - 1)).astype(np.int8)
    rest = keys >> KIND_BITS
    return (rest >> _SECOND_BITS).astype(np.int32), (rest & ((1 << _SECOND_BITS) - 1)) + _EARLIEST, kind


def pack_moves(no: np.ndarray, t: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return one delivery or removal for each vehicle that was moved."""
    kind = np.where(change > 0, DELIVERY, REMOVAL)
    return np.repeat(pack(no, t, kind), np.abs(change))
