"""What a fit does before the whole panel is fitted: stages that do not depend on each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._around import Site
from unmet.forecasting._backtest import backtest
from unmet.forecasting._grid import Grid
from unmet.forecasting._inputs import Ahead
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._self_check import check_itself
from unmet.runs import Cluster, Keep, KeptTasks, Task, keep_nothing, one_blas_thread

_LEAST_SEEN = 50  # rows that did not run out, for a model that drops the others
_JUDGED = 256  # places on which models are compared


@dataclass(frozen=True)
class FitPlan:
    """The data and settings of a fit, and its stages: backtest, self-check, and a backtest of each baseline.

    Attributes
    ----------
    lowered : the panel with virtual stock-outs or its path; None leaves out the self-check.
    days : of the backtest.
    baselines : whether there are baselines.
    ahead : how far ahead forecasts are made; None: a day.
    site : where places lie, for networks that look around.
    """

    grid: Grid
    near: NearbyPlaces | None
    lowered: Any
    networks: tuple[str, ...]
    days: int
    seed: int
    baselines: bool
    ahead: Ahead | None = None
    site: Site | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def tested(self) -> Grid:
        """The grid without the days at its end of which nothing is known: they test nothing."""
        return self.grid.until(self.grid.end)

    @cached_property
    def judged(self) -> tuple[Grid, NDArray[np.int64] | None]:
        """The grid on which models are compared: all places, or of many an even choice by pickups."""
        grid = self.tested
        if len(grid.places) <= _JUDGED:
            return grid, None
        order = np.argsort(grid.y.sum(axis=1), kind="stable")
        some = np.sort(order[np.linspace(0, len(order) - 1, _JUDGED).round().astype(np.int64)])
        return grid.of_places(some), some

    @cached_property
    def stages(self) -> tuple[str, ...]:
        """The names of the stages."""
        found = ["aware"]
        if self.lowered is not None:
            found.append("self_check")
        if self.baselines:
            judged = self.judged[0]
            seen = judged.known & ~judged.censored
            found.append("unaware")
            if seen[:, : len(self.tested.ds) - self.days * self.grid.per_day].sum() >= _LEAST_SEEN:
                found.append("dropped")  # else it would have nothing to learn from
        return tuple(found)

    def run(
        self,
        stage: str,
        *,
        jobs: int = 1,
        tick: Callable[[], object] = lambda: None,
        keep: Keep = keep_nothing,
    ) -> Any:
        """Return the result of a stage: a `SelfCheck`, or a backtest and its last model."""
        if stage == "self_check":
            lowered, reserve = read_lowered(self.lowered)
            return check_itself(self.grid, lowered, reserve, self.seed, jobs=jobs, tick=tick, keep=keep)
        if stage == "aware":
            given = (self.tested, self.near, self.networks, self.days, self.seed)
            return backtest(*given, ahead=self.ahead, site=self.site, tick=tick, keep=keep)
        least = (network_of_baselines(self.networks),)
        judged, some = self.judged
        site = self.site if self.site is None or some is None else self.site.of_places(some)
        given = (_blinded(judged, stage), None, least, self.days, self.seed)
        return backtest(*given, use="seen", ahead=self.ahead, site=site, tick=tick, keep=keep)


def network_of_baselines(networks: Sequence[str]) -> str:
    """Return the one kind of network that baselines are fitted with: the cheapest, if it is asked for."""
    return "linear" if "linear" in networks else networks[0]


def stages_on(cluster: Cluster, plan: FitPlan, stages: Iterable[str], says: Mapping[str, str]) -> KeptTasks:
    """Return the stages as tasks of a cluster; each keeps its turns and weeks as it goes."""
    if isinstance(plan.lowered, str | os.PathLike):
        plan = replace(plan, lowered=os.path.abspath(plan.lowered))
    tasks = [Task(f"fit: {says[stage]}", stage) for stage in stages]
    return KeptTasks(cluster, _run_stage, plan, tasks, "stages")


def _run_stage(plan: FitPlan, stage: str, keep: Keep) -> Any:
    with one_blas_thread():
        return plan.run(stage, keep=keep)


def read_lowered(given: Any) -> tuple[Mapping[str, Any], int]:
    """Return the columns of a lowered panel, and how many vehicles it holds back."""
    if isinstance(given, (str, os.PathLike)):
        from unmet.mobility import read_panel

        given = read_panel(given)
    if "reserve" not in given.about:
        raise ValueError("lowered does not say how many vehicles it holds back; build it with `unmet run`")
    return given.columns, int(given.about["reserve"])


def _blinded(grid: Grid, how: str) -> Grid:
    """Return the grid for a baseline: pickups count as demand, or censored rows are dropped."""
    full = np.where(grid.known, 1.0, 0.0)
    none = np.zeros_like(grid.censored)
    if how == "unaware":
        return replace(grid, exposure=full, censored=none)
    kept = grid.known & ~grid.censored
    return replace(
        grid, y=np.where(kept, grid.y, 0.0), exposure=np.where(kept, 1.0, 0.0), known=kept, censored=none
    )
