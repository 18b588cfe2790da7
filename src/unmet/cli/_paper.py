"""`unmet paper`: the tables and figures of the paper, beside the published numbers."""

from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLE = (
    "Example: unmet paper bikes --full --trips trips.csv.gz --stations stations.csv "
    "--zone America/Los_Angeles -o results"
)
# Options that take every path up to the next option, as a shell writes them for a pattern.
MANY = ("--trips", "--stations")
CHOICES = {
    "what": (
        *("table1", "table2", "table3", "table4", "figures"),
        *("synthetic", "defaults", "bikes", "fleet", "all"),
    ),
}


def paper(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="table1, table2, table3, table4, figures; synthetic (all of these); defaults (why the "
            "settings of the estimator are what they are); bikes, fleet (demand of a city, censored); all.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for tables and figures.")
    ] = Path("out/paper"),
    smoke: Annotated[
        bool, typer.Option("--smoke", help="A quick pass through everything; the numbers mean nothing.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="bikes, fleet: the paper's whole grid, not a part of it.")
    ] = False,
    trips: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE…", help="bikes, fleet: trips of any known layout; else a simulated city."),
    ] = None,
    stations: Annotated[
        list[Path] | None, typer.Option(metavar="FILE…", help="station_information or a table of stations.")
    ] = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="Local time zone of the trips.")] = None,
    times: Annotated[
        str, typer.Option(metavar="local|utc", help="How stamps of the trips are written.")
    ] = "local",
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Keep only trips with this value.")
    ] = None,
    holidays: Annotated[
        str | None, typer.Option(metavar="REGION", help="Holidays of the trips' region, such as US-CA.")
    ] = None,
    units: Annotated[
        int | None, typer.Option(metavar="N", help="bikes, fleet: units of the LSTM; 32 by default.")
    ] = None,
    activation: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="bikes, fleet: activation of the LSTM; tanh by default."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", help="Worker processes for `defaults`, `bikes` and `fleet`; -1: one per core."
        ),
    ] = -1,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="bikes, fleet: send the work to this Dask scheduler."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also put the tables between their markers in this Markdown file."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no tables.")] = False,
) -> None:
    """Run the paper's experiments again, beside the published numbers.

    Tables become files, figures PNG and SVG. Asked again, finished parts are not computed again.
    """
    from unmet.papers import insert_tables, reproduce

    given: dict[str, Any] = {"--full": full, "--trips": trips, "--cluster": cluster, "--units": units}
    given["--activation"] = activation
    wrong = [name for name, value in given.items() if value not in (None, False)]
    if wrong and what not in ("bikes", "fleet", "all"):
        raise ValueError(f"{wrong[0]} belongs to `unmet paper bikes` and `unmet paper fleet`, not to {what}")
    if smoke and full:
        raise ValueError("--smoke and --full exclude each other: choose one")
    of_trips: dict[str, Any] = {
        "--stations": stations,
        "--zone": zone,
        "--keep": keep,
        "--holidays": holidays,
    }
    of_trips["--times"] = times != "local"
    lost = [name for name, value in of_trips.items() if value and not trips]
    if lost:
        raise ValueError(f"{lost[0]} says how to read trips: give --trips too")
    asked = None
    if what in ("bikes", "fleet", "all"):
        from unmet.papers.mobility import Asked, Trips

        source = None
        if trips:
            from unmet.cli._options import pairs

            wanted = pairs(keep, "--keep") or {}
            source = Trips(tuple(trips), tuple(stations or ()), zone, times, wanted, holidays)
        size = "smoke" if smoke else "full" if full else "medium"
        asked = Asked(size, source, jobs, cluster, units, activation)
    folder = output / "smoke" if smoke else output
    if into is not None and smoke:
        raise ValueError("--into with --smoke would put meaningless numbers into a document: choose one")
    say = _silent if quiet else _say
    done = []
    for name in reproduce(what, folder, smoke=smoke, jobs=jobs, mobility=asked, say=say):
        done.append(name)
        if name.endswith("-cost") and not quiet:
            print((folder / f"{name}.md").read_text(encoding="utf-8"))
    if into is not None:
        insert_tables(into, folder, done)
    if not quiet:
        print(f"Written to {folder}")


def _silent(title: str, tables: list[Any], checks: list[Any]) -> None:
    """What --quiet says."""


def _say(title: str, tables: list[Any], checks: list[Any]) -> None:
    from rich.console import Console

    from unmet.papers import show_table

    console = Console(highlight=False)
    for table in tables:
        show_table(table, f"{title} ({table.title})" if table.title else title)
    for check in checks:
        mark = "[green]✓[/]" if check.holds else "[red]✗[/]"
        console.print(f"  {mark} {check.statement}: {check.found}")
    if tables or checks:
        console.print()
