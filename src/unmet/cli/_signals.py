"""Interrupts: one line and the right exit code, whatever was under way."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_AGAIN = 0.5  # seconds after which a signal that was swallowed is raised again


class Stopped(KeyboardInterrupt):
    """A signal asked the program to stop."""


def _say_nothing(*about: Any) -> None:
    """Print nothing about an exception that nobody can catch."""


@contextmanager
def stop_in_one_line(name: str, last: bool) -> Iterator[None]:
    """End the program with one line and code 130 or 143 when SIGINT or SIGTERM arrives.

    What runs when the signal arrives may turn the exception into another one, as DuckDB does with a query, so
    the signal itself is remembered. A finalizer may swallow it; the exception is then raised again until
    the program is on its way out. Clean-up happens there, undisturbed by further signals.

    Parameters
    ----------
    name : the command, which begins the line.
    last : whether the program ends after this; signals that come too late are then ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if not arrived:
            arrived.append(number)
            # A finalizer or a thread that is cut short would complain, and nobody needs that.
            sys.unraisablehook = threading.excepthook = _say_nothing
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
            raise Stopped

    def stop_again(number: int, frame: FrameType | None) -> None:
        if sys.exception() is None:  # nothing is on its way out
            raise Stopped

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    if hasattr(signal, "setitimer"):
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_again)
    try:
        yield
    except BaseException:
        if not arrived:
            raise
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if last or arrived else handler)
    if arrived:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the terminal shows ^C, or half a progress bar
        print(f"{name}: {_SIGNALS[signal.Signals(arrived[0])]}.", file=sys.stderr)
        raise SystemExit(128 + arrived[0])
