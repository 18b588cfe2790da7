"""Complete censorship by a smaller fleet as data: the grid, its shards, and the rides that are left."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._demand import (
    CityDemand,
    Source,
    Trips,
    holidays_of,
    local_days,
    make_city,
    open_trips,
)
from unmet.papers.mobility._grid_config import QUICK, GridConfig
from unmet.papers.mobility._models import DEFAULT, GridModel, published_models

if TYPE_CHECKING:
    import duckdb

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FleetConfig(GridConfig):
    """The grid of the fleet experiment.

    Parameters
    ----------
    alphas : shares of the vehicles whose rides are removed; 0 stands beside the paper's four.
    subsets : random sets of vehicles for each share.
    """

    alphas: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4)
    subsets: int = 10

    @property
    def every_model(self) -> tuple[GridModel, ...]:
        return (*published_models(self.units, self.activation), DEFAULT)


FULL = FleetConfig()
MEDIUM = FleetConfig(subsets=3)
SMOKE = FleetConfig(alphas=(0.0, 0.4), subsets=2, **QUICK)
SIZES = {"smoke": SMOKE, "medium": MEDIUM, "full": FULL}


@dataclass(frozen=True, eq=False)
class FleetDemand:
    """Daily rides of the whole fleet, and of smaller ones: `observed[α]` has the shape (subsets, days)."""

    days: NDArray[np.datetime64]
    latent: Floats
    observed: dict[float, Floats]
    holiday: NDArray[np.bool_]

    @property
    def checksum(self) -> str:
        digest = hashlib.sha256()
        days = self.days.astype("datetime64[D]").astype(np.int64)
        for part in (days, self.latent, self.holiday, *self.observed.values()):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class FleetShard:
    """One share of removed vehicles and one model, all subsets."""

    key: str
    model: GridModel
    alpha: float
    demand: FleetDemand
    config: FleetConfig

    @property
    def kind(self) -> str:
        return self.model.kind

    @property
    def networks(self) -> int:
        return self.config.subsets * self.model.networks

    def seed(self, subset: int) -> list[int]:
        return [self.config.seed, round(100 * self.alpha), subset]


def make_shards(config: FleetConfig, demand: FleetDemand) -> list[FleetShard]:
    shards = []
    for alpha in config.alphas:
        part = FleetDemand(demand.days, demand.latent, {alpha: demand.observed[alpha]}, demand.holiday)
        for model in config.models:
            slug = "".join(letter if letter.isalnum() else "-" for letter in model.name)
            key = f"a{round(100 * alpha):02d}_{slug}.parquet"
            shards.append(FleetShard(key, model, alpha, part, config))
    return shards


def describe(config: FleetConfig, demand: FleetDemand) -> dict[str, Any]:
    """What the results depend on, as JSON."""
    return {
        "experiment": "fleet",
        **config.describe(),
        "data": demand.checksum,
    }


def fleet_demand(source: Source, config: FleetConfig) -> FleetDemand:
    """Reduce the fleet of the source again and again, and count what is left by day."""
    from unmet.mobility import reduce_fleet

    con, days = _city_rides(source) if isinstance(source, CityDemand) else _file_rides(source)
    with con:
        latent = _by_day(con, "rides", len(days))
        observed = {}
        for alpha in config.alphas:
            rows = []
            for subset in range(config.subsets):
                seed = 1_000 * config.seed + 100 * round(10 * alpha) + subset
                reduce_fleet(con, alpha, seed, trips="rides", into="kept")
                rows.append(_by_day(con, "kept", len(days)))
            observed[alpha] = np.stack(rows)
    region = source.holidays if isinstance(source, Trips) else None
    return FleetDemand(days, latent, observed, holidays_of(region, days))


def _city_rides(source: CityDemand) -> "tuple[duckdb.DuckDBPyConnection, NDArray[np.datetime64]]":
    """Table `rides`, a vehicle and a day per ride, of the simulated city."""
    from unmet.mobility import connect

    city = make_city(source)
    day = city.hours.day[city.rides.start // 3600]
    con = connect(memory_limit="1GB", threads=1)
    con.register("made", {"vehicle": city.rides.vehicle.astype(np.int64), "day": day.astype(np.int64)})
    con.execute("CREATE TABLE rides AS SELECT vehicle::VARCHAR AS vehicle_id, day FROM made")
    con.unregister("made")
    return con, local_days(city)


def _file_rides(source: Trips) -> "tuple[duckdb.DuckDBPyConnection, NDArray[np.datetime64]]":
    """The same of trips, by local day."""
    from unmet.mobility import COUNTED

    con = open_trips(source)
    zone = (source.zone or "UTC").replace("'", "''")
    con.execute(f"""
        CREATE TABLE dated AS
        SELECT vehicle_id, timezone('{zone}', started_at::TIMESTAMP AT TIME ZONE 'UTC')::DATE AS date
        FROM trips WHERE {COUNTED} AND started_at IS NOT NULL""")
    row = con.execute("SELECT min(date), max(date) FROM dated").fetchone()
    if row is None or row[0] is None:
        raise ValueError("trips hold no ride that counts: look at --keep and the time zone")
    con.execute(
        "CREATE TABLE rides AS SELECT vehicle_id, date - (SELECT min(date) FROM dated) AS day FROM dated"
    )
    first, last = np.datetime64(row[0], "D"), np.datetime64(row[1], "D")
    return con, np.arange(first, last + 1)


def _by_day(con: "duckdb.DuckDBPyConnection", table: str, days: int) -> Floats:
    found = con.execute(f"SELECT day, count(*) AS rides FROM {table} GROUP BY day").fetchnumpy()
    counts = np.zeros(days)
    counts[np.asarray(found["day"], np.int64)] = found["rides"]
    return counts
