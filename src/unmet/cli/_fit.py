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
    from unmet.cli._given_panel import checked_panel, take_panel
    from unmet.cli._pipeline import do_fit
    from unmet.cli._run_summary import FITTED, tell
    from unmet.runs import Steps, read_record

    given = None
    if panel.is_dir():
        if output is not None and output != panel:
            raise ValueError("give the panel file with -o, or the folder of a run without -o")
        if stations or replace:
            wrong = "--stations" if stations else "--replace"
            raise ValueError(f"{wrong} goes with a panel file; the folder of a run is fitted as it is")
        output, source = panel, read_record(panel)["source"]
    elif output is None:
        raise ValueError("give -o DIR: the folder for model, backtest and lost rides")
    else:
        given = checked_panel(panel)
        source = {"panel": [panel]}
    missing = [path for path in stations or () if not path.exists()]
    if missing:
        raise ValueError(f"{missing[0]} does not exist; check the path")
    networks, workers = options.networks_of(network), options.jobs_of(jobs)
    shown = False if quiet else None
    with Steps(output, source=source, replace=replace) as steps:
        if given is not None:
            take_panel(steps, panel, given, stations)
        do_fit(steps, networks=networks, seed=seed, jobs=workers, shown=shown)
    # What is left of a forecast and a plan may rest on the fit before.
    tell(output, as_json=as_json, quiet=quiet, files=FITTED)
    if not (as_json or quiet):
        print(f"Next: unmet forecast {output}, unmet plan {output}, unmet report {output}")
