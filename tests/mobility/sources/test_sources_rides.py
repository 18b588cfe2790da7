"""Duplicates, flags and station ids of rides, by hand."""

import json
from pathlib import Path

import duckdb
import pytest
from source_examples import NEW, NEW_YORK, OLD, OLD_ROWS

from unmet.mobility import read_stations, read_status, read_trips


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def new(ride: str, start: str, end: str, start_name: str = "A", end_name: str = "B") -> str:
    return f"{ride},classic,{start},{end},{start_name},1,{end_name},2,40.7,-74.0,40.7,-74.0,member\n"


def test_flags(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    text = (
        NEW
        + "\n"
        + new("a", "2021-02-01 10:00:00", "2021-02-01 10:00:00")
        + new("b", "2021-02-01 10:00:00", "2021-02-02 10:00:01")
        + new("c", "2021-02-01 10:00:00", "2021-02-02 10:00:00")
        + new("d", "2021-02-01 10:00:00", "2021-02-01 09:59:59")
        + new("e", "2021-02-01 10:00:00", "2021-02-01 10:30:00", start_name="8D QC Station 01")
        + new("f", "2021-02-01 10:00:00", "2021-02-01 10:30:00", end_name="JCBS Depot")
        + new("g", "2021-02-01 10:00:00", "2021-02-05 10:30:00", end_name="JCBS Depot")
        + new(
            "h",
            "2021-02-01 10:00:00",
            "2021-02-01 10:30:00",
            start_name="Union Depot",
            end_name="Contest Ave",
        )
    )
    report = read_trips(con, write(tmp_path, "a.csv", text), zone=NEW_YORK)
    assert dict(con.execute("SELECT ride_id, flag FROM trips").fetchall()) == {
        "a": "zero-length",
        "b": "over-a-day",
        "c": None,
        "d": "ends-before-start",
        "e": "test-station",
        "f": "test-station",
        "g": "over-a-day",  # somebody took it and did not bring it back: still demand
        "h": None,
    }
    assert report.flags == {"zero-length": 1, "over-a-day": 2, "ends-before-start": 1, "test-station": 2}


def test_months_and_their_year(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = OLD_ROWS.strip().splitlines()
    january = write(tmp_path, "01.csv", "\n".join([OLD, rows[0], ""]))
    july = write(tmp_path, "07.csv", "\n".join([OLD, rows[1], ""]))
    year = write(tmp_path, "year.csv", "\n".join([OLD, *rows, ""]))
    alone = read_trips(con, year, zone=NEW_YORK)
    content = con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY ALL").fetchall()
    together = read_trips(con, [january, july, year, january], zone=NEW_YORK)
    assert (alone.rides, together.rides, together.duplicates, together.accepted) == (2, 2, 3, 5)
    assert con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY ALL").fetchall() == content


def test_rides_without_any_id_may_repeat_within_a_file(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    text = "when,where\n2020-01-01 10:00,A\n2020-01-01 10:00,A\n2020-01-01 10:00,A\n2020-01-01 10:01,A\n"
    path, columns = write(tmp_path, "a.csv", text), {"start": "when", "station": "where"}
    part = write(tmp_path, "b.csv", "when,where\n2020-01-01 10:00,A\n2020-01-01 10:02,A\n")
    report = read_trips(con, [path, part, path], columns=columns, times="utc")
    assert (report.rides, report.duplicates) == (5, 5)


def test_equal_ids_of_two_systems_are_two_rides(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    header = "trip_id,start_time,end_time,bikeid,from_station_id\n"
    divvy = header + "7,2018-01-01 00:12:00,2018-01-01 00:17:23,3304,69\n"
    lyft = NEW + "\n" + new("7", "2021-02-01 10:00:00", "2021-02-01 10:30:00")
    report = read_trips(con, [write(tmp_path, "a.csv", divvy), write(tmp_path, "b.csv", lyft)], zone=NEW_YORK)
    assert report.rides == 2


STATIONS = {
    "data": {
        "stations": [
            {
                "station_id": "10",
                "short_name": "JC1",
                "external_id": "uuid-1",
                "name": "One",
                "lat": 40.7,
                "lon": -74.0,
                "capacity": 9,
                "region_id": "70",
            },
            {
                "station_id": "11",
                "short_name": "10",
                "legacy_id": "old",
                "name": "Two",
                "lat": 40.8,
                "lon": -74.1,
            },
            {"station_id": "12", "legacy_id": "old", "name": "Two", "lat": 40.9, "lon": -74.1},
        ]
    }
}


@pytest.mark.parametrize("stations_first", [True, False])
def test_one_id_per_station(con: duckdb.DuckDBPyConnection, tmp_path: Path, stations_first: bool) -> None:
    stations = write(tmp_path, "s.json", json.dumps(STATIONS))
    trips = write(
        tmp_path,
        "t.csv",
        "when,from,to,car\n2020-01-01 10:00,JC1,uuid-1,a\n2020-01-01 10:01,10,One,a\n"
        "2020-01-01 10:02,old,Two,a\n2020-01-01 10:03,nowhere,12,a\n",
    )
    status = write(tmp_path, "e.csv", "station_id,last_reported,num_bikes_available\nuuid-1,1604188880,3\n")

    def read_the_rest() -> dict[str, int]:
        read_status(con, status)
        columns = {"start": "when", "station": "from", "end_station": "to", "vehicle": "car"}
        return read_trips(con, trips, columns=columns, times="utc").unmapped

    if stations_first:
        report = read_stations(con, stations)
        assert read_the_rest() == {"nowhere": 1, "old": 1}
    else:
        assert read_the_rest() == {}  # without stations nothing can be said
        report = read_stations(con, stations)
        assert report.renamed == 4
    assert any("several stations" in note for note in report.notes)
    assert con.execute("SELECT start_place, end_place FROM trips ORDER BY started_at").fetchall() == [
        ("10", "10"),
        ("10", "10"),
        ("old", "Two"),  # both lead to two stations, so to none
        ("nowhere", "12"),
    ]
    assert con.execute("SELECT place FROM status").fetchall() == [("10",)]
    assert con.execute("SELECT * FROM stations ORDER BY place").fetchall() == [
        ("10", "One", 40.7, -74.0, 9),
        ("11", "Two", 40.8, -74.1, None),
        ("12", "Two", 40.9, -74.1, None),
    ]


def test_keep_by_an_attribute_of_stations(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    table = (
        "station_id,name,lat,long,dock_count,landmark,installation\n"
        '1,A,37.7,-122.4,15,San Francisco,8/6/2013\n2,"B, or C",37.3,-121.9,11,San Jose,8/6/2013\n'
    )
    report = read_stations(con, write(tmp_path, "s.csv", table))
    assert report.stations == 2
    trips = write(
        tmp_path, "t.csv", "when,from\n2020-01-01 10:00,1\n2020-01-01 10:01,2\n2020-01-01 10:02,3\n"
    )
    columns = {"start": "when", "station": "from"}
    kept = read_trips(con, trips, columns=columns, times="utc", keep={"Landmark": "San Francisco"})
    assert (kept.rides, kept.left_out) == (1, 2)
    both = read_trips(
        con, trips, columns=columns, times="utc", keep={"landmark": ["San Francisco", "San Jose"]}
    )
    assert both.rides == 2
    assert con.execute("SELECT capacity FROM stations ORDER BY place").fetchall() == [(15,), (11,)]
