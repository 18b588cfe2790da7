"""`unmet fit`: from a panel to latent demand and lost rides."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet fit panel.parquet -o out"


def fit(
    panel: Annotated[
        Path, typer.Argument(metavar="PANEL", help="Panel that `unmet panel` wrote, or the folder of a run.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for all results; made if needed."),
    ] = None,
    network: options.Network = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit latent demand: model, backtest, calibration, lost rides. Then: unmet forecast, plan, report."""
    import shutil

    from unmet.cli._pipeline import do_fit
    from unmet.cli._run_summary import tell
    from unmet.mobility import read_panel
    from unmet.runs import Steps, atomic_write, read_record

    if panel.is_dir():
        if output is not None and output != panel:
            raise ValueError("give the panel file with -o, or the folder of a run without -o")
        output, source = panel, read_record(panel)["source"]
    elif output is None:
        raise ValueError("give -o DIR: the folder for model, backtest and lost rides")
    else:
        read_panel(panel)
        source = {"panel": [panel.name]}
    shown = False if quiet else None
    with Steps(output, source=source) as steps:
        if not panel.is_dir():

            def copy() -> None:
                with open(panel, "rb") as given, atomic_write(steps.folder / "panel.parquet") as file:
                    shutil.copyfileobj(given, file, 1 << 20)

            steps.run("panel", copy, inputs=[panel], outputs=["panel.parquet"])
        do_fit(
            steps, networks=options.networks_of(network), seed=seed, jobs=options.jobs_of(jobs), shown=shown
        )
    tell(output, as_json=as_json, quiet=quiet)
