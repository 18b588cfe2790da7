"""`unmet fit`: from a panel to latent demand and lost rides."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet fit panel.parquet --stations station_information.json -o out"
# Options that take every path up to the next option, as a shell writes them for a pattern.
MANY = ("--stations",)


def fit(
    panel: Annotated[
        Path, typer.Argument(metavar="PANEL", help="Panel that `unmet panel` wrote, or the folder of a run.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for all results; made if needed."),
    ] = None,
    stations: options.Stations = None,
    network: options.Network = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    replace: options.Replace = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit latent demand: model, backtest, calibration, lost rides. Then: unmet forecast, plan, report.

    Without --stations places are named by their ids and stand on no map, and riders who walk to the next
    place are not told apart.
    """
    from unmet import pipeline
    from unmet.cli._run_summary import tell

    made = pipeline.fit(
        panel,
        output=output,
        stations=stations,
        network=network,
        seed=seed,
        jobs=jobs,
        replace=replace,
        progress=False if quiet else None,
    )
    tell(made, as_json=as_json, quiet=quiet, fit_only=True)
    if not (as_json or quiet):
        folder = made.folder
        print(f"Next: unmet forecast {folder}, unmet plan {folder}, unmet report {folder}")
