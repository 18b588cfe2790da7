"""Large things for worker processes: their arrays lie in shared memory instead of going through a pipe.

A pipe passes 64 KiB at a time, and only while both ends have a core; meanwhile a worker waits.
"""

import contextlib
import mmap
import os
import pickle
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmet.runs._packing import pack_arrays, unpack_arrays

_MEMORY = Path("/dev/shm")
# Below this a pipe is as good.
_SMALL = 1 << 20


@dataclass(frozen=True)
class Parcel:
    """Something on its way to another process; make one with `Parcel.of` or, for large ones, `Parcels`."""

    items: Any  # as they are, or pickled where there are `arrays`
    arrays: bytearray | str | None  # the bytes of all arrays, or the file that holds them

    @classmethod
    def of(cls, items: Any) -> "Parcel":
        """Everything through the pipe, arrays in one piece where plain pickle can."""
        try:
            return cls(*pack_arrays(items))
        except (pickle.PicklingError, AttributeError, TypeError):  # such as a network of the user's own
            return cls(items, None)

    def open(self, *, copy: bool = True) -> Any:
        """The items. Without a copy, arrays are views that keep the bytes of all of them alive."""
        if self.arrays is None:
            return self.items
        if not isinstance(self.arrays, str):
            return unpack_arrays((self.items, self.arrays), copy=copy)
        with open(self.arrays, "rb") as file:
            # Pages that the receiver writes to become its own.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return unpack_arrays((self.items, mapped), copy=copy)


class Parcels:
    """A folder in shared memory for the parcels under way, gone with all of them at the end.

    It travels to workers, which put their answers into it. It is registered with loky's tracker, a process
    that outlives this one, so that not even a kill leaves it behind.

    Examples
    --------
    >>> with Parcels() as parcels:
    ...     parcels.pack([1, 2]).open()
    [1, 2]
    """

    def __enter__(self) -> "Parcels":
        from loky.backend import resource_tracker

        where = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        self._folder = tempfile.mkdtemp(prefix="unmet-", dir=where)
        resource_tracker.register(self._folder, "folder")
        return self

    def __exit__(self, *error: object) -> None:
        from loky.backend import resource_tracker

        shutil.rmtree(self._folder, ignore_errors=True)
        resource_tracker.unregister(self._folder, "folder")

    def pack(self, items: Any) -> Parcel:
        """A parcel that can be opened, also several times, until it is dropped."""
        parcel = Parcel.of(items)
        if isinstance(parcel.arrays, bytearray) and len(parcel.arrays) >= _SMALL:
            with contextlib.suppress(OSError):  # no such memory, or it is full: through the pipe then
                return Parcel(parcel.items, self._write(parcel.arrays))
        return parcel

    def drop(self, parcel: Parcel) -> None:
        """Free the memory of a parcel that nobody will open again; who has opened it keeps what it has."""
        if isinstance(parcel.arrays, str):
            with contextlib.suppress(OSError):
                os.unlink(parcel.arrays)

    def _write(self, data: bytearray) -> str:
        handle, path = tempfile.mkstemp(dir=self._folder)
        try:
            with open(handle, "wb") as file:
                file.write(data)
        except OSError:
            os.unlink(path)
            raise
        return path
