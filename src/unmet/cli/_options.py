"""Options that several commands share, each described once."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli._toml import read_toml

Trips = Annotated[
    list[Path], typer.Argument(metavar="TRIPS…", help="Trip files or folders, any known layout.")
]
Status = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE…", help="Status feed: GBFS files, a folder of them, or a CSV of events."),
]
Stations = Annotated[
    list[Path] | None, typer.Option(metavar="FILE…", help="station_information or a table of stations.")
]
By = Annotated[
    str, typer.Option(metavar="hour|day|INTERVAL", help="hour, day, or any interval such as '15 minutes'.")
]
Zone = Annotated[
    str | None, typer.Option(metavar="ZONE", help="Local time zone, for instance America/New_York.")
]
Times = Annotated[str, typer.Option(metavar="local|utc", help="How stamps are written.")]
Hubs = Annotated[
    str | None, typer.Option(metavar="K|FILE", help="Superhubs: a number, or a file of place,hub.")
]
Cells = Annotated[
    int | None, typer.Option(metavar="0…15", help="H3 cells of this resolution in the stead of stations.")
]
Keep = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Keep only rows with this value.")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="FIELD=COLUMN,…", help="Columns of an unknown layout: start=…,station=…"
    ),
]
Holidays = Annotated[
    str | None, typer.Option(metavar="REGION", help="Add holidays of a country or part, such as US-NJ.")
]
Weather = Annotated[Path | None, typer.Option(metavar="FILE", help="Add weather by local day or hour.")]
WeatherKeep = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="Keep only these rows of the weather.")
]
MaxGap = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="A longer silence of the feed is unknown, such as '2 hours'."),
]
MaxRejectShare = Annotated[
    float, typer.Option(metavar="SHARE", help="Stop if more of the rows are rejected.")
]
Memory = Annotated[str, typer.Option(metavar="SIZE", help="Memory limit of the database.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")]


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=read_toml,
        help="TOML file with options; those given on the command line win.",
    ),
]


def pairs(texts: list[str] | None, option: str) -> dict[str, str] | None:
    """``name=value`` texts as a dict; None where there are none."""
    if not texts:
        return None
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"{option} takes name=value, got {text!r}")
        found[name.strip()] = value.strip()
    return found


def _cost(value: float) -> float:
    """A cost that sums can be made with."""
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"a cost is a finite number of at least 0, not {value:g}")
    return value


Folder = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all results; made if needed.")
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of a run, as `unmet run -o` names it.")
]
ByHourOrDay = Annotated[str, typer.Option(metavar="hour|day", help="Length of a period.")]
Horizon = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Periods to forecast. [default: a week of hours, 28 days]"),
]
Network = Annotated[
    list[str] | None,
    typer.Option(
        metavar="linear|mlp|lstm",
        help="Network; given several times, chosen on validation. [default: linear and mlp]",
    ),
]
Fleet = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Vehicles to share out. [default: those that usually stand there]"),
]
CostLost = Annotated[
    float, typer.Option(metavar="COST", callback=_cost, help="With --free: cost of a lost ride.")
]
CostIdle = Annotated[
    float, typer.Option(metavar="COST", callback=_cost, help="With --free: cost of an idle vehicle a day.")
]
Free = Annotated[
    bool, typer.Option("--free", help="Any fleet: each place gets what pays at --cost-lost and --cost-idle.")
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the report.")]
Replace = Annotated[bool, typer.Option("--replace", help="Start over in a folder that holds another run.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of every random draw.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Worker processes; -1: one per core.")]


COST_LOST, COST_IDLE = 1.0, 0.1


def check_plan(fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> None:
    """Refuse options of a plan that would have no effect together."""
    if free and fleet is not None:
        raise ValueError("--free takes any number of vehicles and --fleet a given one: choose one of them")
    if not free and (cost_lost, cost_idle) != (COST_LOST, COST_IDLE):
        raise ValueError("--cost-lost and --cost-idle say what pays with --free: add it, or leave them out")


def networks_of(given: list[str] | None) -> tuple[str, ...]:
    """Networks to choose among."""
    for name in given or ():
        if name not in ("linear", "mlp", "lstm"):
            raise ValueError(f"--network must be linear, mlp or lstm, got {name!r}")
    return tuple(given) if given else ("linear", "mlp")


def jobs_of(jobs: int) -> int:
    """Number of processes."""
    from unmet.runs import available_cores

    if jobs != -1 and jobs < 1:
        raise ValueError(f"--jobs must be at least 1, or -1 for one per core, got {jobs}")
    return available_cores() if jobs == -1 else jobs
