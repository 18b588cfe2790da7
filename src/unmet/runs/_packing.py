"""Pickle many small arrays with all their bytes in one piece; one by one, each costs microseconds."""

import io
import pickle
import threading
from mmap import mmap
from typing import Any

import numpy as np

Packed = tuple[bytes, bytearray]
_ALIGNED = 64  # bytes: arrays that start elsewhere are slower, and NumPy may sum them in another order

_current = threading.local()


def pack_arrays(items: Any) -> Packed:
    """Return a plain pickle of `items` and the bytes of all plain arrays in it.

    Functions and classes that cannot be imported by name raise what pickle raises.

    Examples
    --------
    >>> unpack_arrays(pack_arrays([{"y": np.arange(3)}]))
    [{'y': array([0, 1, 2])}]
    """
    arrays: list[tuple[int, np.ndarray]] = []
    size = 0

    def reduce_array(array: np.ndarray) -> Any:
        nonlocal size
        if array.dtype.hasobject or array.dtype.names is not None or array.dtype.metadata is not None:
            return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        if array.flags.f_contiguous and not array.flags.c_contiguous:  # the order decides last bits of sums
            return np.transpose, (np.ascontiguousarray(array.T),)
        begin = -(-size // _ALIGNED) * _ALIGNED
        size = begin + array.nbytes
        arrays.append((begin, array))
        return _array, (array.dtype.str, array.shape, begin)

    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {np.ndarray: reduce_array}  # type: ignore[assignment]
    pickler.dump(items)
    buffer = bytearray(size)
    for begin, array in arrays:
        np.ndarray(array.shape, array.dtype, buffer, begin)[...] = array
    return file.getvalue(), buffer


def unpack_arrays(packed: tuple[bytes, bytearray | mmap], *, copy: bool = True, start: int = 0) -> Any:
    """Return what was packed. Without a copy, arrays are views that keep the bytes of all arrays alive.

    `start` is where the bytes of the arrays begin.
    """
    _current.buffer, _current.copy, _current.start = packed[1], copy, start
    try:
        return pickle.loads(packed[0])
    finally:
        del _current.buffer


def _array(kind: str, shape: tuple[int, ...], begin: int) -> np.ndarray:
    found: np.ndarray = np.ndarray(shape, kind, _current.buffer, _current.start + begin)
    return found.copy() if _current.copy else found
