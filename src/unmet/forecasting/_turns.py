"""The turns of all stages of a fit, counted on one bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STAGES = {
    "aware": "backtest",
    "self_check": "self-check",
    "unaware": "baseline that ignores stock-outs",
    "dropped": "baseline that drops stock-outs",
    "rates": "the whole panel",
    "lost": "lost rides",
}


class Turns:
    """Counts turns on `bar`, which names the stage. After `stop`, the next turn ends its thread."""

    def __init__(self) -> None:
        self.bar: Any = None
        self._stopped = False
        self._done: Counter[str] = Counter()

    def of(self, stage: str) -> Callable[[], None]:
        """Return what a stage calls after each of its turns."""

        def tick() -> None:
            if self._stopped:
                raise InterruptedError("the fit was stopped")
            self._done[stage] += 1
            self.bar.advance()

        return tick

    @contextmanager
    def stage(self, name: str, turns: int) -> Iterator[None]:
        """Name a stage on the bar; turns that it did not have to take count as done at its end."""
        self.bar.describe(f"Demand: {STAGES[name]}")
        yield
        self.bar.advance(turns - self._done[name])

    def stop(self) -> None:
        self._stopped = True
