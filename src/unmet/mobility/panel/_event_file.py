"""All events of a panel in a temporary file: sorted when added, merged when they are fetched by place."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmet.mobility.panel._events import KIND_BITS, RECORD, pack
from unmet.runs import atomic_write

_STEP = 512  # an index in memory holds one in so many events
_EVENTS_PER_BATCH = 240_000
_COPIED_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Batch:
    """Events of consecutive places; places are numbered from the first place of the batch.

    Attributes
    ----------
    first, places : number of the first place, and number of places.
    keys : rides, moves and records, packed and sorted.
    value : the `value` with which each record was added, in the order of the records.
    """

    first: int
    places: int
    keys: np.ndarray
    value: np.ndarray


class EventFile:
    """Events on disk: place, second, kind and, for status records, a small value in one 64-bit integer.

    Sorting such integers with NumPy is much faster than sorting rows in a database. Memory holds only the
    array that is being added and the batches that are being fetched. Several threads may fetch.
    """

    def __init__(self, folder: Path | None, places: int, first: int, last: int, values: int = 1) -> None:
        """
        Parameters
        ----------
        places : number of places.
        first, last : earliest and latest second of any event.
        values : all values of records are below this number.
        """
        self._origin = first
        self._value_bits = (values - 1).bit_length()
        self._second_shift = self._value_bits + KIND_BITS
        self._place_shift = self._second_shift + (last - first).bit_length()
        if (places - 1).bit_length() + self._place_shift > 63:
            years = (last - first) // (365 * 86_400)
            raise ValueError(
                f"trips and status records span {years} years, too long for {places} places; "
                "remove rows with impossible times"
            )
        self.sizes = np.zeros(places, np.int64)  # number of events of each place
        self._file: Any = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed with the store
        weakref.finalize(self, self._file.close)
        self._runs: list[tuple[int, np.ndarray]] = []  # where a sorted run starts, and its index
        self._ends: list[int] = [0]

    def key(self, no: str, second: str, kind: int | str, value: str = "0") -> str:
        """Return SQL for the integer of an event."""
        return (
            f"({no}::BIGINT * {1 << self._place_shift} + ({second} - {self._origin}) * "
            f"{1 << self._second_shift} + {kind} * {1 << self._value_bits} + {value})"
        )

    def same_moment(self, keys: np.ndarray) -> np.ndarray:
        """Return which of these sorted events equal the next one, except perhaps for their value."""
        return (keys[1:] >> self._value_bits) == (keys[:-1] >> self._value_bits)

    def moment(self, key: str) -> str:
        """Return SQL for an event without its value."""
        return f"({key} >> {self._value_bits})"

    def add(self, keys: np.ndarray) -> None:
        """Add events given as integers of :meth:`key`."""
        if not len(keys):
            return
        keys = np.sort(np.asarray(keys, np.int64))
        self.sizes += np.bincount(keys >> self._place_shift, minlength=len(self.sizes))
        start = self._ends[-1]
        left, at = keys.data.cast("B"), 8 * start
        while left:
            done = os.pwrite(self._file.fileno(), left, at)
            left, at = left[done:], at + done
        self._runs.append((start, keys[::_STEP].copy()))
        self._ends.append(start + len(keys))

    def add_events(
        self, no: np.ndarray, t: np.ndarray, kind: np.ndarray, value: int | np.ndarray = 0
    ) -> None:
        """Add events given as place, second, kind and, for records, value."""
        no, t, kind = (np.asarray(values, np.int64) for values in (no, t, kind))
        self.add(
            (no << self._place_shift)
            + ((t - self._origin) << self._second_shift)
            + (kind << self._value_bits)
            + value
        )

    def batches(self, edges: int = 0) -> list[tuple[int, int]]:
        """Split the places into batches with about the same number of events; return first and last places.

        `edges` is the number of periods, whose starts are further events of every place. Batches keep memory
        bounded.
        """
        found, begin, held = [], 0, 0
        for no, size in enumerate(self.sizes.tolist()):
            if held and held + size + edges > _EVENTS_PER_BATCH:
                found.append((begin, no - 1))
                begin, held = no, 0
            held += size + edges
        return [*found, (begin, len(self.sizes) - 1)]

    def fetch(self, first: int, last: int) -> Batch:
        """Return the events of the places from `first` to `last`."""
        low, high = first << self._place_shift, (last + 1) << self._place_shift
        keys = np.concatenate([np.zeros(0, np.int64), *self._parts(low, high)])
        keys.sort()
        keys -= low
        kind = (keys >> self._value_bits) & ((1 << KIND_BITS) - 1)
        no = keys >> self._place_shift
        second = (keys >> self._second_shift) & ((1 << (self._place_shift - self._second_shift)) - 1)
        value = keys[kind == RECORD] & ((1 << self._value_bits) - 1)
        return Batch(first, last - first + 1, pack(no, second + self._origin, kind), value)

    def _parts(self, low: int, high: int) -> list[np.ndarray]:
        """Return the events of each sorted run that are at least `low` and below `high`."""
        parts = []
        for (start, marks), end in zip(self._runs, self._ends[1:]):
            first = start + max(0, int(np.searchsorted(marks, low, "left")) - 1) * _STEP
            last = min(end, start + int(np.searchsorted(marks, high, "left")) * _STEP)
            if first < last:
                held = np.frombuffer(os.pread(self._file.fileno(), 8 * (last - first), 8 * first), np.int64)
                begin, stop = np.searchsorted(held, [low, high], "left")
                parts.append(held[begin:stop])
        return parts

    def share(self, folder: Path) -> EventFile:
        """Return these events in a file of `folder`, named by its content, for processes that see it.

        Only such events can be pickled; whoever gets them opens the same file.
        """
        digest, size = hashlib.sha256(), 8 * self._ends[-1]
        for at in range(0, size, _COPIED_AT_ONCE):
            digest.update(os.pread(self._file.fileno(), min(_COPIED_AT_ONCE, size - at), at))
        path = folder / f"events-{digest.hexdigest()[:32]}"
        if not path.exists() or path.stat().st_size != size:
            with atomic_write(path) as target:
                for at in range(0, size, _COPIED_AT_ONCE):
                    target.write(os.pread(self._file.fileno(), min(_COPIED_AT_ONCE, size - at), at))
        shared = object.__new__(EventFile)
        shared.__setstate__({**self.__dict__, "_file": str(path)})
        return shared

    @property
    def name(self) -> str | None:
        """The path of the file; None where it is of this process alone."""
        return self._file.name if isinstance(self._file.name, str) else None

    def __getstate__(self) -> dict[str, Any]:
        if self.name is None:
            raise TypeError("these events are in a file of this process: share them first")
        return {**self.__dict__, "_file": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._file = open(state["_file"], "rb", buffering=0)  # noqa: SIM115 - closed with the store
        weakref.finalize(self, self._file.close)

    def close(self) -> None:
        """Delete the file, or leave one that is shared."""
        self._file.close()
