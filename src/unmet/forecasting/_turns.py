"""How far a fit is: the turns of all stages on one bar, each by what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import heapreplace
from itertools import accumulate
from threading import RLock
from typing import Any

STAGES = {
    "aware": "backtest",
    "self_check": "self-check",
    "unaware": "baseline that ignores stock-outs",
    "dropped": "baseline that drops stock-outs",
    "levels": "calibration",
    "rates": "the whole panel",
    "lost": "lost rides",
}


class Turns:
    """Shows on `bar`, in percent, how much of a fit is done. After `stop`, the next turn ends its thread.

    The measure is the time that the stages take, where `at_once` of them run side by side. Turns of the same
    cost would not do: one of the backtest takes ten times as long as one of a baseline.

    Parameters
    ----------
    costs : for each stage, in the order in which they begin, the cost of each of its turns and of what
        comes after the last.
    alone : stages that wait for all before them.
    """

    def __init__(
        self, costs: Mapping[str, Sequence[float]], alone: Sequence[str] = (), at_once: int = 1
    ) -> None:
        self.bar: Any = None
        # What is left of each stage after so many turns.
        self._left = {name: [*accumulate(reversed(cost))][::-1] for name, cost in costs.items()}
        self._alone, self._at_once = tuple(alone), at_once
        self._turns = dict.fromkeys(costs, 0)
        self._running: list[str] = []
        self._kept: set[str] = set()
        self._shown = 0
        self._stopped = False
        self._lock = RLock()
        self._whole = self.left()

    def of(self, stage: str) -> Callable[[], None]:
        """Return what a stage calls after each of its turns."""

        def tick() -> None:
            if self._stopped:
                raise InterruptedError("the fit was stopped")
            with self._lock:
                self._turns[stage] += 1
                self.bar.advance(self._news())

        return tick

    def making(self, stage: str, make: Callable[[], Any]) -> Callable[[], Any]:
        """Return `make`; a stage that ends without calling it was finished by an earlier fit."""

        def made() -> Any:
            self._kept.discard(stage)
            return make()

        self._kept.add(stage)
        return made

    def begin(self, *stages: str) -> None:
        """Name stages on the bar: of several that run, the one that ends last."""
        with self._lock:
            self._running += [name for name in stages if name not in self._running]
            self._describe()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Name a stage on the bar while it runs; at its end, all of it counts as done."""
        self.begin(name)
        yield
        with self._lock:
            self._left[name] = [0.0]
            self._running.remove(name)
            done = self._news()
            if name in self._kept:  # taken over in no time: it says nothing about the speed of this fit
                self.bar.resume(done)
            else:
                self.bar.advance(done)
            if self._running:
                self._describe()

    def stop(self) -> None:
        self._stopped = True

    def left(self) -> float:
        """Return how long the rest takes, if no stage waits while fewer than `at_once` run."""
        ends = [0.0] * self._at_once
        waiting = [name for name in self._left if name not in (*self._running, *self._alone)]
        for name in (*self._running, *waiting):
            if name not in self._alone:
                heapreplace(ends, ends[0] + self._rest(name))
        return max(ends) + sum(map(self._rest, self._alone))

    def _rest(self, name: str) -> float:
        left = self._left[name]
        return left[min(self._turns[name], len(left) - 1)]

    def _news(self) -> int:
        """Return by how many percent more is done than was shown."""
        done = int(100 * (1 - self.left() / self._whole) + 1e-9)
        news = max(0, done - self._shown)
        self._shown += news
        return news

    def _describe(self) -> None:
        last = max(self._running, key=self._rest)
        more = f" and {len(self._running) - 1} more" if len(self._running) > 1 else ""
        self.bar.describe(f"Demand: {STAGES[last]}{more}")
