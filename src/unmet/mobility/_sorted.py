"""Integers on disk that come back in order, a range at a time."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from pathlib import Path

import numpy as np

_STEP = 512  # one in so many values is kept in memory, to find a range by


class SortedIntegers:
    """Arrays that were sorted one by one and written to a nameless file; a range is merged when asked for.

    Sorting 64-bit integers in NumPy costs a fraction of what a database needs to sort rows, and only one
    array and one range are in memory at a time.

    >>> store = SortedIntegers()
    >>> store.add(np.array([5, 3, 9]))
    >>> store.add(np.array([4, 8]))
    >>> store.between(4, 9)
    array([4, 5, 8])
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed with the store
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._runs: list[tuple[int, int, np.ndarray]] = []  # position in the file, length, marks
        self._written = 0

    def add(self, values: np.ndarray) -> None:
        """Add an array; several threads may do so at once."""
        values = np.sort(np.asarray(values, np.int64))
        if not len(values):
            return
        with self._lock:
            position = self._written
            self._written += len(values)
        left, at = values.data.cast("B"), 8 * position
        while left:
            done = os.pwrite(self._file.fileno(), left, at)
            left, at = left[done:], at + done
        with self._lock:
            self._runs.append((position, len(values), values[::_STEP].copy()))

    def between(self, low: int, high: int) -> np.ndarray:
        """All values from `low` on and below `high`, in order."""
        parts = [np.zeros(0, np.int64)]
        for position, length, marks in self._runs:
            first = max(0, int(np.searchsorted(marks, low, "left")) - 1) * _STEP
            last = min(length, int(np.searchsorted(marks, high, "left")) * _STEP)
            if first < last:
                held = os.pread(self._file.fileno(), 8 * (last - first), 8 * (position + first))
                values = np.frombuffer(held, np.int64)
                begin, end = np.searchsorted(values, [low, high], "left")
                parts.append(values[begin:end])
        found = np.concatenate(parts)
        found.sort()
        return found

    def close(self) -> None:
        """Give the space back."""
        self._file.close()
