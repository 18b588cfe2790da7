"""`unmet fit`: from a panel to latent demand and lost rides."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = "Example: unmet fit sales.csv --columns y=sold,exposure=in_stock --noun sales -o out"


def fit(
    panel: Annotated[
        Path,
        typer.Argument(
            metavar="PANEL",
            help="Panel that `unmet panel` wrote, your own table (CSV, Parquet), or the folder of a run.",
        ),
    ],
    output: Annotated[
        Path | None,
        options.in_files(
            "--output",
            "-o",
            metavar="DIR",
            help="Write all results into this folder; leave it out to fit a run again.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        options.in_own(
            "--columns",
            metavar="FIELD=COLUMN,…",
            help="Name the columns of your own table: unique_id, ds, y, exposure, censored, threshold. For "
            "instance y=sold,exposure=in_stock.",
        ),
    ] = None,
    noun: options.Noun = None,
    zone: options.Zone = None,
    times: options.OwnTimes = None,
    stations: options.Stations = None,
    network: options.Network = None,
    self_check: options.SelfCheck = True,
    seed: options.Seed = 0,
    max_reject_share: options.MaxRejectShare = 0.01,
    memory: options.Memory = None,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    replace: options.Replace = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit latent demand to a panel: model, backtest, calibration, lost rides.

    Your own table is in long format: unique_id, ds (start of the period), y (a count) and one of exposure
    (share of the period with supply), censored (whether it ran out) and threshold (the most that could be
    counted), in steps from 15 minutes to a week. Without --stations, places have ids instead of names, the
    report has no map, and riders who walked to a neighbour count as lost.
    """
    from unmet import pipeline
    from unmet.cli._run_summary import tell

    made = pipeline.fit(
        panel,
        output=output,
        columns=columns,
        zone=zone,
        times=times,
        noun=noun,
        stations=stations,
        network=network,
        self_check=self_check,
        seed=seed,
        max_reject_share=max_reject_share,
        memory=memory,
        jobs=jobs,
        replace=replace,
        progress=False if quiet else None,
        cluster=cluster,
    )
    tell(made, as_json=as_json, quiet=quiet, fit_only=True)
    if not (as_json or quiet):
        folder = printable(made.folder)
        can_plan = (made.account or {}).get("panel", {}).get("no_plan") is None
        steps = ("forecast", "plan", "report") if can_plan else ("forecast", "report")
        print(f"Next: {', '.join(f'unmet {step} {folder}' for step in steps)}")
