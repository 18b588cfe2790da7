"""The demo's city: simulated, written to files, read back, recovered, and compared with its truth."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from unmet.pipeline._inputs import PanelInputs
from unmet.pipeline._options import COST_IDLE, COST_LOST, MAX_MOVE, jobs_of
from unmet.pipeline._steps import fit_step, forecast_step, panel_step, plan_step, report_step
from unmet.pipeline._watching import Watching
from unmet.results import FILES, Run, outputs_of, write_file
from unmet.runs import Steps
from unmet.runs import progress as progress_bar

if TYPE_CHECKING:
    from unmet.datasets.city import City

TITLE = "Demand of a simulated city"


def make_demo_city(
    size: str = "town",
    *,
    days: int = 90,
    shocks: str = "independent",
    seed: int = 1,
    spill: bool = True,
    watch: Callable[[float], None] | None = None,
) -> City:
    """Return the city of the demo, whose vans fill all places evenly, as if demand were unknown.

    So there is something to win. `watch` is told the share that is done.
    """
    from unmet.datasets import make_city

    return make_city(size, days=days, seed=seed, shocks=shocks, spill=spill, even=True, progress=watch)


def demo_inputs(made: Path) -> PanelInputs:
    """Return the files of the city as an operator would give them."""
    return PanelInputs(
        trips=(made / "trips.csv.gz",),
        status=(made / "station_status_events.csv.gz",),
        stations=(made / "station_information.json",),
        zone="America/New_York",
        weather=made / "weather.csv",
    )


def run_demo(
    output: str | os.PathLike[str],
    *,
    size: str = "town",
    days: int = 90,
    shocks: str = "independent",
    seed: int = 1,
    jobs: int = -1,
    replace: bool = False,
    progress: bool | None = None,
) -> Run:
    """Simulate a city, recover its demand from its files alone, and compare with the truth.

    Steps that are done and unchanged are kept.
    """
    workers = jobs_of(jobs)
    settings = {"size": size, "days": days, "shocks": shocks, "seed": seed}

    @cache
    def whole() -> City:
        with progress_bar(100, "City", "percent", shown=progress) as bar:
            return make_demo_city(
                size,
                days=days,
                shocks=shocks,
                seed=seed,
                watch=lambda share: bar.advance(int(100 * share) - bar.done),
            )

    def write() -> None:
        shutil.rmtree(steps.folder / "city", ignore_errors=True)
        whole().write(steps.folder / "city", snapshots=None)

    def compare() -> None:
        from unmet.pipeline._truth import compare_with_truth

        write_file(run.folder, FILES["truth.json"], compare_with_truth(run, whole(), progress))

    with Steps(output, source={"city": settings}, replace=replace) as steps:
        run = Run(steps.folder)  # which is not `output` while another run is being replaced
        steps.run("city", write, settings=settings, outputs=["city"])
        with Watching(shown=progress) as watching:
            panel_step(steps, demo_inputs(run.folder / "city"), watching, cache=False)
        fit_step(
            steps,
            networks=("linear", "mlp"),
            seed=seed,
            jobs=workers,
            self_check=True,
            progress=progress,
        )
        forecast_step(steps, horizon=168)
        plan_step(steps, fleet=None, cost_lost=COST_LOST, cost_idle=COST_IDLE, free=False, max_move=MAX_MOVE)
        steps.run(
            "truth",
            compare,
            inputs=[run.folder / "city", *run.need("model", "backtest.parquet", "lost.parquet")],
            settings=settings,
            outputs=outputs_of("truth"),
        )
        report_step(steps, title=TITLE)
    return Run(output)
