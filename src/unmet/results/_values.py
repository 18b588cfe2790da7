"""What a run found, as plain frozen values; nothing here knows of files."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any


@dataclass(frozen=True)
class Interval:
    """An estimate with its 90% interval; ``high`` is infinite where the data identify no upper bound.

    Where nothing is known but a lower bound, ``point`` is false and ``mean`` is that bound.
    """

    mean: float
    low: float
    high: float
    point: bool = True

    @property
    def identified(self) -> bool:
        return isfinite(self.high)

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Interval:
        """Return the interval of a JSON file, where a null upper bound means: not identified.

        A place about which nothing is known has no mean either: zero or more.
        """
        mean, low, high = entry.get("mean"), entry.get("q05"), entry.get("q95")
        least, most = 0.0 if low is None else float(low), inf if high is None else float(high)
        if mean is None:
            return cls(least, least, most, point=False)
        return cls(float(mean), least, most)

    def as_dict(self) -> dict[str, float | None]:
        """Return the form of JSON files."""
        return {
            "mean": self.mean if self.point else None,
            "q05": self.low,
            "q95": self.high if self.identified else None,
        }


@dataclass(frozen=True)
class PlaceTotals:
    """One place, or all of them, over the whole period.

    Attributes
    ----------
    lat, lng, capacity : float or None
        None where nobody gave them.
    observed : float
        Pickups seen.
    demand, lost : Interval
    unserved : Interval or None
        Requests that found no vehicle at their own place; None where the run could not tell.
    next_door : Interval or None
        Requests of this place that a neighbour served; None where the run could not tell.
    censored : float
        Share of periods in which vehicles ran out.
    empty : float
        Share of known time without a vehicle.
    unsure : float
        Share of the lost rides that fall in periods whose upper bound is not identified.
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
    next_door: Interval | None = None
    unserved: Interval | None = None

    @property
    def share_lost(self) -> float:
        return self.lost.mean / self.demand.mean if self.demand.mean > 0 else 0.0

    @property
    def never_available(self) -> bool:
        """Whether no vehicle was ever there."""
        return self.empty >= 1.0


@dataclass(frozen=True)
class Doubt:
    """What lost rides rest on where no status feed tells when places were empty.

    Attributes
    ----------
    share : float
        Share of known time in which a vehicle may or may not have stood at its place.
    curve : tuple of (float, float)
        Share of that time without a vehicle, and the lost rides that follow; nothing without vehicle ids.
    empty : Interval or None
        The share that is assumed; None without vehicle ids, where nothing tells.
    assumption : str
        What the range of that share rests on.
    bounds : tuple of (str, float)
        Without vehicle ids: assumptions about vans, and the lost rides under each, perhaps infinite.
    """

    share: float
    curve: tuple[tuple[float, float], ...]
    empty: Interval | None
    assumption: str
    bounds: tuple[tuple[str, float], ...]

    @classmethod
    def read(cls, entry: dict[str, Any] | None) -> Doubt | None:
        """Return the entry of a JSON file; None if there is none."""
        if not entry:
            return None
        empty = entry.get("empty")
        return cls(
            share=float(entry["share"]),
            curve=tuple((float(point["empty"]), float(point["lost"])) for point in entry.get("curve", ())),
            empty=None if empty is None else Interval.read(empty),
            assumption=str(entry.get("assumption", "")),
            bounds=tuple(
                (str(one["assumption"]), inf if one["lost"] is None else float(one["lost"]))
                for one in entry.get("bounds", ())
            ),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the form of JSON files."""
        return {
            "share": self.share,
            "empty": None if self.empty is None else self.empty.as_dict(),
            "assumption": self.assumption or None,
            "bounds": [
                {"assumption": text, "lost": lost if isfinite(lost) else None} for text, lost in self.bounds
            ],
        }


@dataclass(frozen=True)
class PlannedDay:
    """The day that the plan is for, by the local clock, and recent days of the same weekday.

    ``demand`` is the expected demand; ``past`` holds (date, wanted, lost) of all places, oldest first, each
    an estimate.
    """

    date: str
    weekday: str
    starts: str
    zone: str
    demand: float | None = None
    past: tuple[tuple[str, float, float], ...] = ()

    @property
    def clock(self) -> str:
        """Return the hour at which it starts: 04:00."""
        return self.starts[11:16]


@dataclass(frozen=True)
class PlanFigures:
    """What a plan is for and what it saves, all places together."""

    day: PlannedDay | None
    places: int
    vehicles: int
    usual_vehicles: int
    lost_usual: float
    lost_target: float
    saved: float

    @property
    def digits(self) -> int:
        """Return the digits of lost rides: a sum of expected values is not known to a tenth of a ride."""
        return 0 if self.lost_usual >= 20 else 1

    @property
    def saved_as_shown(self) -> float:
        """Return the rides saved as the difference of the two losses as people read them."""
        return round(self.lost_usual, self.digits) - round(self.lost_target, self.digits)
