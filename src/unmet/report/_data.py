"""What the page shows, as plain frozen values; nothing here knows of files or HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unmet.results import Interval, PlaceTotals, Summary


@dataclass(frozen=True)
class Day:
    """All places together on one local day; `known` is false if too little is known of it to be shown."""

    date: str
    observed: float
    demand: float
    low: float
    high: float
    lost: float
    known: bool = True


@dataclass(frozen=True)
class CurveData:
    """Series of every place, in the order of the places, each a text of two letters a number.

    ``fine`` holds forecasts by period (tested ones of the past, then those of the horizon), ``coarse`` sums
    by day or week over the whole period. ``steps`` is the size of one unit per place. Of many places only
    those with most lost rides have a fine series; the others have None.
    """

    clock: list[int]
    history: int
    coarse_clock: list[int]
    coarse_days: int
    fine: list[dict[str, str] | None]
    coarse: list[dict[str, str]]
    fine_steps: list[float]
    coarse_steps: list[float]


@dataclass(frozen=True)
class HorizonPlace:
    """Expected demand of one place over the horizon; the busiest period with its 90% interval."""

    expected: float
    busiest: str
    peak: Interval
    unidentified: float


@dataclass(frozen=True)
class Horizon:
    """The forecast of all places: expected rides per period, and one entry per place (None: no forecast)."""

    clock: list[int]
    total: list[float]
    places: list[HorizonPlace | None]


@dataclass(frozen=True)
class Weekday:
    """Lost and wanted rides by local weekday (Monday first) and hour, per day of the period."""

    lost: list[list[float]]
    demand: list[list[float]]


@dataclass(frozen=True)
class ReportData:
    """Everything the page shows. Parts that the run did not make are None or empty, and the page says so.

    ``summary`` holds the headline figures; ``places`` stand in the order of the tables.
    """

    title: str
    summary: Summary
    places: tuple[PlaceTotals, ...]
    days: tuple[Day, ...]
    week: Weekday | None = None
    curves: CurveData | None = None
    horizon: Horizon | None = None
    calibration: dict[str, Any] = field(default_factory=dict)
    measures: tuple[dict[str, Any], ...] = ()
    plan: tuple[dict[str, Any], ...] = ()
    moves: tuple[dict[str, Any], ...] = ()
    fleet: tuple[dict[str, Any], ...] = ()
    account: dict[str, Any] = field(default_factory=dict)

    @property
    def worst(self) -> list[int]:
        """Numbers of the places, the one that lost most rides first."""
        number = {place.unique_id: n for n, place in enumerate(self.places)}
        return [number[place.unique_id] for place in self.summary.worst]
