"""`unmet paper`: the tables and figures of the paper, beside the published numbers."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = (
    "Example: unmet paper bikes --full --trips trips.csv.gz --stations stations.csv "
    "--zone America/Los_Angeles -o results"
)
in_size = options.group("How much to compute")
in_trips = options.group("Your own trips, for bikes and fleet")
in_model = options.group("Network, for bikes and fleet")
What = Literal[
    "table1",
    "table2",
    "table3",
    "table4",
    "figures",
    "synthetic",
    "defaults",
    "methods",
    "bikes",
    "fleet",
    "all",
]


def paper(
    what: Annotated[
        What,
        typer.Argument(
            metavar="WHAT",
            help=f"One of {', '.join(get_args(What))}. synthetic: tables 1 to 4 and figures; "
            "defaults: why the estimator has its settings; methods: all methods on data with known "
            "quantiles; bikes, fleet: censored demand of a city.",
        ),
    ],
    output: options.Folder = Path("out/paper"),
    into: Annotated[
        Path | None,
        options.in_files(
            metavar="PATH",
            help="Also insert the tables between their markers in this Markdown file or folder.",
        ),
    ] = None,
    smoke: Annotated[
        bool, in_size("--smoke", help="Run everything quickly; the numbers mean nothing.")
    ] = False,
    full: Annotated[bool, in_size("--full", help="bikes, fleet, methods: run the whole grid.")] = False,
    only: Annotated[
        list[str] | None,
        in_size(
            metavar="METHOD",
            help="methods: run only this one and take the others from the folder; 'none' runs none. "
            "Repeatable.",
        ),
    ] = None,
    trips: Annotated[
        list[Path] | None,
        in_trips(metavar="FILE…", show_default="a simulated city", help="Trip files in any known layout."),
    ] = None,
    stations: Annotated[
        list[Path] | None,
        in_trips(metavar="FILE…", help="Read coordinates from station_information or a table of stations."),
    ] = None,
    zone: Annotated[str | None, in_trips(metavar="ZONE", help="Local time zone of the trips.")] = None,
    times: Annotated[
        Literal["local", "utc"], in_trips(metavar="local|utc", help="Whether times are local or UTC.")
    ] = "local",
    keep: Annotated[
        list[str] | None,
        in_trips(metavar="COLUMN=VALUE", help="Keep only trips with this value. Repeatable."),
    ] = None,
    holidays: Annotated[
        str | None, in_trips(metavar="REGION", help="Mark public holidays, for instance US-CA.")
    ] = None,
    units: Annotated[
        int | None, in_model(metavar="N", min=1, show_default="32", help="Units of the LSTM.")
    ] = None,
    activation: Annotated[
        str | None, in_model(metavar="NAME", show_default="tanh", help="Activation of the LSTM.")
    ] = None,
    jobs: options.Jobs = -1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="bikes, fleet: send the work to this Dask scheduler, or to worker processes here.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce the experiments of the paper and show them beside the published numbers.

    Writes tables as files and figures as PNG and SVG. Run it again and it computes only what is missing.
    """
    _check(locals())
    from unmet.papers import insert_tables, reproduce
    from unmet.pipeline import pairs_of

    asked = None
    if what in ("bikes", "fleet", "all"):
        from unmet.papers.mobility import Asked, Trips

        source = None
        if trips:
            wanted = pairs_of(keep, "keep") or {}
            source = Trips(tuple(trips), tuple(stations or ()), zone, times, wanted, holidays)
        size = "smoke" if smoke else "full" if full else "medium"
        asked = Asked(size, source, jobs, cluster, units, activation)
    folder = output / "smoke" if smoke else output
    done = []
    say = _print_nothing if quiet else _print_tables
    sizes: dict[str, Any] = {"smoke": smoke, "full": full, "only": only or ()}
    for name in reproduce(what, folder, **sizes, jobs=jobs, mobility=asked, say=say):
        done.append(name)
        if name.endswith("-cost") and not quiet:
            print((folder / f"{name}.md").read_text(encoding="utf-8"))
    if into is not None:
        insert_tables(into, folder, done)
    if not quiet:
        print(f"Written to {printable(folder)}")


def _check(given: dict[str, Any]) -> None:
    """Refuse options that contradict each other or would have no effect."""
    if given["smoke"] and given["full"]:
        raise ValueError("--smoke and --full exclude each other: choose one")
    if given["smoke"] and given["into"] is not None:
        raise ValueError("--into with --smoke would put meaningless numbers into a document: choose one")
    if given["only"] and given["what"] != "methods":
        raise ValueError("--only belongs to `unmet paper methods`")
    if given["what"] not in ("bikes", "fleet", "all"):
        for name in ("full", "trips", "cluster", "units", "activation"):
            if given[name] and (name, given["what"]) != ("full", "methods"):
                raise ValueError(f"--{name} belongs to `unmet paper bikes` and `unmet paper fleet`")
    if not given["trips"]:
        for name in ("stations", "zone", "keep", "holidays", "times"):
            if given[name] and given[name] != "local":
                raise ValueError(f"--{name} says how to read trips: give --trips too")


def _print_nothing(title: str, tables: list[Any], checks: list[Any]) -> None:
    """Print nothing."""


def _print_tables(title: str, tables: list[Any], checks: list[Any]) -> None:
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
