"""Interrupts: one line and the right exit code, whatever was under way."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_AGAIN = 0.1  # seconds after which a signal that was put off or swallowed is raised again
_IMPORT_SECONDS = 60.0  # for an import to be completed
_ERROR_SECONDS = 10.0  # for the handling of an error that has another cause
_IMPORT = "<frozen importlib._bootstrap>"  # the file of Python's own functions that import
_ARRIVED: list[int] = []  # the signal that ends this program


class Stopped(KeyboardInterrupt):
    """A signal asked the program to stop."""


def stopping() -> bool:
    """Whether a signal has arrived, so that errors and warnings are its consequence and nobody's news."""
    return bool(_ARRIVED)


@contextmanager
def stop_in_one_line(name: str, last: bool) -> Iterator[None]:
    """End the program with one line and code 130 or 143 when SIGINT or SIGTERM arrives.

    What runs when the signal arrives may turn the exception into another one, as DuckDB does with a query, so
    the signal itself is remembered. A finalizer may swallow it; the exception is then raised again until the
    program is on its way out. Clean-up happens there, undisturbed by further signals. An import is completed
    first, because compiled modules crash when they are cut short.

    Parameters
    ----------
    name : the command, which begins the line.
    last : whether the program ends after this; signals that come too late are then ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _ARRIVED.clear()
    since, leaving = 0.0, False
    again = hasattr(signal, "setitimer")
    hooks = sys.unraisablehook, threading.excepthook

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal since
        if _ARRIVED or leaving:
            return
        _ARRIVED.append(number)
        since = time.monotonic()
        _silence()
        if again:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        if not again or not _importing(frame):
            raise Stopped

    def stop_again(number: int, frame: FrameType | None) -> None:
        waited = time.monotonic() - since
        if leaving or _on_its_way_out(sys.exception(), waited):
            return
        if waited > _IMPORT_SECONDS or not _importing(frame):
            raise Stopped

    before: dict[int, Any] = {}
    try:
        try:
            for number in _SIGNALS:
                before[number] = signal.signal(number, stop)
            if again:
                before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_again)
            yield
        finally:
            leaving = True  # a signal that comes before this is caught below, one that comes after it is late
    except BaseException:
        if not _ARRIVED:
            raise
    finally:
        if again:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for changed, handler in before.items():
            signal.signal(changed, signal.SIG_IGN if last else handler)
        if _ARRIVED and not last:
            sys.unraisablehook, threading.excepthook = hooks
            logging.disable(logging.NOTSET)
    if _ARRIVED:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be gone
            if sys.stderr.isatty():
                print(file=sys.stderr)  # the terminal shows ^C, or half a progress bar
            words = f"{name}: {_SIGNALS[signal.Signals(_ARRIVED[0])]}.{_kept()}"
            print(words, file=sys.stderr, flush=True)
        if last:
            leave(128 + _ARRIVED[0])
        raise SystemExit(128 + _ARRIVED[0])


def leave(code: int) -> NoReturn:
    """End the program after what was registered for its end, without taking the interpreter apart.

    Compiled modules that were at work when a signal came, such as XLA, may crash when they are taken apart;
    at the end of a fit, taking all apart costs half a second.
    """
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _kept() -> str:
    """Return that finished work is kept, if it is; nothing is imported for it."""
    steps = getattr(sys.modules.get("unmet.runs._steps"), "Steps", None)
    if steps is None or not steps.left_unfinished:
        return ""
    return " What is finished is kept: give the same command again to go on from there."


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported."""
    while frame is not None and frame.f_code.co_filename != _IMPORT:
        frame = frame.f_back
    return frame is not None


def _on_its_way_out(error: BaseException | None, waited: float) -> bool:
    """Whether a program that handles this error will end without being told again."""
    if error is None or waited < _ERROR_SECONDS:
        return error is not None
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, Stopped):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _silence() -> None:
    """Let nothing that is cut short complain: finalizers, threads, unfinished tasks of asyncio."""
    sys.unraisablehook = threading.excepthook = _say_nothing
    logging.disable(logging.CRITICAL)


def _say_nothing(*about: Any) -> None:
    """Print nothing about an exception that nobody can catch."""
