"""Demand to experiment on: of a simulated city, whose truth is known, or of any trips."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import duckdb

    from unmet.datasets import City

HUBS = 3
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HubDemand:
    """Daily demand of one superhub, taken for latent.

    `truth` holds true quantiles at the levels .05 and .95 by what they are conditional on, shape (n, 2).
    """

    hub: str
    days: NDArray[np.datetime64]
    latent: Floats
    holiday: NDArray[np.bool_]
    truth: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def checksum(self) -> str:
        digest = hashlib.sha256(self.hub.encode())
        for part in (self.days.astype("datetime64[D]").astype(np.int64), self.latent, self.holiday):
            digest.update(np.ascontiguousarray(part).tobytes())
        for name in sorted(self.truth):
            digest.update(name.encode() + np.ascontiguousarray(self.truth[name]).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Trips:
    """Where rides are and how to read them; the options of `unmet panel`."""

    trips: tuple[Path, ...]
    stations: tuple[Path, ...] = ()
    zone: str | None = None
    times: str = "local"
    keep: Mapping[str, str] = field(default_factory=dict, hash=False)
    holidays: str | None = None

    @property
    def name(self) -> str:
        """A short name for files and tables: that of the folder of the first file."""
        first = self.trips[0].resolve()
        raw = first.name if first.is_dir() else first.parent.name
        words = "".join(letter if letter.isalnum() else "-" for letter in raw.lower()).strip("-")
        return words or "trips"


@dataclass(frozen=True)
class CityDemand:
    """A simulated city; a year and two weeks, as long as the paper's bike data."""

    size: str = "town"
    days: int = 379
    seed: int = 1
    draws: int = 400  # of the weather, for the truth

    name = "city"


Source = Trips | CityDemand


def hub_demand(source: Source) -> tuple[HubDemand, ...]:
    """Daily demand of three superhubs: of the city what people wanted, of trips the pickups."""
    return _of_city(source) if isinstance(source, CityDemand) else _of_trips(source)


def make_city(source: CityDemand) -> "City":
    from unmet.datasets import make_city

    return make_city(source.size, days=source.days, seed=source.seed)


def local_days(city: "City") -> NDArray[np.datetime64]:
    return np.datetime64(city.settings.start) + np.arange(city.settings.days)


def _of_city(source: CityDemand) -> tuple[HubDemand, ...]:
    from unmet.mobility import weighted_kmeans
    from unmet.papers.mobility._city_truth import hub_truths, sum_by_day

    city = make_city(source)
    where = np.column_stack([city.map.lat, city.map.lng * np.cos(np.radians(city.map.lat.mean()))])
    wanted = city.truth.latent.sum(axis=1).astype(float)
    label = weighted_kmeans(where, wanted, HUBS, seed=0)
    size = [wanted[label == number].sum() for number in range(HUBS)]
    days, none = local_days(city), np.zeros(city.settings.days, bool)
    hubs = [label == number for number in np.argsort(-np.array(size), kind="stable")]
    demands = []
    for rank, (members, truth) in enumerate(zip(hubs, hub_truths(city, hubs, source.draws)), start=1):
        latent = sum_by_day(city.hours.day, city.truth.latent[members].sum(axis=0))
        demands.append(HubDemand(f"hub-{rank}", days, latent, none, truth))
    return tuple(demands)


def open_trips(source: Trips) -> "duckdb.DuckDBPyConnection":
    """A connection with the rides and stations of the source."""
    from unmet.mobility import connect, read_stations, read_trips

    con = connect(memory_limit="1GB")
    if source.stations:
        read_stations(con, list(source.stations))
    read_trips(con, list(source.trips), zone=source.zone, times=source.times, keep=source.keep or None)
    return con


def _of_trips(source: Trips) -> tuple[HubDemand, ...]:
    from unmet.mobility import build_panel

    zone = source.zone or "UTC"
    local = "timezone('" + zone.replace("'", "''") + "', make_timestamptz(epoch_us(ds)))"
    with open_trips(source) as con:
        build_panel(con, by="day", zone=zone, places="hub", hubs=HUBS, holidays=source.holidays)
        columns = {row[0] for row in con.execute("DESCRIBE panel").fetchall()}
        holiday = "holiday" if "holiday" in columns else "false AS holiday"
        found = con.execute(f"""
            SELECT unique_id, {local}::DATE AS day, y::DOUBLE AS y, {holiday}
            FROM panel ORDER BY unique_id, ds""").fetchnumpy()
    demands = []
    for hub in np.unique(found["unique_id"].astype(str)):
        rows = found["unique_id"].astype(str) == hub
        part: dict[str, Any] = {name: np.asarray(found[name])[rows] for name in ("day", "y", "holiday")}
        days = part["day"].astype("datetime64[D]")
        demands.append(HubDemand(hub, days, part["y"], part["holiday"].astype(bool)))
    return tuple(demands)


def holidays_of(region: str | None, days: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Which of the days are public holidays; none where no region is named."""
    if region is None:
        return np.zeros(len(days), bool)
    from unmet.calendar import holiday_dates

    years: Sequence[int] = np.unique(days.astype("datetime64[Y]").astype(int) + 1970).tolist()
    return np.isin(days.astype("datetime64[D]"), np.array(holiday_dates(region, years), "datetime64[D]"))
