"""Generators in other processes, whose arrays come through shared memory: for what threads would share one
interpreter.

A process works through generators as it is told on its standard input; whatever is no array is pickled. It is
started by its own command, so that scripts need no main guard, and goes when its input ends, so that it never
outlives its parent.
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
from collections.abc import Callable, Generator, Mapping
from typing import Any, BinaryIO

import numpy as np

Arrays = Mapping[str, np.ndarray]
Stream = Generator[tuple[Arrays, Any], None, Any]
_SLOTS, _SIZE = 6, 6 << 20  # items that wait in shared memory, and bytes of each
_START = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve{arguments}"


class StreamLostError(RuntimeError):
    """The process of a generator could not be started, or is gone."""


class Streams:
    """Processes that are started when first asked for, used again, and ended together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: list[_Process] = []

    def run(self, function: Callable[[Any], Stream], argument: Any) -> Stream:
        """What the generator ``function(argument)`` yields and returns; both must be picklable.

        Arrays may be looked at until the next item is asked for. Several threads may run one each.
        An exception of the generator is raised here.
        """
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None:
            process = _Process()
            with self._lock:
                self._all.append(process)
        try:
            end = yield from process.run(function, argument)
        except BaseException:  # left in the middle, it is of no more use
            process.close()
            raise
        with self._lock:
            self._idle.append(process)
        return end

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.close()


class _Process:
    """One process, as its parent sees it."""

    def __init__(self) -> None:
        if os.name != "posix" or not sys.executable:
            raise StreamLostError("there is no way to start a process here")
        try:
            with _memory() as memory:
                memory.truncate(_SLOTS * _SIZE)
                self._memory, self._size = mmap.mmap(memory.fileno(), _SLOTS * _SIZE), _SIZE
                arguments = (memory.fileno(), _SLOTS, _SIZE)
                code = _START.format(path=sys.path, module=__name__, arguments=arguments)
                self._process = subprocess.Popen(
                    [sys.executable, "-c", code],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=[memory.fileno()],
                    start_new_session=True,  # an interrupt is the parent's business
                )
        except OSError as error:
            raise StreamLostError(f"a process could not be started: {error}") from error

    def run(self, function: Callable[[Any], Stream], argument: Any) -> Stream:
        self._send((function, argument))
        while True:
            kind, *what = self._receive()
            if kind == "item":
                slot, arrays, rest = what
                yield {name: self._array(slot, where) for name, where in arrays.items()}, rest
                self._send(slot)
            elif kind == "end":
                return what[0]
            else:
                error, trace = what
                raise error from RuntimeError(f"in another process:\n{trace}")

    def _array(self, slot: int, where: Any) -> np.ndarray:
        if isinstance(where, np.ndarray):
            return where
        dtype, count, offset = where
        return np.frombuffer(self._memory, dtype, count, slot * self._size + offset)

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        try:
            _write(self._process.stdin, message)
        except OSError:
            raise StreamLostError("the process is gone") from None

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise StreamLostError("the process is gone") from None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue  # its other end was gone already


def _memory() -> BinaryIO:
    """A file that is nowhere but in memory, where the system has such files."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("unmet"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _write(stream: Any, message: Any) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve(memory: int, slots: int, size: int) -> None:
    """Run generators for a parent, until there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rooms = np.frombuffer(mmap.mmap(memory, slots * size), np.uint8).reshape(slots, size)
    free = deque(range(slots))
    out, sys.stdout = sys.stdout.buffer, sys.stderr  # what generators print must not come between messages

    def message() -> Any:
        try:
            return pickle.load(sys.stdin.buffer)
        except EOFError:
            raise SystemExit from None

    while True:
        told = message()
        if isinstance(told, int):
            free.append(told)
            continue
        function, argument = told
        try:
            found = function(argument)
            while True:
                arrays, rest = next(found)
                if not free:
                    free.append(message())
                slot = free.popleft()
                _write(out, ("item", slot, _put(arrays, rooms[slot]), rest))
        except StopIteration as end:
            _write(out, ("end", end.value))
        except Exception as error:
            _write(out, ("error", error, traceback.format_exc()))


def _put(arrays: Arrays, room: np.ndarray) -> dict[str, Any]:
    """Copy arrays into shared memory; what does not fit goes with the message."""
    placed: dict[str, Any] = {}
    used = 0
    for name, values in arrays.items():
        if used + values.nbytes > len(room):
            placed[name] = values
            continue
        room[used : used + values.nbytes] = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        placed[name] = (values.dtype.str, len(values), used)
        used += -(-values.nbytes // 64) * 64
    return placed
