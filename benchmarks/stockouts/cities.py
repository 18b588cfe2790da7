"""The cities that can be looked at: their files, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unmet.mobility import connect, read_stations, read_status, read_trips

if TYPE_CHECKING:
    import duckdb

NEW_YORK = "America/New_York"
Options = dict[str, Any]


def _winter(con: duckdb.DuckDBPyConnection, data: Path, *, feed: bool) -> Options:
    here = data / "jersey_city_winter"
    read_stations(con, here / "station_information.json")
    # The rides of February have no vehicle ids.
    files = sorted(path for path in here.glob("JC-*.zip") if feed or "202102" not in path.name)
    read_trips(con, files, zone=NEW_YORK)
    if feed:
        read_status(con, here / "station_status_events.csv.gz")
    return {"zone": NEW_YORK, "holidays": "US-NJ"}


def _year(con: duckdb.DuckDBPyConnection, data: Path, _: Path) -> Options:
    read_trips(con, sorted((data / "jersey_city_2019").glob("JC-*.zip")), zone=NEW_YORK)
    return {"zone": NEW_YORK, "holidays": "US-NJ"}


def _bay(con: duckdb.DuckDBPyConnection, data: Path, _: Path) -> Options:
    here, zone = data / "bay_area_2014", "America/Los_Angeles"
    read_stations(con, here / "stations.csv")
    read_trips(con, here / "trips.csv.gz", zone=zone, times="utc")
    return {"zone": zone, "holidays": "US-CA"}


def _simulated(con: duckdb.DuckDBPyConnection, made: Path, *, feed: bool, **settings: Any) -> Options:
    """Write a simulated city and read its files; without settings, that of the demo."""
    from unmet.datasets import make_city
    from unmet.datasets.city import even_targets, replay

    city = make_city("town", **{"days": 90, "seed": 1, "shocks": "independent", **settings})
    city = replay(city, even_targets(city))
    city.write(made, snapshots=None)
    read_stations(con, made / "station_information.json")
    read_trips(con, made / "trips.csv.gz", zone=NEW_YORK)
    if feed:
        read_status(con, made / "station_status_events.csv.gz")
    return {"zone": NEW_YORK, "weather": made / "weather.csv"}


def _worn(con: duckdb.DuckDBPyConnection, made: Path, *, feed: bool) -> Options:
    """Read a town with broken vehicles, lasting shocks and vans by day."""
    return _simulated(
        con,
        made,
        feed=feed,
        seed=41,
        days=60,
        shocks="persistent",
        broken=0.08,
        retiring=0.05,
        van_hours=(2, 11, 15),
    )


def _violating(con: duckdb.DuckDBPyConnection, _: Path, made: Path) -> Options:
    """Read the demo's city, with twice the demand where stock runs low: half of the other rides go.

    So stock-outs follow demand that nothing else shows.
    """
    found = _simulated(con, made, feed=True)
    con.execute("""
        CREATE TABLE plenty AS
        SELECT t.rowid AS row FROM trips t ASOF JOIN status s
            ON t.start_place = s.place AND t.started_at > s."at"
        WHERE s.available > 6 AND hash(t.rowid) % 2 = 0;
        DELETE FROM trips WHERE rowid IN (SELECT row FROM plenty)""")
    return found


# Each reads tables from the real data, or makes a city in a folder of its own.
CITIES: dict[str, Callable[[duckdb.DuckDBPyConnection, Path, Path], Options]] = {
    "demo": lambda con, data, made: _simulated(con, made, feed=True),
    "winter": lambda con, data, made: _winter(con, data, feed=True),
    "winter-ids": lambda con, data, made: _winter(con, data, feed=False),
    "2019": _year,
    "bay": _bay,
    "violating": _violating,
    "choosy": lambda con, data, made: _simulated(con, made, feed=True, refusal=0.4),
    "worn": lambda con, data, made: _worn(con, made, feed=True),
    "worn-ids": lambda con, data, made: _worn(con, made, feed=False),
}


@contextmanager
def opened(city: str, data: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, Options]]:
    """Give a connection to the tables of a city, and the options of its panel."""
    with connect(memory_limit="2GB") as con, TemporaryDirectory() as made:
        yield con, CITIES[city](con, data, Path(made))
