"""The progress bar: done of total, rate, time left; silent unless stderr is a terminal."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from unmet.runs._workers import in_worker

_DELAY_SECONDS = 1.0
# Only the outermost bar is drawn: two would write over each other.
_ONE_BAR = threading.Lock()


def progress(total: int | None, label: str, unit: str, shown: bool | None = None) -> "Progress":
    """Return a context manager that counts finished work and may show it on stderr.

    Parameters
    ----------
    total : how many there are; None if unknown.
    label : what is being done, such as "Training".
    unit : what is counted, in the plural, such as "networks".
    shown : whether to show it. None shows it if stderr is a terminal and the work takes over a second.

    Examples
    --------
    >>> with progress(3, "Training", "networks", shown=False) as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    >>> bar.done
    3
    """
    if total is not None and (not isinstance(total, int) or total < 0):
        raise ValueError(f"total must be a whole number or None, not {total!r}")
    if shown not in (None, True, False):
        raise ValueError(f"shown must be True, False or None, not {shown!r}")
    return Progress(total, label, unit, shown)


@contextmanager
def no_progress() -> Iterator[None]:
    """Draw no progress bar inside the block, not even one with `shown=True`."""
    claimed = _ONE_BAR.acquire(blocking=False)
    try:
        yield
    finally:
        if claimed:
            _ONE_BAR.release()


class Progress:
    """Counts finished work; see `progress`."""

    def __init__(self, total: int | None, label: str, unit: str, shown: bool | None) -> None:
        self.total = total
        self.done = 0
        self._before = 0  # of those, finished by an earlier run
        self._label = label
        self._unit = unit
        self._shown = shown
        self._display: Any = None
        self._task: Any = None
        self._began = 0.0
        self._last = 0.0  # when the last one was finished
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._ended = False
        self._claimed = False

    def advance(self, number: int = 1) -> None:
        """Count `number` more as finished."""
        with self._lock:
            self.done += number
            self._last = time.monotonic()
            if self._display is not None:
                self._display.update(self._task, completed=self.done)

    def resume(self, number: int = 1) -> None:
        """Count `number` as finished by an earlier run: they tell nothing of the speed of this one."""
        with self._lock:
            self.done += number
            self._before += number
            if self._display is not None:
                self._display.update(self._task, completed=self.done)

    def describe(self, label: str) -> None:
        """Say what is being done now."""
        with self._lock:
            self._label = label
            if self._display is not None:
                self._display.update(self._task, description=label)

    def __enter__(self) -> "Progress":
        self._began = self._last = time.monotonic()
        wanted = is_watched() if self._shown is None else self._shown
        self._claimed = wanted and not in_worker() and _ONE_BAR.acquire(blocking=False)
        if self._claimed and self._shown:
            self._show()
        elif self._claimed:
            # A timer, because the first step may be the long one.
            self._timer = threading.Timer(_DELAY_SECONDS, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._ended = True
            try:
                if self._display is not None:
                    self._display.stop()
            finally:
                self._display = None
                if self._claimed:
                    self._claimed = False
                    _ONE_BAR.release()

    def _show(self) -> None:
        display = _rich_display(self)
        with self._lock:
            if not self._ended:
                self._task = display.add_task(self._label, total=self.total, completed=self.done)
                self._display = display
                display.start()

    def _rate(self) -> str:
        seconds, now = time.monotonic() - self._began, self.done - self._before
        if not now or seconds <= 0:
            return ""
        if seconds > 2 * now:
            return f"{seconds / now:,.0f} s each"
        return f"{now / seconds:,.1f} {self._unit}/s"

    def _left(self) -> str:
        """Return the time left, if all go on as those that were finished now; the time taken at the end."""
        now = self.done - self._before
        if self.total is None:
            return ""
        if self.done >= self.total:
            return _clock(self._last - self._began)
        if not now:
            return "--:--"
        each = (self._last - self._began) / now
        return _clock(max(0.0, (self.total - self.done) * each - (time.monotonic() - self._last)))

    def _count(self) -> str:
        return f"{self.done:,}" + (f"/{self.total:,}" if self.total is not None else "") + f" {self._unit}"


def _clock(seconds: float) -> str:
    """Return minutes and seconds, and hours if there are any.

    >>> _clock(75), _clock(3_675)
    ('01:15', '1:01:15')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:d}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def is_watched() -> bool:
    """Return whether stderr is a terminal that can draw."""
    try:
        return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def _rich_display(bar: Progress) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    class Words(ProgressColumn):
        def __init__(self, words: Any, style: str = "") -> None:
            super().__init__(Column(no_wrap=True))
            self.words, self.style = words, style

        def render(self, task: Any) -> Text:
            return Text(self.words(), style=self.style)

    console = Console(stderr=True)
    label = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
    # Not rich's own: it looks back 30 seconds, in which slow work finishes nothing.
    left = Words(bar._left, "progress.remaining")
    # In a narrow terminal the bar shrinks, then goes, then the rate goes; words are never cut.
    total = bar.total or 0
    room = console.width - len(bar._label) - len(f"{total:,}/{total:,} {bar._unit}") - len(" 00:00:00 ")
    columns: list[ProgressColumn] = [label]
    rate = len(f" 1,000.0 {bar._unit}/s")
    if room - rate > 5:
        columns.append(BarColumn(min(40, room - rate - 1)))
    columns.append(Words(bar._count))
    if room >= rate:
        columns.append(Words(bar._rate))
    return RichProgress(*columns, left, console=console)
