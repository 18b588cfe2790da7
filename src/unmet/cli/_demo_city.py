"""The demo's city: simulated, written to files, read back, recovered, and held against its truth."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from unmet.cli._panel_summary import Watching
from unmet.cli._panel_work import PanelInputs
from unmet.cli._pipeline import do_fit, do_forecast, do_panel, do_plan, do_report
from unmet.cli._run_files import write_json
from unmet.cli._run_summary import tell
from unmet.runs import Steps, progress

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
    """The city of the demo, in which vans fill all places evenly, as if demand were unknown.

    So there is something to win. `watch` is told the share that is done.
    """
    from unmet.datasets import make_city
    from unmet.datasets.city import even_targets, replay

    def half(first: float) -> Callable[[float], None] | None:
        return None if watch is None else lambda share: watch(first + share / 2)

    city = make_city(size, days=days, seed=seed, shocks=shocks, spill=spill, progress=half(0.0))
    return replay(city, even_targets(city), progress=half(0.5))


def demo_inputs(made: Path) -> PanelInputs:
    """The files of the city as an operator would give them."""
    return PanelInputs(
        trips=[made / "trips.csv.gz"],
        status=[made / "station_status_events.csv.gz"],
        stations=[made / "station_information.json"],
        zone="America/New_York",
        weather=made / "weather.csv",
    )


def run_city(
    output: Path,
    *,
    size: str,
    days: int,
    shocks: str,
    seed: int,
    jobs: int,
    replace: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Everything, step by step; asked again, what is finished is kept."""
    shown = False if quiet else None
    settings = {"size": size, "days": days, "shocks": shocks, "seed": seed}

    @cache
    def whole() -> City:
        with progress(100, "City", "percent", shown=shown) as bar:
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

    def hold_against_truth() -> None:
        from unmet.cli._demo_truth import compare_with_truth

        write_json(steps.folder / "truth.json", compare_with_truth(steps.folder, whole(), shown))

    with Steps(output, source={"city": settings}, replace=replace) as steps:
        steps.run("city", write, settings=settings, outputs=["city"])
        with Watching(shown=shown) as watching:
            do_panel(steps, demo_inputs(steps.folder / "city"), watching)
        do_fit(steps, networks=("linear", "mlp"), seed=seed, jobs=jobs, shown=shown)
        do_forecast(steps, horizon=168)
        do_plan(steps, fleet=None, cost_lost=1.0, cost_idle=0.1, free=False)
        steps.run(
            "truth",
            hold_against_truth,
            inputs=[steps.folder / name for name in ("city", "model", "backtest.parquet", "lost.parquet")],
            settings=settings,
            outputs=["truth.json"],
        )
        do_report(steps, title=TITLE)
    tell(output, as_json=as_json, quiet=quiet)
