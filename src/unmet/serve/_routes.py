"""The routes of the API: parameters, answers and their schemas, one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unmet.serve._answers import Answer, Answers
from unmet.serve._parameters import Parameter

MOST_PERIODS = 744  # a month of hours

PLACE = Parameter("place", "text", "unique_id of a place, as /api/places lists them", required=True)
FROM = Parameter(
    "from", "time", "first period; a date is its local midnight (default: four weeks before `to`)"
)
TO = Parameter("to", "time", "end, not included; a date is its local midnight (default: all there is)")
HORIZON = Parameter(
    "horizon", "integer", "number of periods (default: to the end of the forecast)", low=1, high=MOST_PERIODS
)
START = Parameter("start", "time", "first period (default: the one after the panel)")
FLEET = Parameter("fleet", "integer", "vehicles to place (default: as usual)", low=0, high=1_000_000)
COST_LOST = Parameter("cost_lost", "number", "cost of a lost ride", low=0.000001, high=1e9, default=1.0)
COST_IDLE = Parameter(
    "cost_idle",
    "number",
    "cost of a vehicle that nobody takes (0: every vehicle is placed, as in the report)",
    low=0,
    high=1e9,
    default=0.0,
)
PLACES = Parameter("places", "texts", "only these places, repeated for several (default: all)")
DATE = Parameter("date", "date", "local day to plan for (default: the first whole day ahead)")


@dataclass(frozen=True)
class Route:
    """One question: which methods ask it, with what, and the schema of what comes back.

    `at_once` says whether an answer takes less time than handing it to another thread.
    """

    summary: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Answers, dict[str, Any]], Answer]
    schema: dict[str, Any]
    methods: tuple[str, ...] = ("GET",)
    at_once: Callable[[Answers, dict[str, Any]], bool] = lambda answers, values: False


def _numbers(about: str, null: bool = True) -> dict[str, Any]:
    item = {"type": ["number", "null"] if null else "number"}
    return {"type": "array", "items": item, "description": about}


def _of(about: str, **properties: Any) -> dict[str, Any]:
    """An object that has exactly these properties."""
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
MAYBE: dict[str, Any] = {"type": ["number", "null"]}
MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
FLAGS = {"type": "array", "items": {"type": "boolean"}, "description": "false: some quantile is null there"}
TIMES = {"type": "array", "items": {"type": "string", "format": "date-time"}, "description": "starts, UTC"}
RANGE = _of("first and last period, UTC", **{"from": TEXT, "to": TEXT})
HEAD = {"place": TEXT, "name": TEXT, "zone": TEXT, "by": {"enum": ["hour", "day"]}}

PLACES_SCHEMA = _of(
    "all places",
    places={
        "type": "array",
        "items": _of("a place", unique_id=TEXT, name=TEXT, lat=MAYBE, lng=MAYBE, capacity=MAYBE),
    },
    zone=TEXT,
    by={"enum": ["hour", "day"]},
    panel={"anyOf": [RANGE, {"type": "null"}]},
    forecast=RANGE,
    plan={"anyOf": [_of("days that can be planned", **{"from": TEXT, "to": TEXT}), {"type": "null"}]},
    fleet={"type": ["integer", "null"], "description": "vehicles that usually stand at the places"},
)
PANEL_SCHEMA = _of(
    "what was seen, and the demand behind it",
    **HEAD,
    rows=WHOLE,
    columns={
        "type": "object",
        "description": "one array per column of panel.parquet and lost.parquet; null: unknown or unbounded",
        "additionalProperties": {"type": "array"},
        "required": ["ds", "y"],
    },
)
FORECAST_SCHEMA = _of(
    "quantiles of demand, also of the part that could not be served",
    **HEAD,
    horizon=WHOLE,
    ds=TIMES,
    mean=_numbers("mean demand"),
    quantiles={
        "type": "object",
        "description": "q05 … q95; null where the data cannot tell: no upper bound is known",
        "additionalProperties": _numbers("one quantile"),
    },
    identified_up_to=_numbers("highest level that the data identify"),
    identified=FLAGS,
)
PLAN_SCHEMA = _of(
    "the best places for a fleet",
    fleet=WHOLE,
    cost_lost={"type": "number"},
    cost_idle={"type": "number"},
    date=MAYBE_TEXT,
    start={**MAYBE_TEXT, "description": "start of the planned day, UTC"},
    periods={"type": ["integer", "null"], "description": "its length"},
    level={"type": "number", "description": "newsvendor level c_lost / (c_lost + c_idle)"},
    placed=WHOLE,
    kept_back={**WHOLE, "description": "vehicles that would cost more than they save"},
    expected_lost={"type": "number", "description": "lost rides with these targets"},
    expected_lost_usual={**MAYBE, "description": "lost rides with the usual stock"},
    places={
        "type": "array",
        "items": _of(
            "a place of the plan",
            unique_id=TEXT,
            name=TEXT,
            capacity={"type": ["integer", "null"]},
            usual_stock=MAYBE,
            target=WHOLE,
            expected_lost={"type": "number"},
            expected_lost_usual=MAYBE,
            value_of_next_vehicle={"type": "number", "description": "rides that one more would save"},
            identified={"type": "boolean"},
        ),
    },
)

ROUTES = {
    "/api/places": Route("Places and ranges of time", (), lambda a, p: a.places(), PLACES_SCHEMA),
    "/api/panel": Route(
        "What was seen at a place, and the demand behind it",
        (PLACE, FROM, TO),
        lambda a, p: a.panel(p["place"], p["from"], p["to"]),
        PANEL_SCHEMA,
    ),
    "/api/forecast": Route(
        "Forecast of demand at a place",
        (PLACE, HORIZON, START),
        lambda a, p: a.forecast(p["place"], p["horizon"], p["start"]),
        FORECAST_SCHEMA,
        at_once=lambda a, p: a.holds(p["place"], p["horizon"], p["start"]),
    ),
    "/api/plan": Route(
        "Stock targets for a fleet",
        (FLEET, COST_LOST, COST_IDLE, PLACES, DATE),
        lambda a, p: a.plan(p["fleet"], p["cost_lost"], p["cost_idle"], p["places"], p["date"]),
        PLAN_SCHEMA,
        ("GET", "POST"),
    ),
}
