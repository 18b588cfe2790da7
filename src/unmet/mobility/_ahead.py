"""Work ahead of the one who takes the results: threads compute, results come in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

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
        for future in waiting:
            if discard is not None and not future.cancelled() and future.exception() is None:
                discard(future.result())
