"""Progress bars of the stages of a panel, one after another."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from unmet.runs import progress


class Watching:
    """One progress bar after another: each stage of the work gets its own."""

    def __init__(self, shown: bool | None) -> None:
        self._shown = shown
        self._bar: Any = None
        self._name = ""

    def step(self, name: str) -> Callable[[str, int, int], None]:
        """Return a callback (what, done, total) for one stage."""

        def tell(what: str, done: int, total: int) -> None:
            label = f"{name}: {what}" if name == "Panel" else name
            if label != self._name:
                self._close()
                self._name = label
                self._bar = progress(total, label, "parts", shown=self._shown).__enter__()
            if self._bar is not None and done > self._bar.done:
                self._bar.advance(done - self._bar.done)

        return tell

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
