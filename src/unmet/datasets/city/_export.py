"""Export the tables of a city with DuckDB."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np

from unmet.datasets.city._city import City
from unmet.datasets.city._map import KINDS
from unmet.tables import literal, scratch

_TRIPS = """
SELECT ends - begins AS tripduration,
       CAST(make_timestamp(begins_local * 1000000) AS VARCHAR) || '.0000' AS starttime,
       CAST(make_timestamp(ends_local * 1000000) AS VARCHAR) || '.0000' AS stoptime,
       f.id AS "start station id", f.name AS "start station name",
       f.lat AS "start station latitude", f.lng AS "start station longitude",
       t.id AS "end station id", t.name AS "end station name",
       t.lat AS "end station latitude", t.lng AS "end station longitude",
       vehicle + 10001 AS bikeid, 'Subscriber' AS usertype, NULL AS "birth year", 0 AS gender
FROM rides JOIN places f ON f.place = origin JOIN places t ON t.place = destination
WHERE month = ?
ORDER BY begins, origin
"""

_STATUS = """
SELECT posix AS last_reported, 0 AS num_docks_disabled, available AS num_bikes_available, 1 AS is_renting,
       id AS station_id, 1 AS is_returning, 1 AS is_installed, 0 AS num_bikes_disabled,
       0 AS num_ebikes_available, docks - available AS num_docks_available
FROM status JOIN places USING (place)
ORDER BY posix, place
"""

_TRUTH = """
SELECT id AS unique_id, make_timestamp(posix * 1000000) AS ds, kind,
       latent, served, lost, spilled_out, spilled_in, rival, rate
FROM truth JOIN places USING (place)
ORDER BY unique_id, ds
"""

_MOVES = """
SELECT CAST(vehicle + 10001 AS VARCHAR) AS vehicle_id, f.id AS from_place,
       make_timestamp(fetched * 1000000) AS left_at, t.id AS to_place,
       make_timestamp(brought * 1000000) AS arrived_at
FROM moves JOIN places f ON f.place = source JOIN places t ON t.place = sink
ORDER BY left_at, vehicle_id
"""

_HOURLY = """
SELECT strftime(make_timestamp(posix * 1000000), '%Y-%m-%d %H:%M:%S') AS ds, temperature, rain, wind
FROM weather ORDER BY posix
"""

_DAILY = """
SELECT strftime(make_timestamp(any_value(local - local % 86400) * 1000000), '%Y-%m-%d') AS date,
       round(avg(temperature), 1) AS temperature, min(temperature) AS temperature_low,
       max(temperature) AS temperature_high, round(sum(rain), 1) AS rain, round(avg(wind), 1) AS wind
FROM weather GROUP BY day ORDER BY day
"""


@contextmanager
def _connect(city: City, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection that may write into the folder and has the city's places as a table."""
    with scratch(folder) as con:
        _table(
            con,
            "places",
            place=np.arange(len(city.map), dtype=np.int64),
            id=np.array(city.map.ids, dtype=object),
            name=np.array(city.map.names, dtype=object),
            lat=city.map.lat,
            lng=city.map.lng,
            docks=city.capacity,
            kind=np.array(KINDS, dtype=object)[city.map.kind],
        )
        yield con


def _table(con: duckdb.DuckDBPyConnection, name: str, /, **columns: np.ndarray) -> None:
    con.register(name, columns)


def _copy(
    con: duckdb.DuckDBPyConnection, query: str, path: Path, parameters: tuple[object, ...] = ()
) -> None:
    form = "FORMAT csv, HEADER" if path.suffix == ".csv" else "FORMAT parquet"
    con.execute(f"COPY ({query}) TO {literal(str(path))} ({form})", list(parameters))


def copy_trips(city: City, folder: Path, parts: str, times: str) -> list[str]:
    """Write trips in Citi Bike's layout of before 2021, which names the vehicle."""
    rides, hours = city.rides, city.hours
    start, end = rides.start.astype(np.int64), rides.end.astype(np.int64)
    local = hours.local(start)
    month = local.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    if parts == "one":
        month[:] = 0
    with _connect(city, folder) as con:
        _table(
            con,
            "rides",
            begins=start,
            ends=end,
            begins_local=local if times == "local" else hours.first + start,
            ends_local=hours.local(end) if times == "local" else hours.first + end,
            origin=rides.origin.astype(np.int64),
            destination=rides.destination.astype(np.int64),
            vehicle=rides.vehicle.astype(np.int64),
            month=month,
        )
        names = []
        for part in np.unique(month).tolist() or [0]:
            tag = "" if parts == "one" else "-" + str(np.datetime64(part, "M")).replace("-", "")
            names.append(f"trips{tag}.csv")
            _copy(con, _TRIPS, folder / names[-1], (part,))
    return names


def copy_status(city: City, path: Path, place: np.ndarray, second: np.ndarray, available: np.ndarray) -> None:
    """Write status records with POSIX seconds, in the layout of archived GBFS feeds."""
    with _connect(city, path.parent) as con:
        _table(con, "status", place=place, posix=second + city.hours.first, available=available)
        _copy(con, _STATUS, path)


def copy_truth(city: City, path: Path) -> None:
    """Write one row per place and hour with all counts of the truth and the expected rate."""
    truth, (places, hours) = city.truth, city.rate.shape
    counts = {name: values.astype(np.int32).ravel() for name, values in vars(truth).items()}
    with _connect(city, path.parent) as con:
        _table(
            con,
            "truth",
            place=np.repeat(np.arange(places, dtype=np.int64), hours),
            posix=np.tile(city.hours.posix, places),
            rate=city.rate.ravel(),
            **counts,
        )
        _copy(con, _TRUTH, path)


def copy_moves(city: City, path: Path) -> None:
    """Write the vehicles moved by the operator's vans, which no trip file shows."""
    vehicle, source, fetched, sink, brought = np.ascontiguousarray(city.moves.T)
    with _connect(city, path.parent) as con:
        _table(
            con,
            "moves",
            vehicle=vehicle,
            source=source,
            fetched=fetched + city.hours.first,
            sink=sink,
            brought=brought + city.hours.first,
        )
        _copy(con, _MOVES, path)


def copy_weather(city: City, folder: Path) -> list[str]:
    """Write weather by hour (UTC) and by local day."""
    assert city.weather is not None
    with _connect(city, folder) as con:
        posix = city.hours.posix
        _table(
            con,
            "weather",
            posix=posix,
            local=posix + city.hours.offset[: len(posix)],
            day=city.hours.day,
            temperature=city.weather.temperature,
            rain=city.weather.rain,
            wind=city.weather.wind,
        )
        _copy(con, _HOURLY, folder / "weather.csv")
        _copy(con, _DAILY, folder / "weather_daily.csv")
    return ["weather.csv", "weather_daily.csv"]
