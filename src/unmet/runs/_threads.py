"""Threads of this process: a function over many items, for work that releases Python's lock; turns."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from threading import RLock
from typing import ParamSpec, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def in_threads(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int = 1,
    stop: Callable[[], object] = lambda: None,
) -> Iterator[Result]:
    """Yield the results in the order of the items; at most `2 * jobs` of them wait in memory.

    If a call fails or this process is interrupted, `stop` is called before the other threads are awaited.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], jobs=2))
    [1, 2, 3]
    """
    if jobs == 1:
        yield from map(function, items)
        return
    source = iter(items)
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            waiting.extend(pool.submit(function, item) for item in islice(source, 2 * jobs))
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(function, item) for item in islice(source, 1))
                yield result
        except BaseException as error:
            if waiting or not isinstance(error, GeneratorExit):  # else all are done
                stop()
            raise
        finally:
            for future in waiting:
                future.cancel()


def one_at_a_time(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let one thread at a time call a function, while others wait.

    Above `functools.cache`, so that threads that ask for the same at the same time do not all compute it.
    """
    turn = RLock()

    @wraps(function)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with turn:
            return function(*arguments, **named)

    return call


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra use one thread: for small matrices others only wait, which costs as much as work.

    The last bits of its results then do not depend on the number of cores either.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
