"""All events of a panel as sorted integers in a temporary file, fetched by place."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmet.mobility.panel._events import KIND_BITS, RECORD, pack
from unmet.tables import SortedKeys

_EVENTS_PER_BATCH = 240_000


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

    Several threads may fetch.
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
        self._keys = SortedKeys(folder)

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
        keys = self._keys.add(keys)
        self.sizes += np.bincount(keys >> self._place_shift, minlength=len(self.sizes))

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
        keys = self._keys.fetch(low, high)
        keys -= low
        kind = (keys >> self._value_bits) & ((1 << KIND_BITS) - 1)
        no = keys >> self._place_shift
        second = (keys >> self._second_shift) & ((1 << (self._place_shift - self._second_shift)) - 1)
        value = keys[kind == RECORD] & ((1 << self._value_bits) - 1)
        return Batch(first, last - first + 1, pack(no, second + self._origin, kind), value)

    def share(self, folder: Path) -> EventFile:
        """Return these events in a file of `folder`, for processes that see it; only such can be pickled."""
        shared = copy.copy(self)
        shared._keys = self._keys.share(folder, "events")
        return shared

    @property
    def name(self) -> str | None:
        """The path of the file; None where it is of this process alone."""
        return self._keys.name

    def close(self) -> None:
        """Delete the file, or leave one that is shared."""
        self._keys.close()
