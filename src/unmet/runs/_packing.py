"""Pickle many small arrays with all their bytes in one piece; one by one, each costs microseconds."""

import contextlib
import gc
import io
import pickle
import threading
from collections.abc import Iterator
from mmap import mmap
from typing import Any

import numpy as np

Packed = tuple[bytes, bytearray]
Pieces = list[Any]  # bytes, and arrays that can be read as bytes
_ALIGNED = 64  # bytes: arrays that start elsewhere are slower, and NumPy may sum them in another order
_GAP = bytes(_ALIGNED)

_current = threading.local()


def pack_arrays(items: Any) -> Packed:
    """Return a plain pickle of `items` and the bytes of all plain arrays in it.

    Functions and classes that cannot be imported by name raise what pickle raises.

    Examples
    --------
    >>> unpack_arrays(pack_arrays([{"y": np.arange(3)}]))
    [{'y': array([0, 1, 2])}]
    """
    pickled, pieces, _ = gather_arrays(items)
    return pickled, bytearray().join(pieces)


def gather_arrays(items: Any) -> tuple[bytes, Pieces, int]:
    """Return the pickle, the bytes of the arrays piece by piece, not copied yet, and their number."""
    pieces: Pieces = []
    size = 0

    def reduce_array(array: np.ndarray) -> Any:
        nonlocal size
        kind, flags = array.dtype, array.flags
        if kind.hasobject or kind.names is not None or kind.metadata is not None:
            return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        if not flags.c_contiguous and flags.f_contiguous:  # the order decides last bits of sums
            return np.transpose, (np.ascontiguousarray(array.T),)
        if gap := -size % _ALIGNED:
            pieces.append(_GAP[:gap])
        begin, size = size + gap, size + gap + array.nbytes
        plain = kind.kind in "biufc" and flags.c_contiguous
        pieces.append(array if plain else array.tobytes())
        return _array, (kind, array.shape, begin)

    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {np.ndarray: reduce_array}  # type: ignore[assignment]
    with _no_collection():
        pickler.dump(items)
    return file.getvalue(), pieces, size


def unpack_arrays(packed: tuple[bytes, bytearray | mmap], *, copy: bool = True, start: int = 0) -> Any:
    """Return what was packed. Without a copy, arrays are views that keep the bytes of all arrays alive.

    `start` is where the bytes of the arrays begin.
    """
    _current.place = packed[1], start, copy
    try:
        with _no_collection():
            return pickle.loads(packed[0])
    finally:
        del _current.place


def _array(kind: np.dtype, shape: tuple[int, ...], begin: int) -> np.ndarray:
    buffer, start, copy = _current.place
    found: np.ndarray = np.ndarray(shape, kind, buffer, start + begin)
    return found.copy() if copy else found


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Make many objects that all stay: looking for garbage among them takes as long as making them."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        if gc.get_freeze_count() == 0:  # they join the old objects without being looked at
            gc.freeze()
            gc.unfreeze()
    finally:
        gc.enable()
