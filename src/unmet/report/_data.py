"""What the page shows, as plain frozen values; nothing here knows of files or HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any


@dataclass(frozen=True)
class Interval:
    """An estimate with its 90% interval; ``high`` is infinite where the data identify no upper bound."""

    mean: float
    low: float
    high: float

    @property
    def identified(self) -> bool:
        return isfinite(self.high)


@dataclass(frozen=True)
class PlaceTotals:
    """One place over the whole period.

    ``censored`` is the share of periods in which vehicles ran out, ``empty`` the share of known time without
    one, ``unsure`` the share of the lost rides in periods whose upper bound is not identified. Coordinates
    and capacity are None where nobody gave them.
    """

    unique_id: str
    name: str
    lat: float | None
    lng: float | None
    capacity: float | None
    observed: float
    demand: Interval
    lost: Interval
    censored: float
    empty: float
    unsure: float = 0.0

    @property
    def share_lost(self) -> float:
        return self.lost.mean / self.demand.mean if self.demand.mean > 0 else 0.0


@dataclass(frozen=True)
class Day:
    """All places together on one local day."""

    date: str
    observed: float
    demand: float
    low: float
    high: float
    lost: float


@dataclass(frozen=True)
class CurveData:
    """Series of every place, in the order of the places, each a text of two letters a number.

    ``fine`` holds forecasts by period (tested ones of the past, then those of the horizon), ``coarse`` sums
    by day or week over the whole period. ``steps`` is the size of one unit per place.
    """

    clock: list[int]
    history: int
    coarse_clock: list[int]
    coarse_days: int
    fine: list[dict[str, str]]
    coarse: list[dict[str, str]]
    fine_steps: list[float]
    coarse_steps: list[float]


@dataclass(frozen=True)
class HorizonPlace:
    """What is expected of one place over the horizon; the busiest period with its 90% interval."""

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
class PlannedDay:
    """The day that the plan is for, by the local clock, and the last days of the same weekday beside it.

    ``demand`` is what is expected to be wanted; ``past`` holds (date, wanted, lost) of all places, oldest
    first, each an estimate.
    """

    date: str
    weekday: str
    starts: str
    zone: str
    demand: float | None = None
    past: tuple[tuple[str, float, float], ...] = ()

    @property
    def clock(self) -> str:
        """The hour at which it starts: 04:00."""
        return self.starts[11:16]


@dataclass(frozen=True)
class Weekday:
    """Lost and wanted rides by local weekday (Monday first) and hour, per day of the period."""

    lost: list[list[float]]
    demand: list[list[float]]


@dataclass(frozen=True)
class ReportData:
    """Everything the page shows. Parts that the run did not make are None or empty, and the page says so."""

    title: str
    zone: str
    by: str
    first: str
    last: str
    periods: int
    rows: int
    places: tuple[PlaceTotals, ...]
    total: PlaceTotals
    days: tuple[Day, ...]
    week: Weekday | None = None
    curves: CurveData | None = None
    horizon: Horizon | None = None
    calibration: dict[str, Any] | None = None
    measures: tuple[dict[str, Any], ...] = ()
    plan: tuple[dict[str, Any], ...] = ()
    moves: tuple[dict[str, Any], ...] = ()
    fleet: tuple[dict[str, Any], ...] = ()
    planned: PlannedDay | None = None
    truth: dict[str, Any] | None = None
    account: dict[str, Any] = field(default_factory=dict)
    next_door: Interval | None = None
    unknown: float = 0.0  # share of place-periods that are part of no figure: not known and open throughout

    @property
    def inferred(self) -> float | None:
        """Share of rows whose stock rests on rides alone; None where nobody knows."""
        panel = self.account.get("panel")
        if not isinstance(panel, dict) or not panel.get("rows") or panel.get("rows_inferred") is None:
            return None
        return float(panel["rows_inferred"]) / float(panel["rows"])

    @property
    def left_out(self) -> int:
        """Pickups in the place-periods that are part of no figure."""
        panel = self.account.get("panel")
        pickups = panel.get("pickups") if isinstance(panel, dict) else None
        if not isinstance(pickups, int | float) or not isfinite(pickups):
            return 0
        return max(0, round(pickups - self.total.observed))

    @property
    def worst(self) -> list[int]:
        """Numbers of the places, the one that lost most rides first."""
        return sorted(
            range(len(self.places)), key=lambda n: (-self.places[n].lost.mean, self.places[n].unique_id)
        )

    @property
    def unidentified(self) -> int:
        """How many places have no upper bound on what they lost."""
        return sum(not place.lost.identified for place in self.places)

    def name_of(self, unique_id: str) -> str:
        """The name of a place, or its id where it has none."""
        return self._names.get(unique_id, unique_id)

    @property
    def _names(self) -> dict[str, str]:
        return {place.unique_id: place.name for place in self.places}


def interval(entry: dict[str, Any]) -> Interval:
    """From the form of JSON files, in which an absent or null upper bound means: not identified.

    A place about which nothing is known has no mean either: zero or more.
    """
    mean, low, high = entry.get("mean"), entry.get("q05"), entry.get("q95")
    if mean is None:
        return Interval(0.0, 0.0, inf)
    return Interval(float(mean), 0.0 if low is None else float(low), inf if high is None else float(high))
