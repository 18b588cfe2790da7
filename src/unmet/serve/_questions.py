"""What a client may ask: the parameters of each question, with their types and limits."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

MAX_PERIODS = 744  # a month of hours
MAX_PLACES = 1000
DECIMAL = re.compile(r"-?\d{1,15}(\.\d{1,20})?([eE][+-]?\d{1,3})?", re.ASCII)


def _number(given: Any) -> Any:
    """Take a JSON number or its decimal text; Pydantic alone also takes ``true``, ``1_000`` and blanks."""
    if isinstance(given, bool) or (isinstance(given, str) and not DECIMAL.fullmatch(given)):
        raise ValueError("must be a number")
    return given


def _day(given: Any) -> date:
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", given, re.A):
        return date.fromisoformat(given)
    raise ValueError("must be a date such as 2024-05-31")


def _moment(given: Any) -> date | datetime:
    """Keep a date, whose midnight depends on the zone of the run; turn a time into naive UTC."""
    try:
        if len(given) == 10:
            return _day(given)
        found = datetime.fromisoformat(given[:50])
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("must be a date (2024-05-31) or a time (2024-05-31T08:00:00Z)") from None


Plain = BeforeValidator(_number)  # after the limits of a number, or they are missing in its schema
Name = Annotated[str, Field(min_length=1, max_length=200)]
Day = Annotated[date, BeforeValidator(_day)]
Moment = Annotated[
    date | datetime,
    PlainValidator(_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": kind} for kind in ("date", "date-time")]}),
]

PlaceId = Annotated[Name, Field(description="unique_id of a place, from /api/places")]


class Question(BaseModel):
    """Parameters of a question. A parameter that does not exist is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoQuestion(Question):
    """A question without parameters."""


class PanelQuestion(Question):
    """Which part of the panel to return."""

    place: PlaceId
    start: Moment | None = Field(
        None,
        alias="from",
        description="First period; a date means its local midnight. Default: four weeks before `to`.",
    )
    end: Moment | None = Field(
        None,
        alias="to",
        description="End, not included; a date means its local midnight. Default: the end of the panel.",
    )


class ForecastQuestion(Question):
    """Which part of the future to forecast."""

    place: PlaceId
    horizon: Annotated[int, Field(ge=1, le=MAX_PERIODS), Plain] | None = Field(
        None, description="Number of periods. Default: to the end of the forecast."
    )
    start: Moment | None = Field(None, description="First period. Default: the first one after the panel.")


class PlanQuestion(Question):
    """What to plan: a fleet, its costs, a day."""

    fleet: Annotated[int, Field(ge=0, le=1_000_000), Plain] | None = Field(
        None, description="Vehicles to place. Default: the usual number."
    )
    cost_lost: Annotated[float, Field(ge=0.000001, le=1e9), Plain] = Field(
        1.0, description="Cost of a lost ride."
    )
    cost_idle: Annotated[float, Field(ge=0, le=1e9), Plain] = Field(
        0.0, description="Cost of a vehicle nobody takes. With 0, every vehicle is placed, as in the report."
    )
    places: Annotated[list[Name], Field(min_length=1, max_length=MAX_PLACES)] | None = Field(
        None, description="Plan only these places; repeat the parameter for several. Default: all."
    )
    day: Day | None = Field(
        None, alias="date", description="Local day to plan. Default: the first whole day of the forecast."
    )
