"""When Python looks for cycles among objects that nearly all stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Objects made before young ones are looked at: 700 by default, and after a hundred such looks all are.
_SELDOM = 20_000
_lock = Lock()
_inside = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def collect_seldom() -> Iterator[None]:
    """Look for garbage less often while many results are made that all stay; the caller's setting comes back.

    Looking through them took a twelfth of the time that it takes to train 9,000 small networks. Of several
    threads, the first to come keeps the setting and the last to go puts it back.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = gc.get_threshold()
            if 0 < _before[0] < _SELDOM:
                gc.set_threshold(_SELDOM, *_before[1:])
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                gc.set_threshold(*_before)
