"""What the service answers: the shape of each JSON document, from which its OpenAPI schema is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

EXACT = ConfigDict(extra="forbid")

Whole = Annotated[int, Field(ge=0)]
Numbers = list[float | None]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Range = TypedDict("Range", {"from": str, "to": str})


@with_config(EXACT)
class Place(TypedDict):
    """A place where vehicles start."""

    unique_id: str
    name: str
    lat: float | None
    lng: float | None
    capacity: float | None


@with_config(EXACT)
class Places(TypedDict):
    """All places of the run, and the times it covers."""

    places: list[Place]
    zone: str
    by: Literal["hour", "day"]
    panel: Annotated[Range | None, Field(description="first and last observed period, UTC")]
    forecast: Annotated[Range, Field(description="first and last forecast period, UTC")]
    plan: Annotated[Range | None, Field(description="first and last day that can be planned")]
    fleet: Annotated[int | None, Field(description="vehicles usually standing at the places")]


@with_config(EXACT)
class Head(TypedDict):
    """The place an answer is about."""

    place: str
    name: str
    zone: str
    by: Literal["hour", "day"]


@with_config(EXACT)
class Panel(Head):
    """Observed rides at a place, and the estimated demand behind them."""

    rows: Whole
    columns: Annotated[
        dict[str, list[Any]],
        Field(
            description="one array per column of the panel and of the lost rides; null: unknown or unbounded"
        ),
    ]


@with_config(EXACT)
class Forecast(Head):
    """Forecast demand at a place, including rides that could not be served."""

    horizon: Whole
    ds: Annotated[list[Time], Field(description="starts of the periods, UTC")]
    mean: Annotated[Numbers, Field(description="mean demand")]
    quantiles: Annotated[
        dict[str, Numbers],
        Field(
            description="q05 … q95 of demand + U, U uniform on 0 to 1: the whole part is the quantile of the "
            "count. null where the data identify no upper bound"
        ),
    ]
    identified_up_to: Annotated[Numbers, Field(description="highest level that the data identify")]
    identified: Annotated[list[bool], Field(description="false where some quantile is null")]


@with_config(EXACT)
class Target(TypedDict):
    """A place in the plan."""

    unique_id: str
    name: str
    capacity: int | None
    usual_stock: float | None
    target: Whole
    expected_lost: float
    expected_lost_usual: float | None
    value_of_next_vehicle: Annotated[float, Field(description="rides one more vehicle would save")]
    identified: bool


@with_config(EXACT)
class Plan(TypedDict):
    """Where to put the vehicles of a fleet."""

    fleet: Whole
    cost_lost: float
    cost_idle: float
    date: str | None
    start: Annotated[str | None, Field(description="start of the planned day, UTC")]
    periods: Annotated[int | None, Field(description="periods in the planned day")]
    level: Annotated[float | None, Field(description="newsvendor level cost_lost / (cost_lost + cost_idle)")]
    placed: Whole
    kept_back: Annotated[Whole, Field(description="vehicles that would cost more than they save")]
    expected_lost: Annotated[float | None, Field(description="lost rides with these targets")]
    expected_lost_usual: Annotated[float | None, Field(description="lost rides with the usual stock")]
    places: list[Target]


class ProblemDocument(TypedDict):
    """Why a request was not answered (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: Annotated[str, Field(description="what is wrong and what to do")]
