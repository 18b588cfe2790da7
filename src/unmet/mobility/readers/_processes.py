"""Processes that parse plain files, for large ones: threads would wait for one another's interpreter.

A process works through files as it is told on its standard input. The columns of a part come through memory
that both share; everything else is pickled. It goes when its input ends: it never outlives its parent.
"""

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import deque
from typing import Any, BinaryIO

import numpy as np

from unmet.mobility.readers._blocks import Uneven
from unmet.mobility.readers._parts import File, Part, Parts, parts

WORTH = 48 << 20  # bytes of a file for which a process pays
_SLOTS, _SIZE = 6, 6 << 20  # parts that wait in shared memory, and bytes of each
_START = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve{memory}"


class Parsers:
    """Processes of one reading: started when first asked for, used again, ended together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: list[_Process] = []

    def parts(self, file: File) -> Parts | None:
        """The parts of a file; ``None`` where it is not worth a process, or none is to be had."""
        if os.name != "posix" or not sys.executable or file.path.stat().st_size < WORTH:
            return None
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None:
            try:
                process = _Process()
            except OSError:
                return None
            with self._lock:
                self._all.append(process)
        return self._parts(process, file)

    def _parts(self, process: "_Process", file: File) -> Parts:
        try:
            told = yield from process.parts(file)
        except BaseException:  # left in the middle, it is of no more use
            process.close()
            raise
        with self._lock:
            self._idle.append(process)
        return told

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.close()


class _Process:
    """One process, as its parent sees it."""

    def __init__(self) -> None:
        with _memory() as memory:
            memory.truncate(_SLOTS * _SIZE)
            self._memory, self._size = mmap.mmap(memory.fileno(), _SLOTS * _SIZE), _SIZE
            arguments = (memory.fileno(), _SLOTS, _SIZE)
            code = _START.format(path=sys.path, module=__name__, memory=arguments)
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[memory.fileno()],
                start_new_session=True,  # an interrupt is the parent's business
            )

    def parts(self, file: File) -> Parts:
        """Parts as they come; their columns may be looked at until the next is asked for."""
        self._send(file)
        while True:
            kind, *what = self._receive()
            if kind == "part":
                slot, rows, columns, texts = what
                yield Part(rows, {name: self._column(slot, where) for name, where in columns.items()}, texts)
                self._send(slot)
            elif kind == "told":
                return what[0]
            elif kind == "uneven":
                raise Uneven(what[0])
            else:
                raise RuntimeError(f"a file could not be parsed:\n{what[0]}")

    def _column(self, slot: int, where: Any) -> np.ndarray:
        if isinstance(where, np.ndarray):
            return where
        dtype, count, offset = where
        return np.frombuffer(self._memory, dtype, count, slot * self._size + offset)

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        try:
            _write(self._process.stdin, message)
        except OSError:
            raise Uneven("its process is gone") from None

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise Uneven("its process is gone") from None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue  # it was gone already


def _memory() -> BinaryIO:
    """A file that is nowhere but in memory, where the system has such files."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("unmet"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _write(stream: Any, message: Any) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve(memory: int, slots: int, size: int) -> None:
    """Parse files for a parent, until there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rooms = np.frombuffer(mmap.mmap(memory, slots * size), np.uint8).reshape(slots, size)
    free = deque(range(slots))
    out = sys.stdout.buffer

    def message() -> Any:
        try:
            return pickle.load(sys.stdin.buffer)
        except EOFError:
            raise SystemExit from None

    while True:
        file = message()
        if isinstance(file, int):
            free.append(file)
            continue
        found = parts(file)
        try:
            while True:
                part = next(found)
                if not free:
                    free.append(message())
                slot = free.popleft()
                _write(out, ("part", slot, part.rows, _put(part.columns, rooms[slot]), part.texts))
        except StopIteration as end:
            _write(out, ("told", end.value))
        except Uneven as error:
            _write(out, ("uneven", str(error)))
        except Exception:
            _write(out, ("failed", traceback.format_exc()))


def _put(columns: Any, room: np.ndarray) -> dict[str, Any]:
    """Copy columns into shared memory; what does not fit goes with the message."""
    placed: dict[str, Any] = {}
    used = 0
    for name, values in columns.items():
        size = values.nbytes
        if used + size > len(room):
            placed[name] = values
            continue
        room[used : used + size] = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        placed[name] = (values.dtype.str, len(values), used)
        used += -(-size // 64) * 64
    return placed
