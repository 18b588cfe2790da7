"""`unmet panel`: from trips and feeds to a demand panel that knows what it did not see."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = (
    "Example: unmet panel trips/*.zip --status events.csv.gz --stations station_information.json "
    "--by hour --zone America/New_York -o panel.parquet"
)
# Options that take every path up to the next option, as a shell writes them for a pattern.
MANY = ("--status", "--stations")


def panel(
    trips: options.Trips,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Panel to write, .parquet or .csv.")
    ],
    status: options.Status = None,
    stations: options.Stations = None,
    by: options.By = "hour",
    zone: options.Zone = None,
    times: options.Times = "local",
    hubs: options.Hubs = None,
    cells: options.Cells = None,
    keep: options.Keep = None,
    columns: options.ColumnsOption = None,
    calendar: Annotated[
        bool, typer.Option("--calendar/--no-calendar", help="Add local hour, weekday and month.")
    ] = True,
    holidays: options.Holidays = None,
    weather: options.Weather = None,
    weather_keep: options.WeatherKeep = None,
    max_gap: options.MaxGap = None,
    describe: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Draw availability and pickups of one place.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Where to draw it; otherwise beside the panel.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First local day of the picture.")] = None,
    days: Annotated[int, typer.Option(metavar="N", help="Days in the picture.")] = 7,
    max_reject_share: options.MaxRejectShare = 0.01,
    memory: options.Memory = "1GB",
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Build a panel: pickups, availability, supply and whether demand was cut off, for each place and period.

    Without --status the stock is inferred from the rides and marked so.
    """
    given = locals()
    from unmet.cli._panel_summary import as_data, print_summary
    from unmet.mobility import write_panel
    from unmet.pipeline import PanelInputs, Watching, built_panel

    inputs = PanelInputs.among(given)
    if describe is None and (picture is not None or since is not None):
        raise ValueError("--picture and --since belong to --describe PLACE")
    if describe is not None and hubs is not None:
        raise ValueError("--describe draws a station or a cell; leave --hubs out")
    if days < 1:
        raise ValueError(f"--days must be at least 1, got {days}")
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise ValueError(f"--output must end in .parquet or .csv, got {output.name!r}")
    if not output.parent.is_dir():
        raise ValueError(f"the folder of {output} does not exist; make it first")
    with (
        Watching(shown=False if quiet else None) as watching,
        built_panel(inputs, watching, describe=describe) as (con, reports, built, place),
    ):
        drawn = None
        if place is not None:
            from unmet.cli._panel_picture import draw

            drawn = draw(con, place, zone or "UTC", by, since, days)
        write_panel(con, output)
        if drawn is not None:
            from unmet.runs import write_bytes

            picture = picture or output.with_name(f"{output.stem}-{_safe(place or '')}.png")
            write_bytes(picture, drawn)
    if as_json:
        import json

        print(json.dumps(as_data(reports, built, output, picture), indent=2))
    elif not quiet:
        print_summary(reports, built, output, picture)


def _safe(place: str) -> str:
    """A file name for any place's name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in place)[:80]
