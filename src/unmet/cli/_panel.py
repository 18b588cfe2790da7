"""`unmet panel`: from trips and feeds to a demand panel that knows what it did not see."""

from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLE = (
    "Example: unmet panel trips/*.zip --status events.csv.gz --stations station_information.json "
    "--by hour --zone America/New_York -o panel.parquet"
)
# Options that take every path up to the next option, as a shell writes them for a pattern.
MANY = ("--status", "--stations")


def panel(
    trips: Annotated[
        list[Path], typer.Argument(metavar="TRIPS...", help="Trip files or folders, any known layout.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Panel to write, .parquet or .csv.")
    ],
    status: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Status feed: GBFS files, a folder of them, or a CSV of events."),
    ] = None,
    stations: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="station_information or a table of stations.")
    ] = None,
    by: Annotated[str, typer.Option(help="hour, day, or any interval such as '15 minutes'.")] = "hour",
    zone: Annotated[str | None, typer.Option(help="Local time zone, for instance America/New_York.")] = None,
    times: Annotated[str, typer.Option(help="How stamps are written: local or utc.")] = "local",
    hubs: Annotated[
        str | None, typer.Option(metavar="K|FILE", help="Superhubs: a number, or a file of place,hub.")
    ] = None,
    cells: Annotated[
        int | None, typer.Option(metavar="RES", help="H3 cells of this resolution in the stead of stations.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Keep only rows with this value.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="FIELD=COLUMN,...", help="Columns of an unknown layout: start=…,station=…"),
    ] = None,
    calendar: Annotated[
        bool, typer.Option("--calendar/--no-calendar", help="Add local hour, weekday and month.")
    ] = True,
    holidays: Annotated[
        str | None, typer.Option(metavar="REGION", help="Add holidays of a country or part, such as US-NJ.")
    ] = None,
    weather: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add weather by local day or hour.")
    ] = None,
    weather_keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Keep only these rows of the weather.")
    ] = None,
    max_gap: Annotated[
        str | None, typer.Option(help="A longer silence of the feed is unknown, such as '2 hours'.")
    ] = None,
    describe: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Draw availability and pickups of one place.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Where to draw it; otherwise beside the panel.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First local day of the picture.")] = None,
    days: Annotated[int, typer.Option(help="Days in the picture.")] = 7,
    max_reject_share: Annotated[float, typer.Option(help="Stop if more of the rows are rejected.")] = 0.01,
    memory: Annotated[str, typer.Option(help="Memory limit of the database.")] = "1GB",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Build a panel: pickups, availability, supply and whether demand was cut off, for each place and period.

    Without --status the stock is inferred from the rides and marked so.
    """
    from unmet.cli._panel_summary import Watching, as_data, print_summary
    from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips, write_panel

    if hubs is not None and cells is not None:
        raise ValueError("--hubs and --cells exclude each other: hubs are groups of stations")
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
    reports = {}
    con = connect(memory_limit=memory)
    with con, Watching(shown=False if quiet else None) as watching:
        if stations:
            reports["stations"] = read_stations(con, stations, progress=watching.step("Stations"))
            describe = None if describe is None else _place_called(con, describe)
        reports["trips"] = read_trips(
            con,
            trips,
            zone=zone,
            times=times,
            columns=_pairs(columns.split(","), "--columns") if columns else None,
            keep=_pairs(keep, "--keep") if keep else None,
            max_reject_share=max_reject_share,
            progress=watching.step("Trips"),
        )
        if status:
            reports["status"] = read_status(
                con, status, zone=zone, times=times, progress=watching.step("Status")
            )
        built = build_panel(
            con,
            by=by,
            zone=zone or "UTC",
            places="hub" if hubs else "h3" if cells is not None else "station",
            hubs=None if hubs is None else int(hubs) if hubs.isdecimal() else hubs,
            h3_resolution=8 if cells is None else cells,
            covariates=("calendar",) if calendar else (),
            holidays=holidays,
            weather=weather,
            weather_keep=_pairs(weather_keep, "--weather-keep") if weather_keep else None,
            max_gap=max_gap,
            timelines=() if describe is None else (describe,),
            progress=watching.step("Panel"),
        )
        drawn = None
        if describe is not None:
            from unmet.cli._panel_picture import draw

            drawn = draw(con, describe, zone or "UTC", by, since, days)
        write_panel(con, output)
        if drawn is not None:
            from unmet.runs import write_bytes

            picture = picture or output.with_name(f"{output.stem}-{_safe(describe or '')}.png")
            write_bytes(picture, drawn)
    if as_json:
        import json

        print(json.dumps(as_data(reports, built, output, picture), indent=2))
    elif not quiet:
        print_summary(reports, built, output, picture)


def _place_called(con: Any, name: str) -> str:
    """The id of the one station with this name (people know names, files know ids), else the text itself."""
    found = con.execute("SELECT place FROM stations WHERE lower(name) = lower(?)", [name]).fetchall()
    return found[0][0] if len(found) == 1 else name


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"{option} takes name=value, got {text!r}")
        found[name.strip()] = value.strip()
    return found


def _safe(place: str) -> str:
    """A file name for any place's name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in place)[:80]
