"""64-bit integers in a temporary file: sorted when they are added, merged when a range is fetched."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from unmet.runs import atomic_write

_STEP = 512  # an index in memory holds one in so many integers
_COPIED_AT_ONCE = 1 << 24


class SortedKeys:
    """Integers on disk, equal ones as often as they were added.

    Sorting integers with NumPy is much faster than sorting rows in a database. Memory holds only the array
    that is being added and the ranges that are being fetched. Several threads may fetch.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file: Any = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed with the store
        weakref.finalize(self, self._file.close)
        self._runs: list[tuple[int, np.ndarray]] = []  # where a sorted run starts, and its index
        self._ends: list[int] = [0]

    def __len__(self) -> int:
        return self._ends[-1]

    def add(self, keys: np.ndarray) -> np.ndarray:
        """Add integers; return them in order."""
        keys = np.asarray(keys, np.int64)
        if (keys[1:] < keys[:-1]).any():
            keys = np.sort(keys)
        if not len(keys):
            return keys
        start = len(self)
        left, at = np.ascontiguousarray(keys).data.cast("B"), 8 * start
        while left:
            done = os.pwrite(self._file.fileno(), left, at)
            left, at = left[done:], at + done
        self._runs.append((start, keys[::_STEP].copy()))
        self._ends.append(start + len(keys))
        return keys

    def fetch(self, low: int, high: int) -> np.ndarray:
        """Return the integers that are at least `low` and below `high`, in order."""
        keys = np.concatenate([np.zeros(0, np.int64), *self._parts(low, high)])
        keys.sort(kind="stable")  # merges runs that are sorted
        return keys

    def _parts(self, low: int, high: int) -> list[np.ndarray]:
        """Return the integers of each sorted run that are at least `low` and below `high`."""
        parts = []
        for (start, marks), end in zip(self._runs, self._ends[1:]):
            first = start + max(0, int(np.searchsorted(marks, low, "left")) - 1) * _STEP
            last = min(end, start + int(np.searchsorted(marks, high, "left")) * _STEP)
            if first < last:
                held = np.frombuffer(os.pread(self._file.fileno(), 8 * (last - first), 8 * first), np.int64)
                begin, stop = np.searchsorted(held, [low, high], "left")
                parts.append(held[begin:stop])
        return parts

    def share(self, folder: Path, name: str) -> SortedKeys:
        """Return the same in a file of `folder`, named by its content, for processes that see it.

        Only such integers can be pickled; whoever gets them opens the same file.
        """
        digest, size = hashlib.sha256(), 8 * len(self)
        for at in range(0, size, _COPIED_AT_ONCE):
            digest.update(os.pread(self._file.fileno(), min(_COPIED_AT_ONCE, size - at), at))
        path = folder / f"{name}-{digest.hexdigest()[:32]}"
        if not path.exists() or path.stat().st_size != size:
            with atomic_write(path) as target:
                for at in range(0, size, _COPIED_AT_ONCE):
                    target.write(os.pread(self._file.fileno(), min(_COPIED_AT_ONCE, size - at), at))
        shared = object.__new__(SortedKeys)
        held = {"_runs": list(self._runs), "_ends": list(self._ends)}
        shared.__setstate__({**held, "_file": str(path)})
        return shared

    @property
    def name(self) -> str | None:
        """The path of the file; None where it is of this process alone."""
        return self._file.name if isinstance(self._file.name, str) else None

    def __getstate__(self) -> dict[str, Any]:
        if self.name is None:
            raise TypeError("these are in a file of this process: share them first")
        return {**self.__dict__, "_file": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._file = open(state["_file"], "rb", buffering=0)  # noqa: SIM115 - closed with the store
        weakref.finalize(self, self._file.close)

    def close(self) -> None:
        """Delete the file, or leave one that is shared."""
        self._file.close()
