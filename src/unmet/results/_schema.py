"""What a run folder holds: every file, the step that makes it, and every column with its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unmet.mobility import PANEL_COLUMNS

# time: naive UTC. flag: true or false. count: whole, 0 or more. amount: 0 or more. share: 0 to 1.
# bound: 0 or more, infinite where the data identify no upper bound.
Kind = Literal["text", "time", "flag", "count", "amount", "bound", "share", "number"]
PartKind = Literal["text", "flag", "number", "interval", "object", "list", "numbers"]
Step = Literal["panel", "fit", "forecast", "plan", "truth", "report"]


@dataclass(frozen=True)
class Column:
    """One column of a table; `optional` ones may be absent."""

    name: str
    kind: Kind
    meaning: str
    optional: bool = False


@dataclass(frozen=True)
class Part:
    """One entry of a JSON object; `each` describes the entries of a list, or the values of an object."""

    name: str
    kind: PartKind
    meaning: str
    optional: bool = False
    each: tuple[Part, ...] = ()


@dataclass(frozen=True)
class File:
    """One file of a run folder.

    `columns` describe a table, `parts` a JSON object (or, with `listed`, each object of a JSON list). An
    `open` table may have further columns, of numbers, that the user named.
    """

    name: str
    step: Step
    meaning: str
    columns: tuple[Column, ...] = ()
    parts: tuple[Part, ...] = ()
    listed: bool = False
    required: bool = False
    open: bool = False

    @property
    def needed_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if not column.optional)


_PLACE = Column("unique_id", "text", "place: station, H3 cell or hub")
_LEVELS = ("05", "10", "25", "50", "75", "90", "95")
_STARTS = Column("starts", "text", "local time at which the planned day starts", optional=True)
_TOTALS = (
    Part("observed", "number", "pickups seen"),
    Part("demand", "interval", "rides wanted; where rows are not identified, q95 is the model's word alone"),
    Part("lost", "interval", "requests that found no vehicle, here or next door; q95 as for demand"),
    Part("unserved", "interval", "requests that found no vehicle at their own place", optional=True),
    Part("next_door", "interval", "requests served by a neighbouring place", optional=True),
)


def _quantiles(prefix: str, meaning: str, optional: bool = False) -> tuple[Column, ...]:
    return tuple(
        Column(f"{prefix}{level}", "bound", f"{int(level)}% quantile of {meaning}", optional)
        for level in _LEVELS
    )


_PANEL_KINDS: dict[str, Kind] = {
    "unique_id": "text",
    "ds": "time",
    "y": "count",
    "censored": "flag",
    "exposure": "share",
    "exposure_low": "share",
    "exposure_high": "share",
    "reach": "share",
    "threshold": "bound",
    **dict.fromkeys(("supply", "returns", "deliveries", "removals"), "amount"),
    **dict.fromkeys(("stock_start", "stock_end", "capacity"), "amount"),
    "inferred": "flag",
    "observed": "share",
}
_PANEL_NEEDED = ("unique_id", "ds", "y", "censored", "exposure")
PANEL = File(
    "panel.parquet",
    "panel",
    "one row for each place and period: pickups, availability, stock, covariates",
    columns=tuple(
        Column(column.name, _PANEL_KINDS[column.name], column.meaning, column.name not in _PANEL_NEEDED)
        for column in PANEL_COLUMNS
    ),
)
STATIONS = File(
    "stations.parquet",
    "panel",
    "one row for each place",
    columns=(
        _PLACE,
        Column("name", "text", "name; the id where nobody gave one"),
        Column("lat", "number", "latitude; NaN: unknown"),
        Column("lng", "number", "longitude; NaN: unknown"),
        Column("capacity", "number", "docks; NaN: unknown", optional=True),
    ),
)
LOWERED = File(
    "lowered.parquet",
    "panel",
    "virtual stock-outs: the panel as if the last few vehicles of every place were not for rent",
    columns=(
        _PLACE,
        Column("ds", "time", "start of the local period, naive UTC"),
        Column("y", "count", "pickups while more vehicles stood than are held back"),
        Column("hidden", "count", "pickups of the vehicles that are held back"),
        Column("exposure", "share", "share of known, open time with more vehicles than are held back"),
        Column("tight", "share", "share of known, open time with vehicles, but none that is for rent"),
        Column("ran_out", "number", "times that a pickup took the last vehicle for rent", optional=True),
    ),
)
ACCOUNT = File(
    "panel.json",
    "panel",
    "what was read, every line accounted for",
    parts=(
        Part("panel", "object", "rows, places, periods, pickups and shares of time of the panel"),
        Part("trips", "object", "lines, rides, rejects and duplicates of the trip files", optional=True),
        Part("status", "object", "the same of the status feed", optional=True),
        Part("stations", "object", "the same of the stations", optional=True),
        Part("weather", "object", "the same of the weather, and values that are missing", optional=True),
    ),
)
LOST = File(
    "lost.parquet",
    "fit",
    "demand and lost rides of every row of the panel",
    required=True,
    columns=(
        _PLACE,
        Column("ds", "time", "start of the local period, naive UTC"),
        Column("y", "count", "pickups seen; 0 where the row is left out"),
        Column("censored", "flag", "vehicles ran out at some moment"),
        Column("exposure", "share", "share of time with a vehicle; NaN: the row is left out"),
        Column("demand_mean", "amount", "expected demand at this place given what was seen"),
        Column("demand_q05", "amount", "5% quantile of demand"),
        Column("demand_q50", "amount", "50% quantile of demand", optional=True),
        Column("demand_q95", "bound", "95% quantile of demand"),
        Column("lost_mean", "amount", "lost rides: requests that found no vehicle, here or next door"),
        Column("lost_q05", "amount", "5% quantile of lost rides", optional=True),
        Column("lost_q95", "bound", "95% quantile of lost rides", optional=True),
        Column(
            "next_door_mean", "amount", "expected requests that a neighbouring place served", optional=True
        ),
        Column("identified", "flag", "the data tell how high demand went; otherwise the model alone does"),
    ),
)
TOTALS = File(
    "lost_total.json",
    "fit",
    "demand and lost rides of all places, of each place and of each day",
    required=True,
    parts=(
        *_TOTALS,
        Part("spill", "object", "share of riders who walk on, and how far", optional=True),
        Part(
            "ambiguous",
            "object",
            "time in which nobody knows whether a vehicle stood there, and what lost rides rest on",
            optional=True,
        ),
        Part("places", "object", "the same for each place", each=_TOTALS),
        Part(
            "days",
            "list",
            "all places by local day",
            optional=True,
            each=(
                Part("date", "text", "local date"),
                Part("observed", "number", "pickups seen"),
                Part("demand", "number", "expected demand"),
                Part("lo", "number", "5% quantile of demand", optional=True),
                Part("hi", "number", "95% quantile of demand", optional=True),
                Part("lost", "number", "expected lost rides", optional=True),
                Part("known", "number", "share of the rows of which anything is known", optional=True),
            ),
        ),
    ),
)
BACKTEST = File(
    "backtest.parquet",
    "fit",
    "forecasts of the last weeks, each day made with what was known before it, and what happened",
    columns=(
        _PLACE,
        Column("ds", "time", "start of the local period, naive UTC"),
        Column("y", "count", "pickups seen"),
        Column("censored", "flag", "vehicles ran out at some moment"),
        Column("exposure", "share", "share of time with a vehicle", optional=True),
        Column("threshold", "bound", "stock at the start less removals", optional=True),
        Column("mean", "amount", "expected demand", optional=True),
        *_quantiles("raw", "demand + U before calibration", optional=True),
        *_quantiles("q", "demand + U, calibrated; U is uniform on 0 to 1"),
        Column("pit", "number", "randomised level of what was seen", optional=True),
        Column("pit_censored", "flag", "that level is a lower bound", optional=True),
    ),
)
CALIBRATION = File(
    "calibration.json",
    "fit",
    "how well the intervals hold",
    parts=(
        Part("bands", "list", "level of the model for each nominal level, by predicted rate"),
        Part("coverage", "object", "share of past demand inside the 90% intervals"),
        Part("daily", "object", "the same for sums of a day", optional=True),
        Part("assumption", "object", "two checks of the upper bounds compared", optional=True),
    ),
)
_HIDDEN = (
    Part("hidden", "number", "rides that virtual stock-outs hid; they really happened"),
    Part("estimate", "interval", "estimate of them"),
)
SELF_CHECK = File(
    "self_check.json",
    "fit",
    "the run checked on its own data: rides hidden by virtual stock-outs, and their estimate",
    parts=(
        Part("done", "flag", "whether the check was made"),
        Part("why", "text", "why it was not", optional=True),
        Part("reserve", "number", "vehicles of every place that were held back", optional=True),
        *(Part(part.name, part.kind, part.meaning, optional=True) for part in _HIDDEN),
        Part("ratio", "number", "estimate / hidden", optional=True),
        Part(
            "coverage",
            "number",
            "share of places whose 90% interval holds their hidden rides, with the error that others add",
            optional=True,
        ),
        Part("coverage_drawn", "number", "the same before an error is added", optional=True),
        Part("places_judged", "number", "places with enough hidden rides to judge by", optional=True),
        Part("error", "object", "relative errors added to the intervals of lost rides", optional=True),
        Part("places", "object", "the same for each place", optional=True, each=_HIDDEN),
    ),
)
MEASURES = File(
    "measures.json",
    "fit",
    "models compared on the same past forecasts",
    listed=True,
    parts=(Part("model", "text", "name of the model"),),
)
MAP = File("hubs.geojson", "fit", "places as points, with what was seen, wanted and lost there")
MODEL = File("model", "fit", "the demand model: weights and settings")
FORECAST = File(
    "forecast.parquet",
    "forecast",
    "demand of every place in the periods ahead",
    columns=(
        _PLACE,
        Column("ds", "time", "start of the local period, naive UTC"),
        Column("mean", "amount", "expected demand, whether or not a vehicle will be there"),
        *_quantiles("q", "demand + U, calibrated; U is uniform on 0 to 1; infinite: not identified"),
        Column("identified_up_to", "share", "highest level that the data identify", optional=True),
        Column(
            "unmet", "bound", "median of all demand, a whole count; infinite: not identified", optional=True
        ),
        Column("unmet-lo-90", "bound", "lower end of the 90% interval, a whole count", optional=True),
        Column("unmet-hi-90", "bound", "upper end of the 90% interval, a whole count", optional=True),
        Column("unmet-lo-50", "bound", "lower end of the 50% interval, a whole count", optional=True),
        Column("unmet-hi-50", "bound", "upper end of the 50% interval, a whole count", optional=True),
    ),
)
COVARIATES = File(
    "covariates.parquet",
    "forecast",
    "what was known of the periods ahead: holidays, and the covariates that were given",
    columns=(Column("ds", "time", "start of the local period, naive UTC"),),
    open=True,
)
PLAN = File(
    "plan.csv",
    "plan",
    "stock of every place at the start of the planned day",
    columns=(
        _PLACE,
        Column("name", "text", "name of the place"),
        Column("capacity", "count", "docks; ample room where nobody says how many"),
        Column("usual_stock", "amount", "mean stock of the last four weeks at the hour the day starts"),
        Column("target", "count", "vehicles that should stand there then"),
        Column("expected_lost_usual", "amount", "rides lost on the planned day with the usual stock"),
        Column("expected_lost_target", "amount", "rides lost with the target"),
        Column("rides_saved", "number", "the difference"),
        Column("value_of_next_vehicle", "number", "rides that one vehicle more would save"),
        Column("identified", "flag", "the median of demand is identified all day", optional=True),
        _STARTS,
    ),
)
MOVES = File(
    "moves.csv",
    "plan",
    "moves from the usual stock towards the targets, the most useful first",
    columns=(
        Column("rank", "count", "order of use"),
        Column("from", "text", "place to take vehicles from"),
        Column("to", "text", "place to bring them to"),
        Column("vehicles", "count", "how many"),
        Column("rides_saved", "number", "what that saves after the moves before it"),
        Column("from_name", "text", "name of the first place", optional=True),
        Column("to_name", "text", "name of the second place", optional=True),
        _STARTS,
    ),
)
FLEET = File(
    "fleet.csv",
    "plan",
    "lost rides of the planned day by size of the fleet",
    columns=(
        Column("fleet", "count", "vehicles, placed as well as possible"),
        Column("service_level", "number", "share of demand served"),
        Column("expected_lost", "amount", "rides lost"),
    ),
)
CURVES = File(
    "curves.json",
    "plan",
    "the planned day, recent days like it, and lost rides by starting stock",
    parts=(
        Part(
            "places", "object", "expected lost rides with 0, 1, 2 … vehicles", each=(Part("", "numbers", ""),)
        ),
        Part("day", "object", "date, weekday, start, end and zone of the planned day", optional=True),
        Part("such_days", "list", "demand and lost rides of recent days like it", optional=True),
    ),
)
TRUTH = File("truth.json", "truth", "what a simulated city knows: requests, lost rides, targets played")
PAGE = File("report.html", "report", "the report, one page that needs no other file")

FILES: dict[str, File] = {
    file.name: file
    for file in (
        *(PANEL, STATIONS, ACCOUNT, LOWERED),
        *(MODEL, LOST, TOTALS, BACKTEST, CALIBRATION, SELF_CHECK, MEASURES, MAP),
        *(FORECAST, COVARIATES),
        *(PLAN, MOVES, FLEET, CURVES),
        TRUTH,
        PAGE,
    )
}

_COMMANDS: dict[Step, str] = {
    "panel": "`unmet run … -o {folder}` or `unmet fit PANEL -o {folder}`",
    "fit": "`unmet fit {folder}`",
    "forecast": "`unmet forecast {folder}`",
    "plan": "`unmet plan {folder}`",
    "truth": "`unmet demo -o {folder}`",
    "report": "`unmet report {folder}`",
}


def made_with(folder: Path, file: File) -> str:
    """Return the command that makes a file of a run folder."""
    return _COMMANDS[file.step].format(folder=folder)


def outputs_of(step: Step, *, without: str | None = None) -> list[str]:
    """Return the names of the files that a step writes, `without` one that it cannot make."""
    return [file.name for file in FILES.values() if file.step == step and file.name != without]
