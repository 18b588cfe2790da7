"""Large arrays for worker processes go through shared memory instead of a pipe.

A pipe passes 64 KiB at a time, and only while both ends have a core; a worker would wait for it.
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

from unmet.runs._packing import Pieces, gather_arrays, pack_arrays, unpack_arrays

_MEMORY = Path("/dev/shm")
# Below this a pipe is as good.
_SMALL = 1 << 20
# What plain pickle raises for items that it cannot handle, such as a network of the user's own.
_REFUSED = (pickle.PicklingError, AttributeError, TypeError)


@dataclass(frozen=True)
class Parcel:
    """Items on their way to another process; made by `Parcel.of`, or by `Parcels` for large arrays."""

    items: Any  # as they are, or pickled where there are `arrays`
    arrays: bytearray | str | None  # the bytes of all arrays, or the file that holds them

    @classmethod
    def of(cls, items: Any) -> "Parcel":
        """Return a parcel for the pipe, with all arrays in one piece if plain pickle can handle the items."""
        try:
            return cls(*pack_arrays(items))
        except _REFUSED:
            return cls(items, None)

    def open(self, *, copy: bool = True) -> Any:
        """Return the items. Without a copy, arrays are views that keep the bytes of all arrays alive."""
        if self.arrays is None:
            return self.items
        if not isinstance(self.arrays, str):
            return unpack_arrays((self.items, self.arrays), copy=copy)
        with open(self.arrays, "rb") as file:
            # Pages that the receiver writes to become its own.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return unpack_arrays((self.items, mapped), copy=copy)


class Mailed:
    """Parcels for other machines, which share no memory: all bytes go with them."""

    def pack(self, items: Any) -> Parcel:
        """Return a parcel that can be opened anywhere."""
        return Parcel.of(items)

    def offer(self, number: int) -> None:
        """Do nothing: whoever gets a parcel may begin it."""

    def begin(self, number: int) -> bool:
        """Return True."""
        return True

    def take_back(self, number: int) -> bool:
        """Return False: what is mailed stays so."""
        return False

    def drop(self, parcel: Parcel) -> None:
        """Do nothing: the parcel is freed with its last user."""


class Parcels:
    """A folder in shared memory for parcels, removed with all of them at the end.

    Workers get the folder too and put their answers into it. loky's tracker, a process that outlives this
    one, removes it even after a kill.

    Examples
    --------
    >>> with Parcels() as parcels:
    ...     parcels.pack([1, 2]).open()
    [1, 2]
    """

    def __enter__(self) -> "Parcels":
        from loky.backend import resource_tracker

        where = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        resource_tracker.ensure_running()  # takes a moment, in which a signal would leave the folder behind
        self._folder = tempfile.mkdtemp(prefix=f"unmet-{os.getpid()}-", dir=where)
        resource_tracker.register(self._folder, "folder")
        return self

    def __exit__(self, *error: object) -> None:
        from loky.backend import resource_tracker

        shutil.rmtree(self._folder, ignore_errors=True)
        resource_tracker.unregister(self._folder, "folder")

    def pack(self, items: Any) -> Parcel:
        """Return a parcel that can be opened any number of times until it is dropped."""
        try:
            pickled, pieces, size = gather_arrays(items)
        except _REFUSED:
            return Parcel(items, None)
        if size >= _SMALL:
            with contextlib.suppress(OSError):  # no shared memory, or it is full: use the pipe
                return Parcel(pickled, self._write(pieces))
        return Parcel(pickled, bytearray().join(pieces))

    def offer(self, number: int) -> None:
        """Let either a worker `begin` the task of this number, or this process take it back."""
        Path(self._folder, str(number)).touch()

    def begin(self, number: int) -> bool:
        """Return whether the task is the worker's; also if a worker that has died since had begun it."""
        offered = Path(self._folder, str(number))
        begun = offered.with_suffix(".begun")
        with contextlib.suppress(FileNotFoundError):
            offered.rename(begun)
        return begun.exists()

    def take_back(self, number: int) -> bool:
        """Return whether nobody had begun the task; from then on nobody can."""
        try:
            Path(self._folder, str(number)).unlink()
        except FileNotFoundError:
            return False
        return True

    def drop(self, parcel: Parcel) -> None:
        """Free the memory of a parcel that nobody will open again; what was opened stays valid."""
        if isinstance(parcel.arrays, str):
            with contextlib.suppress(OSError):
                os.unlink(parcel.arrays)

    def _write(self, pieces: Pieces) -> str:
        handle, path = tempfile.mkstemp(dir=self._folder)
        try:
            with open(handle, "wb", buffering=_SMALL) as file:
                file.writelines(pieces)
        except OSError:
            os.unlink(path)
            raise
        return path
