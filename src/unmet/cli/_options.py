"""Options that several commands share, each described once and put into the group in which help shows it."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from unmet.cli._toml import read_toml


def group(title: str) -> Callable[..., Any]:
    """Return `typer.Option` for options that help shows under this title."""
    return partial(typer.Option, rich_help_panel=title)


in_files, in_places, in_demand = group("Files"), group("Places and periods"), group("Demand")
in_plan, in_reading, in_own = group("Plan"), group("Reading"), group("Your own table")

OwnPanel = Annotated[
    Path | None,
    in_own(
        "--panel",
        metavar="FILE",
        help="Instead of trips: a panel of `unmet panel`, or your own table (CSV, Parquet) of unique_id, ds, "
        "y and one of exposure, censored, threshold.",
    ),
]
Noun = Annotated[
    str | None,
    in_own(
        metavar="WORD",
        show_default="units; rides in a panel of `unmet panel`",
        help="What the panel counts, in the plural, for instance sales.",
    ),
]
OwnTimes = Annotated[
    Literal["local", "utc"] | None,
    in_files(
        metavar="local|utc",
        show_default="local; utc in a CSV file of `unmet panel`",
        help="Whether times are local or UTC.",
    ),
]
Trips = Annotated[
    list[Path], typer.Argument(metavar="TRIPS…", help="Trip files or folders in any known layout.")
]
MaybeTrips = Annotated[
    list[Path] | None, typer.Argument(metavar="TRIPS…", help="Trip files or folders in any known layout.")
]
RunFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `unmet run` or `unmet fit` wrote.")
]

Folder = Annotated[
    Path, in_files("--output", "-o", metavar="DIR", help="Write all results into this folder.")
]
Status = Annotated[
    list[Path] | None,
    in_files(
        metavar="FILE…",
        help="Read stock from a status feed: GBFS files, a folder of them, or a CSV of events.",
    ),
]
Stations = Annotated[
    list[Path] | None,
    in_files(
        metavar="FILE…", help="Read names and coordinates from station_information or a table of stations."
    ),
]
Weather = Annotated[Path | None, in_files(metavar="FILE", help="Add weather by local day or hour.")]
Zone = Annotated[str | None, in_files(metavar="ZONE", help="Local time zone, for instance America/New_York.")]
Times = Annotated[
    Literal["local", "utc"], in_files(metavar="local|utc", help="Whether times are local or UTC.")
]

ByHourOrDay = Annotated[Literal["hour", "day"], in_places(metavar="hour|day", help="Length of a period.")]
By = Annotated[
    str,
    in_places(
        metavar="hour|day|TIME",
        autocompletion=lambda: ["hour", "day"],
        help="Length of a period; any other interval works too, for instance '15 minutes'.",
    ),
]
Hubs = Annotated[
    str | None,
    in_places(
        metavar="N|FILE", help="Group stations into this many hubs, or by a file with columns place and hub."
    ),
]
Cells = Annotated[
    int | None, in_places(metavar="0…15", help="Use H3 cells at this resolution instead of stations.")
]
Holidays = Annotated[
    str | None,
    in_places(metavar="REGION", help="Mark the public holidays of a country or region, for instance US-NJ."),
]


class NetworkName(StrEnum):
    """Networks that a fit can choose among."""

    LINEAR = "linear"
    MLP = "mlp"
    LSTM = "lstm"
    GRAPH = "graph"
    GRID = "grid"


Network = Annotated[  # commands get plain texts: a run writes them into its record
    list[NetworkName] | None,
    in_demand(
        metavar="linear|mlp|lstm|graph|grid",
        callback=lambda given: [one.value for one in given] if given else None,
        show_default="linear and mlp",
        help="Fit this network. Repeat it to choose among several on validation data.",
    ),
]
Covariates = Annotated[
    Path | None,
    in_demand(
        metavar="FILE",
        help="Forecast with what is known ahead, such as a weather forecast, by local day or hour.",
    ),
]
Horizon = Annotated[
    int | None,
    in_demand(
        min=1,
        metavar="N",
        show_default="a week; by day 28 days, by week 13 weeks",
        help="Number of periods to forecast.",
    ),
]
SelfCheck = Annotated[
    bool,
    in_demand(
        "--self-check/--no-self-check",
        help="Hide rides by virtual stock-outs, estimate them, and widen intervals that miss them.",
    ),
]
Seed = Annotated[int, in_demand(min=0, max=2**32 - 1, metavar="N", help="Seed of every random draw.")]

Fleet = Annotated[
    int | None,
    in_plan(
        min=0,
        max=1_000_000,
        metavar="N",
        show_default="as many as are usually there",
        help="Number of vehicles to distribute.",
    ),
]
Free = Annotated[
    bool, in_plan("--free", help="Ignore fleet size; add vehicles while each saves more than it costs.")
]


def _cost(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"a cost is a finite number of at least 0, not {value:g}")
    return value


CostLost = Annotated[float, in_plan(metavar="COST", callback=_cost, help="With --free: cost of a lost ride.")]
CostIdle = Annotated[
    float, in_plan(metavar="COST", callback=_cost, help="With --free: cost of an idle vehicle per day.")
]
COST_LOST, COST_IDLE = 1.0, 0.1
MaxMove = Annotated[float, in_plan(metavar="KM", help="Plan no move over more than this distance.")]
MAX_MOVE = 20.0

ColumnsOption = Annotated[
    str | None,
    in_reading(
        "--columns",
        metavar="FIELD=COLUMN,…",
        help="Name the columns of trips in an unknown layout, for instance start=Departure,station=From; of "
        "a panel, for instance y=sold,exposure=in_stock.",
    ),
]
StatusColumns = Annotated[
    str | None,
    in_reading(
        metavar="FIELD=COLUMN,…",
        help="Name the columns of an unknown status file: place=Stop,at=When,available=Bikes.",
    ),
]
Encoding = Annotated[
    str | None,
    in_reading(
        metavar="NAME", show_default="told by the bytes", help="Encoding of text files, for instance cp949."
    ),
]
DayFirst = Annotated[
    bool | None,
    in_reading(
        "--day-first/--month-first",
        show_default="told by all files of a layout",
        help="Order of day and month in dates such as 3/4/2019.",
    ),
]
MinDuration = Annotated[
    str,
    in_reading(
        metavar="TIME",
        show_default="1 minute",
        help="Set aside shorter rides that end where they began; 0 keeps them all.",
    ),
]
Keep = Annotated[
    list[str] | None,
    in_reading(
        metavar="COLUMN=VALUE",
        help="Keep only trips, or stations with their trips and status, with this value. Repeatable.",
    ),
]
Area = Annotated[
    str | None,
    in_places(
        metavar="LAT,LNG,KM|FILE",
        help="Keep only what lies within KM of a point, or in the polygon of a GeoJSON file.",
    ),
]
WeatherKeep = Annotated[
    list[str] | None,
    in_reading(metavar="COLUMN=VALUE", help="Keep only weather rows with this value. Repeatable."),
]
MaxGap = Annotated[
    str | None,
    in_reading(
        metavar="TIME",
        help="Treat stock as unknown after this long without a record, for instance '2 hours'.",
    ),
]
MaxRejectShare = Annotated[
    float, in_reading(metavar="SHARE", help="Stop if a larger share of rows cannot be read.")
]
Memory = Annotated[
    str | None,
    in_reading(
        metavar="SIZE",
        show_default="1GB",
        help="Memory limit of the database; parts of the fit run side by side as it allows.",
    ),
]

Cache = Annotated[
    bool,
    in_reading(
        "--cache/--no-cache", help="Keep what was read in the folder, so that only added files are read."
    ),
]

Title = Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the report.")]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace", help="Start over if the folder holds a different run. Files can be added without it."
    ),
]
Jobs = Annotated[
    int, typer.Option(metavar="N", help="Number of processes or threads; -1 means one per core.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local",
        help="Send the work to this Dask scheduler, or to worker processes here. The results are the same.",
    ),
]
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
