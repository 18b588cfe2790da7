"""Counts of the real data sets; skipped where they are absent."""

import json
from pathlib import Path

import duckdb
import jsonschema
import pytest

from unmet.mobility import read_stations, read_status, read_trips

NEW_YORK = "America/New_York"


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list:
    return con.execute(sql).fetchall()


def test_jersey_city_2019(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    read_stations(con, data / "jersey_city_winter" / "station_information.json")
    report = read_trips(con, sorted((data / "jersey_city_2019").glob("*.zip")), zone=NEW_YORK)
    assert report.rides == rows(con, "SELECT count(*) FROM trips")[0][0] == 404_947
    assert report.lines == 404_947 + 12
    assert (report.headers, report.rejected, report.duplicates, report.vehicles) == (12, 0, 0, 609)
    assert rows(con, "SELECT count(*) FROM trips WHERE ended_at - started_at > INTERVAL 24 HOUR") == [(150,)]
    assert report.unmapped["3426"] == 43  # the depot
    assert rows(con, "SELECT count(DISTINCT start_place) FROM trips") == [(53,)]


def test_bay_area_2014_and_its_san_francisco(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    folder = data / "bay_area_2014"
    stations = read_stations(con, folder / "stations.csv")
    assert stations.stations == 70
    assert rows(con, "SELECT capacity FROM stations WHERE place = '5'") == [(19,)]
    everything = read_trips(con, folder / "trips.csv.gz", times="utc")
    assert (everything.rides, everything.vehicles, everything.lines) == (326_339, 687, 326_340)
    report = read_trips(con, folder, times="utc", keep={"landmark": "San Francisco"})
    assert (report.rides, report.left_out) == (292_753, 326_339 - 292_753)
    assert rows(con, "SELECT count(DISTINCT start_place) FROM trips") == [(35,)]
    local = "hour((started_at AT TIME ZONE 'UTC') AT TIME ZONE 'America/Los_Angeles')"
    busiest = rows(con, f"SELECT {local} AS h FROM trips GROUP BY h ORDER BY count(*) DESC LIMIT 2")
    assert busiest == [(8,), (17,)]


def test_munich(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    report = read_trips(con, data / "munich_carsharing_2019" / "carsharing.csv", zone="Europe/Berlin")
    assert (report.rides, report.vehicles, report.rejected) == (20_085, 642, 0)


def test_jump(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    report = read_trips(con, data / "jump_sf_2018" / "pickups.csv.gz")
    assert (report.lines - report.headers, report.rides, report.duplicates) == (77_241, 77_194, 47)
    assert rows(con, "SELECT count(ended_at) FROM trips") == [(0,)]


def test_jersey_city_winter_both_headers_and_status(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    folder = data / "jersey_city_winter"
    months = sorted(folder.glob("JC-*.zip"))
    report = read_trips(con, months, zone=NEW_YORK)
    assert report.formats == {"Citi Bike old": 3, "Lyft new": 1}
    assert report.lines == report.headers + report.accepted + report.rejected == 49_478
    assert any("__MACOSX" in note for note in report.notes)
    assert any("joined" in note or "one station" in note for note in report.notes)
    read_status(con, folder / "station_status_events.csv.gz")
    stations = read_stations(con, folder / "station_information.json")
    assert stations.stations == 51
    assert stations.renamed > 0
    after = rows(con, "SELECT count(DISTINCT start_place) FROM trips")[0][0]
    assert after == 51  # two generations of ids became one
    assert rows(con, "SELECT count(*) FROM status WHERE place NOT IN (SELECT place FROM stations)") == [(0,)]
    status = read_status(con, folder / "station_status_events.csv.gz")
    assert (status.lines, status.accepted, status.places) == (99_571, 99_570, 51)
    assert status.unmapped == ()
    twice = read_trips(con, [*months, *months, months[1]], zone=NEW_YORK)
    assert rows(con, "SELECT count(DISTINCT start_place) FROM trips")[0][0] == after
    assert (twice.rides, twice.flags) == (report.rides, report.flags)


def test_the_doubled_hour_of_november_2020(con: duckdb.DuckDBPyConnection, data: Path) -> None:
    path = data / "jersey_city_winter" / "JC-202011-citibike-tripdata.csv.zip"
    report = read_trips(con, path, zone=NEW_YORK)
    # Line 7 rides from 01:04 to 02:54 by the clock and says 6,606 s: it started in the second hour.
    # Line 8 ends in the same hour and could be either: the first is taken.
    assert "ends-before-start" not in report.flags
    assert rows(
        con, "SELECT line, started_at::VARCHAR, ended_at::VARCHAR FROM trips WHERE line IN (7, 8)"
    ) == [
        (7, "2020-11-01 06:04:13.537", "2020-11-01 07:54:19.999"),
        (8, "2020-11-01 05:08:02.003", "2020-11-01 05:17:35.776"),
    ]


@pytest.mark.parametrize(
    ("file", "places", "vehicles"),
    [
        ("example_v2.3/station_status.json", 2, 0),
        ("example_v3.0/station_status.json", 1, 0),
        ("example_v2.3/free_bike_status.json", 0, 1),
        ("example_v3.0/vehicle_status.json", 0, 7),
        ("captured_v1/citibikenyc_station_status.json", 2221, 0),
        ("captured_v1/lime_arlington_1652552365.json", 0, 274),
    ],
)
def test_gbfs_status(
    con: duckdb.DuckDBPyConnection, data: Path, file: str, places: int, vehicles: int
) -> None:
    report = read_status(con, data / "gbfs" / file)
    assert (report.places, report.vehicles) == (places, vehicles)
    assert report.lines == report.accepted + report.rejected


@pytest.mark.parametrize(("version", "stations"), [("v2.3", 2), ("v3.0", 23)])
def test_gbfs_stations(con: duckdb.DuckDBPyConnection, data: Path, version: str, stations: int) -> None:
    report = read_stations(con, data / "gbfs" / f"example_{version}")
    assert (report.stations, report.rejected) == (stations, 0)
    assert rows(con, "SELECT count(*) FROM stations WHERE name IS NULL") == [(0,)]


@pytest.mark.parametrize(
    ("version", "feed"),
    [
        (version, feed)
        for version in ("v2.3", "v3.0")
        for feed in ("station_status", "station_information", "free_bike_status", "vehicle_status")
        if (version, feed) not in {("v2.3", "vehicle_status"), ("v3.0", "free_bike_status")}
    ],
)
def test_what_we_read_is_valid_by_the_specification(data: Path, version: str, feed: str) -> None:
    document = json.loads((data / "gbfs" / f"example_{version}" / f"{feed}.json").read_text())
    schema = json.loads((data / "gbfs" / "schema" / f"{version}_{feed}.schema.json").read_text())
    jsonschema.validate(document, schema)
