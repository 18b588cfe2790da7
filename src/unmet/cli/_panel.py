"""`unmet panel`: from trips and feeds to a demand panel that knows what it did not see."""

from pathlib import Path
from typing import Annotated

from unmet.cli import _options as options

EXAMPLE = (
    "Example: unmet panel trips/*.zip --status events.csv.gz --stations station_information.json "
    "--by hour --zone America/New_York -o panel.parquet"
)
in_picture = options.group("Picture")


def panel(
    trips: options.Trips,
    output: Annotated[
        Path,
        options.in_files(
            "--output", "-o", metavar="FILE", help="Write the panel to this .parquet or .csv file."
        ),
    ],
    status: options.Status = None,
    stations: options.Stations = None,
    weather: options.Weather = None,
    zone: options.Zone = None,
    times: options.Times = "local",
    by: options.By = "hour",
    hubs: options.Hubs = None,
    cells: options.Cells = None,
    area: options.Area = None,
    holidays: options.Holidays = None,
    calendar: Annotated[
        bool, options.in_places("--calendar/--no-calendar", help="Add local hour, weekday and month.")
    ] = True,
    columns: options.ColumnsOption = None,
    status_columns: options.StatusColumns = None,
    encoding: options.Encoding = None,
    day_first: options.DayFirst = None,
    min_duration: options.MinDuration = "60",
    keep: options.Keep = None,
    weather_keep: options.WeatherKeep = None,
    max_gap: options.MaxGap = None,
    max_reject_share: options.MaxRejectShare = 0.01,
    memory: options.Memory = None,
    cluster: options.Cluster = None,
    describe: Annotated[
        str | None, in_picture(metavar="PLACE", help="Draw availability and pickups of one station or cell.")
    ] = None,
    picture: Annotated[
        Path | None, in_picture(metavar="PNG", show_default="beside the panel", help="File to draw to.")
    ] = None,
    since: Annotated[
        str | None,
        in_picture(
            metavar="DATE",
            show_default="the days that ran out most often",
            help="First local day of the picture.",
        ),
    ] = None,
    days: Annotated[int, in_picture(metavar="N", min=1, help="Number of days in the picture.")] = 7,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Build a demand panel: pickups, availability, stock and censoring for each place and period.

    Without --status, stock is inferred from the rides and marked as inferred.
    """
    given = locals()
    from unmet.cli._panel_summary import as_data, print_summary
    from unmet.mobility import write_panel
    from unmet.pipeline import PanelInputs, Watching, beside_file, built_panel

    inputs = PanelInputs.among(given)
    if describe is None and (picture is not None or since is not None):
        raise ValueError("--picture and --since belong to --describe PLACE: add it, or leave them out")
    if describe is not None and hubs is not None:
        raise ValueError("--describe draws a station or a cell: leave out --hubs")
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise ValueError(f"--output must end in .parquet or .csv, got {output.name!r}")
    if not output.parent.is_dir():
        raise ValueError(f"the folder of {output} does not exist; create it first")
    with (
        beside_file(cluster, output) as (connected, store),
        Watching(shown=False if quiet else None) as watching,
        built_panel(inputs, watching, describe=describe, store=store, cluster=connected) as found,
    ):
        con, reports, built, place = found
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
    """Return a file name for any place."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in place)[:80]
