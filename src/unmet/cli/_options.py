"""Options that several commands share, each described once and put into the group in which help shows it."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from unmet.cli._toml import read_toml

# Groups, in the order in which a user decides.
FILES, PLACES, DEMAND, PLAN, READING = "Files", "Places and periods", "Demand", "Plan", "Reading"

Trips = Annotated[
    list[Path], typer.Argument(metavar="TRIPS…", help="Trip files or folders in any known layout.")
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `unmet run` or `unmet fit` wrote.")
]

Folder = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="DIR", rich_help_panel=FILES, help="Write all results into this folder."
    ),
]
Status = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE…",
        rich_help_panel=FILES,
        help="Read stock from a status feed: GBFS files, a folder of them, or a CSV of events.",
    ),
]
Stations = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE…",
        rich_help_panel=FILES,
        help="Read names and coordinates from station_information or a table of stations.",
    ),
]
Weather = Annotated[
    Path | None,
    typer.Option(metavar="FILE", rich_help_panel=FILES, help="Add weather by local day or hour."),
]
Zone = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE", rich_help_panel=FILES, help="Local time zone, for instance America/New_York."
    ),
]
Times = Annotated[
    Literal["local", "utc"],
    typer.Option(metavar="local|utc", rich_help_panel=FILES, help="Whether times are local or UTC."),
]

ByHourOrDay = Annotated[
    Literal["hour", "day"],
    typer.Option(metavar="hour|day", rich_help_panel=PLACES, help="Length of a period."),
]
By = Annotated[
    str,
    typer.Option(
        metavar="hour|day|TIME",
        rich_help_panel=PLACES,
        autocompletion=lambda: ["hour", "day"],
        help="Length of a period; any other interval works too, for instance '15 minutes'.",
    ),
]
Hubs = Annotated[
    str | None,
    typer.Option(
        metavar="N|FILE",
        rich_help_panel=PLACES,
        help="Group stations into this many hubs, or by a file with columns place and hub.",
    ),
]
Cells = Annotated[
    int | None,
    typer.Option(
        metavar="0…15",
        rich_help_panel=PLACES,
        help="Use H3 cells at this resolution instead of stations.",
    ),
]
Holidays = Annotated[
    str | None,
    typer.Option(
        metavar="REGION",
        rich_help_panel=PLACES,
        help="Mark the public holidays of a country or region, for instance US-NJ.",
    ),
]


class NetworkName(StrEnum):
    """Networks that a fit can choose among."""

    LINEAR = "linear"
    MLP = "mlp"
    LSTM = "lstm"


Network = Annotated[  # commands get plain texts: a run writes them into its record
    list[NetworkName] | None,
    typer.Option(
        metavar="linear|mlp|lstm",
        rich_help_panel=DEMAND,
        callback=lambda given: [one.value for one in given] if given else None,
        show_default="linear and mlp",
        help="Fit this network. Repeat it to choose among several on validation data.",
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=DEMAND,
        show_default="168 hours or 28 days",
        help="Number of periods to forecast.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", rich_help_panel=DEMAND, help="Seed of every random draw.")
]

Fleet = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        rich_help_panel=PLAN,
        show_default="as many as are usually there",
        help="Number of vehicles to distribute.",
    ),
]
Free = Annotated[
    bool,
    typer.Option(
        "--free",
        rich_help_panel=PLAN,
        help="Ignore fleet size; add vehicles while each saves more than it costs.",
    ),
]


def _cost(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"a cost is a finite number of at least 0, not {value:g}")
    return value


CostLost = Annotated[
    float,
    typer.Option(
        metavar="COST", rich_help_panel=PLAN, callback=_cost, help="With --free: cost of a lost ride."
    ),
]
CostIdle = Annotated[
    float,
    typer.Option(
        metavar="COST",
        rich_help_panel=PLAN,
        callback=_cost,
        help="With --free: cost of an idle vehicle per day.",
    ),
]
COST_LOST, COST_IDLE = 1.0, 0.1

ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="FIELD=COLUMN,…",
        rich_help_panel=READING,
        help="Name the columns of an unknown layout, for instance start=Departure,station=From.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=VALUE", rich_help_panel=READING, help="Keep only trips with this value. Repeatable."
    ),
]
WeatherKeep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=VALUE",
        rich_help_panel=READING,
        help="Keep only weather rows with this value. Repeatable.",
    ),
]
MaxGap = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        rich_help_panel=READING,
        help="Treat stock as unknown after this long without a record, for instance '2 hours'.",
    ),
]
MaxRejectShare = Annotated[
    float,
    typer.Option(
        metavar="SHARE", rich_help_panel=READING, help="Stop if a larger share of rows cannot be read."
    ),
]
Memory = Annotated[
    str, typer.Option(metavar="SIZE", rich_help_panel=READING, help="Memory limit of the database.")
]

Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the report.")]
Replace = Annotated[bool, typer.Option("--replace", help="Start over if the folder holds a different run.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Number of worker processes; -1 means one per core.")]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=read_toml,
        help="Read options from this TOML file. Options on the command line win.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def pairs(texts: list[str] | None, option: str) -> dict[str, str] | None:
    """Return ``name=value`` texts as a dict; None if there are none."""
    if not texts:
        return None
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"{option} takes name=value, got {text!r}")
        found[name.strip()] = value.strip()
    return found


def check_plan(fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> None:
    """Refuse options of a plan that contradict each other or would have no effect."""
    if free and fleet is not None:
        raise ValueError("--free ignores fleet size and --fleet sets it: choose one")
    if not free and (cost_lost, cost_idle) != (COST_LOST, COST_IDLE):
        raise ValueError("--cost-lost and --cost-idle only matter with --free: add it, or leave them out")


def networks_of(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the networks to choose among."""
    return tuple(given) if given else ("linear", "mlp")


def jobs_of(jobs: int) -> int:
    """Return the number of processes."""
    from unmet.runs import available_cores

    if jobs != -1 and jobs < 1:
        raise ValueError(f"--jobs must be at least 1, or -1 for one per core, got {jobs}")
    return available_cores() if jobs == -1 else jobs
