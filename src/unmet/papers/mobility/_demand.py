"""Demand to experiment on: that of a simulated city, whose truth is known, or of any trips."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._shards import Demand

if TYPE_CHECKING:
    import duckdb

    from unmet.datasets import City

HUBS = 3


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


def hub_demand(source: Source) -> tuple[Demand, ...]:
    """Return daily demand of three superhubs: of the city what people wanted, of trips the pickups."""
    return _city_hubs(source) if isinstance(source, CityDemand) else _trip_hubs(source)


def daily_rides(
    source: Source,
) -> "tuple[duckdb.DuckDBPyConnection, NDArray[np.datetime64], NDArray[np.bool_]]":
    """Return a connection with table `rides` (vehicle_id, day), the days that it counts, and the holidays."""
    if isinstance(source, CityDemand):
        con, days = _city_rides(source)
        return con, days, np.zeros(len(days), bool)
    con, days = _trip_rides(source)
    return con, days, holidays_of(source.holidays, days)


def _make_city(source: CityDemand) -> "tuple[City, NDArray[np.datetime64]]":
    """Return the city and its local days."""
    from unmet.datasets import make_city

    city = make_city(source.size, days=source.days, seed=source.seed)
    return city, np.datetime64(city.settings.start) + np.arange(city.settings.days)


def _city_hubs(source: CityDemand) -> tuple[Demand, ...]:
    from unmet.mobility import weighted_kmeans
    from unmet.papers.mobility._city_truth import hub_truths, sum_by_day

    city, days = _make_city(source)
    where = np.column_stack([city.map.lat, city.map.lng * np.cos(np.radians(city.map.lat.mean()))])
    wanted = city.truth.latent.sum(axis=1).astype(float)
    label = weighted_kmeans(where, wanted, HUBS, seed=0)
    size = [wanted[label == number].sum() for number in range(HUBS)]
    hubs = [label == number for number in np.argsort(-np.array(size), kind="stable")]
    demands = []
    for rank, (members, truth) in enumerate(zip(hubs, hub_truths(city, hubs, source.draws)), start=1):
        latent = sum_by_day(city.hours.day, city.truth.latent[members].sum(axis=0))
        demands.append(Demand(f"hub-{rank}", days, latent, np.zeros(len(days), bool), truth))
    return tuple(demands)


def _trip_hubs(source: Trips) -> tuple[Demand, ...]:
    from unmet.mobility import build_panel
    from unmet.tables import literal

    zone = source.zone or "UTC"
    local = f"timezone({literal(zone)}, make_timestamptz(epoch_us(ds)))"
    with _open_trips(source) as con:
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
        demands.append(Demand(hub, days, part["y"], part["holiday"].astype(bool)))
    return tuple(demands)


def _city_rides(source: CityDemand) -> "tuple[duckdb.DuckDBPyConnection, NDArray[np.datetime64]]":
    from unmet.mobility import connect

    city, days = _make_city(source)
    day = city.hours.day[city.rides.start // 3600]
    con = connect(memory_limit="1GB", threads=1)
    con.register("made", {"vehicle": city.rides.vehicle.astype(np.int64), "day": day.astype(np.int64)})
    con.execute("CREATE TABLE rides AS SELECT vehicle::VARCHAR AS vehicle_id, day FROM made")
    con.unregister("made")
    return con, days


def _trip_rides(source: Trips) -> "tuple[duckdb.DuckDBPyConnection, NDArray[np.datetime64]]":
    from unmet.mobility import COUNTED
    from unmet.tables import literal

    con = _open_trips(source)
    zone = literal(source.zone or "UTC")
    con.execute(f"""
        CREATE TABLE dated AS
        SELECT vehicle_id, timezone({zone}, started_at::TIMESTAMP AT TIME ZONE 'UTC')::DATE AS date
        FROM trips WHERE {COUNTED} AND started_at IS NOT NULL""")
    row = con.execute("SELECT min(date), max(date) FROM dated").fetchone()
    if row is None or row[0] is None:
        raise ValueError("--trips has no ride that counts: check --keep and --zone")
    con.execute(
        "CREATE TABLE rides AS SELECT vehicle_id, date - (SELECT min(date) FROM dated) AS day FROM dated"
    )
    first, last = np.datetime64(row[0], "D"), np.datetime64(row[1], "D")
    return con, np.arange(first, last + 1)


def _open_trips(source: Trips) -> "duckdb.DuckDBPyConnection":
    """Return a connection with the rides and stations of the source."""
    from unmet.mobility import connect, read_stations, read_trips

    con = connect(memory_limit="1GB", inputs=[*source.trips, *source.stations])
    if source.stations:
        read_stations(con, list(source.stations))
    read_trips(
        con,
        list(source.trips),
        zone=source.zone,
        times=source.times,
        keep=source.keep or None,
        min_duration=0,  # the published counts have every ride
    )
    return con


def holidays_of(region: str | None, days: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Return which of the days are public holidays; none where no region is named."""
    if region is None:
        return np.zeros(len(days), bool)
    from unmet.calendar import holiday_dates

    years: Sequence[int] = np.unique(days.astype("datetime64[Y]").astype(int) + 1970).tolist()
    return np.isin(days.astype("datetime64[D]"), np.array(holiday_dates(region, years), "datetime64[D]"))
