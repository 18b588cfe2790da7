"""Work ahead of the one who takes the results: threads compute, results come in order."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_TURN = 0.0005  # seconds


class _Turns:
    """How long a thread may keep the interpreter while others wait for it: short while any work ahead.

    NumPy needs the interpreter for moments only, between calls that run without it. With Python's own five
    milliseconds one core in ten stood still.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._usual = 0.0

    def shorten(self) -> None:
        with self._lock:
            if not self._users:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(_TURN, self._usual))
            self._users += 1

    def restore(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.setswitchinterval(self._usual)


_TURNS = _Turns()
Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int = 2,
    begun: int | None = None,
    discard: Callable[[Result], None] | None = None,
) -> Generator[Future[Result], None, None]:
    """Futures of ``work(item)`` in the order of the items, at most `begun` (``threads + 1``) at a time.

    The more are begun, the longer threads go on while the caller is busy with something else.
    Items are drawn by the caller's thread. If the caller stops early, what was begun is finished and handed
    to `discard`.
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="unmet")
    _TURNS.shorten()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= (begun or threads + 1):
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for future in waiting:
            future.cancel()
        pool.shutdown()
        _TURNS.restore()
        for future in waiting:
            if discard is not None and not future.cancelled() and future.exception() is None:
                discard(future.result())
