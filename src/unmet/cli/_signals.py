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


class Stopped(KeyboardInterrupt):
    """A signal asked the program to stop."""


def _say_nothing(*about: Any) -> None:
    """Print nothing about an exception that nobody can catch."""


@contextmanager
def stop_in_one_line(name: str, last: bool) -> Iterator[None]:
    """End the program with one line and code 130 or 143 when SIGINT or SIGTERM arrives.

    What runs when the signal arrives may turn the exception into another one, as DuckDB does with a query, so
    the signal itself is remembered. Clean-up happens on the way out, undisturbed by further signals.

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
            raise Stopped

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    except BaseException:
        if not arrived:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if last or arrived else handler)
    if arrived:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the terminal shows ^C, or half a progress bar
        print(f"{name}: {_SIGNALS[signal.Signals(arrived[0])]}.", file=sys.stderr)
        # Threads may still complain about being cut short, and nobody needs that.
        sys.unraisablehook = threading.excepthook = _say_nothing
        raise SystemExit(128 + arrived[0])
