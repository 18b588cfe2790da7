"""Settings of a city, their checks and the named sizes."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import isfinite
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Size → places, mean requests per place and hour.
SIZES: dict[str, tuple[int, float]] = {
    "village": (12, 0.8),
    "town": (60, 1.2),
    "city": (250, 2.0),
    "metropolis": (900, 3.0),
}

# Vehicles per place, per mean request per place and hour. With this fleet places are empty 10–20% of the time
# in every named size; tests/datasets/city/test_city_shortage.py checks that.
VEHICLES_PER_REQUEST_RATE = 7.0

RIVAL_SHARE = 0.2


@dataclass(frozen=True)
class CitySettings:
    """All settings of a city. The same settings give the same city, bit for bit.

    Attributes
    ----------
    places, days, seed : int
        Number of stations, number of local days, and the seed of all random numbers.
    vehicles : int
        Size of the operator's fleet.
    demand : float
        Mean requests per place and hour over the whole period.
    start : str
        First local day, ``YYYY-MM-DD``.
    zone : str
        Time zone of the city; its offset from UTC must be whole hours.
    centre : tuple of float
        Latitude and longitude of the middle of the map.
    spill, rebalancing, weather : bool
        Whether people walk to a neighbour, vans move vehicles at night, and weather affects demand.
    rival : float
        Share of requests that a second operator serves; 0 for none.
    shocks : {"independent", "persistent"}
        Whether the multiplicative shocks to demand are new each hour or persist.
    dispersion : float
        Variance of a shock (mean 1); 0 gives Poisson counts.
    persistence : float
        Correlation of log shocks from one hour to the next, for persistent shocks.
    walk : float
        Metres at which the chance of walking to a neighbour has fallen to 1/e.
    docks : float
        Docks per vehicle, over the whole city.
    events : float
        Expected special events (concerts, matches) per thirty days.
    broken : float
        Share of the fleet that stands on the street but cannot be rented, in the long run.
    retiring : float
        Share of the fleet that is taken off the street for good during the period.
    van_hours : tuple of int
        Local hours at which the vans leave.
    fronts : float
        Expected storms and crowds per thirty days that move through the city.
    refusal : float
        Chance that a request does not want the only vehicle there; n vehicles are all refused with the n-th
        power of it.
    """

    places: int
    days: int
    seed: int
    vehicles: int
    demand: float
    start: str
    zone: str
    centre: tuple[float, float]
    spill: bool
    rebalancing: bool
    weather: bool
    rival: float
    shocks: str
    dispersion: float
    persistence: float
    walk: float
    docks: float
    events: float
    broken: float = 0.0
    retiring: float = 0.0
    van_hours: tuple[int, ...] = (2,)
    fronts: float = 0.0
    refusal: float = 0.0

    def __post_init__(self) -> None:
        for name in ("places", "days", "seed", "vehicles"):
            value = getattr(self, name)
            _require(type(value) is int, f"{name} must be a whole number (int), got {value!r}")
        _require(2 <= self.places <= 9999, f"places must be between 2 and 9999, got {self.places}")
        _require(1 <= self.days <= 1500, f"days must be between 1 and 1500, got {self.days}")
        _require(self.seed >= 0, f"seed must be a non-negative integer, got {self.seed}")
        _require(
            1 <= self.vehicles <= 1_000_000, f"vehicles must be between 1 and 1,000,000, got {self.vehicles}"
        )
        _require(0 < self.demand <= 1000, f"demand must lie in (0, 1000] requests an hour, got {self.demand}")
        _require(0 <= self.rival < 1, f"rival must be a share in [0, 1), got {self.rival}")
        _require(
            self.shocks in ("independent", "persistent"),
            f"shocks must be 'independent' or 'persistent', got {self.shocks!r}",
        )
        _require(0 <= self.dispersion <= 10, f"dispersion must lie in [0, 10], got {self.dispersion}")
        _require(0 <= self.persistence < 1, f"persistence must lie in [0, 1), got {self.persistence}")
        _require(self.walk > 0, f"walk must be a positive number of metres, got {self.walk}")
        _require(self.docks >= 1.2, f"docks must be at least 1.2 per vehicle, got {self.docks}")
        _require(0 <= self.events <= 1000, f"events must lie in [0, 1000] per thirty days, got {self.events}")
        _require(0 <= self.fronts <= 1000, f"fronts must lie in [0, 1000] per thirty days, got {self.fronts}")
        _require(0 <= self.broken <= 0.5, f"broken must be a share in [0, 0.5], got {self.broken}")
        _require(0 <= self.refusal < 1, f"refusal must be a chance in [0, 1), got {self.refusal}")
        _require(0 <= self.retiring <= 1, f"retiring must be a share in [0, 1], got {self.retiring}")
        _require(
            len(self.van_hours) > 0 and set(self.van_hours) <= set(range(24)),
            f"van_hours must hold hours from 0 to 23, got {self.van_hours}; rebalancing=False stops the vans",
        )
        _require(
            -85 <= self.centre[0] <= 85 and -180 <= self.centre[1] <= 180,
            f"centre must be (latitude, longitude) in degrees, got {self.centre}",
        )
        try:
            first = date.fromisoformat(self.start)
        except ValueError:
            raise ValueError(f"start must be a day such as 2024-03-04, got {self.start!r}") from None
        try:
            zone = ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(
                f"zone must name a time zone such as America/New_York, got {self.zone!r}"
            ) from None
        for day in range(0, self.days + 1, 7):
            offset = datetime.combine(
                first + timedelta(days=day), datetime.min.time(), tzinfo=zone
            ).utcoffset()
            _require(
                offset is not None and offset.total_seconds() % 3600 == 0,
                f"zone must be whole hours from UTC, since the city counts UTC hours; {self.zone} is not",
            )


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def settings_for(
    size: str,
    *,
    places: int | None,
    vehicles: int | None,
    demand: float | None,
    rival: bool | float,
    **others: object,
) -> CitySettings:
    """Fill in the values of a named size, and turn ``rival=True`` into the default share."""
    if size not in SIZES:
        raise ValueError(f"size must be one of {', '.join(SIZES)}, got {size!r}")
    usual_places, usual_demand = SIZES[size]
    places = usual_places if places is None else places
    demand = usual_demand if demand is None else demand
    if vehicles is None:
        usual = VEHICLES_PER_REQUEST_RATE * places * demand
        vehicles = max(2, round(usual)) if isfinite(usual) else 2  # the demand is refused below
    share = (RIVAL_SHARE if rival else 0.0) if isinstance(rival, bool) else float(rival)
    return CitySettings(places=places, vehicles=vehicles, demand=demand, rival=share, **others)  # type: ignore[arg-type]
