"""Rows of groups of places by the workers of a cluster, from a ledger in a folder that they see."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np

from unmet.calendar import Periods
from unmet.mobility.panel._ledger import Ledger
from unmet.runs import Cluster, Keep, KeptTasks, Task

Frame = dict[str, np.ndarray]
Numbers = tuple[int, int]
_BATCHES = 8  # of places, in one task


class SharedLedger:
    """A ledger whose rows the workers of a cluster compute, a task for each group of places."""

    def __init__(self, cluster: Cluster, ledger: Ledger, periods: Periods) -> None:
        if cluster.folder is None:
            raise ValueError("the cluster has no folder: give Cluster(address, folder=...) one to share")
        self._cluster, self._periods = cluster, periods
        folder = cluster.folder / "events"
        folder.mkdir(exist_ok=True)
        self._ledger = ledger.share(folder)
        self._kept: list[KeptTasks] = []

    def frames(
        self, what: str, function: Callable[..., Frame], batches: list[Numbers], *more: Any
    ) -> Generator[Frame, None, None]:
        """Yield ``function(ledger, numbers, periods, *more)`` of all batches, in their order.

        `what` they are is told in errors.
        """
        groups = [batches[begin : begin + _BATCHES] for begin in range(0, len(batches), _BATCHES)]
        tasks = [Task(f"{what} of places {group[0][0]} to {group[-1][1]}", group) for group in groups]
        common = (function, self._ledger, self._periods, more)
        self._kept.append(KeptTasks(self._cluster, _of_group, common, tasks, what))
        for frames in self._kept[-1].results():
            yield from frames

    def forget(self) -> None:
        """Remove the ledger and all rows from the folder."""
        for kept in self._kept:
            kept.forget()
        self._ledger.close()
        for name in self._ledger.files:
            Path(name).unlink(missing_ok=True)


def _of_group(common: Any, group: list[Numbers], keep: Keep) -> list[Frame]:
    function, ledger, periods, more = common
    return [function(ledger, numbers, periods, *more) for numbers in group]
