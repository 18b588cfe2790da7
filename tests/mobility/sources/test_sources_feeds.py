"""GBFS 1 to 3, CSV status and MDS 1.2 and 2.0, from hand-written documents."""

import json
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from source_examples import NEW_YORK

from unmet.mobility import read_stations, read_status, read_trips

AT = 1604188880  # 2020-11-01 00:01:20 UTC
ROW = "2020-11-01 00:01:20"


def write(folder: Path, document: Any, name: str = "feed") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def status_rows(con: duckdb.DuckDBPyConnection) -> list:
    return con.execute(
        'SELECT place, "at"::VARCHAR, available, docks, renting, "returning" FROM status ORDER BY place, "at"'
    ).fetchall()


def station(**changes: Any) -> dict:
    item = {
        "station_id": "a",
        "num_bikes_available": 3,
        "num_docks_available": 7,
        "is_installed": 1,
        "is_renting": 1,
        "is_returning": 1,
        "last_reported": AT,
    }
    item.update(changes)
    return {key: value for key, value in item.items() if value is not None}


def feed(*items: Any, **top: Any) -> dict:
    return {"last_updated": AT, "ttl": 0, "data": {"stations": list(items)}, **top}


def test_station_status_of_versions_1_and_3(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    old = feed(station(), station(station_id="b", is_renting=0), station(station_id="c", is_installed=0))
    read_status(con, write(tmp_path, old))
    assert status_rows(con) == [
        ("a", ROW, 3, 7, True, True),
        ("b", ROW, 3, 7, False, True),
        ("c", ROW, 3, 7, False, False),
    ]
    new = {
        "last_updated": "2020-10-31T20:01:20-04:00",
        "version": "3.0",
        "data": {
            "stations": [
                {
                    "station_id": "a",
                    "num_vehicles_available": 0,
                    "is_installed": True,
                    "is_renting": False,
                    "is_returning": True,
                    "last_reported": "2020-11-01T00:00:00Z",
                }
            ]
        },
    }
    read_status(con, write(tmp_path, new))
    assert status_rows(con) == [("a", ROW, 0, None, False, True)]


def test_a_folder_of_snapshots_over_time(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    folder.mkdir()
    for number in range(5):
        later = AT + 300 * number
        write(folder, feed(station(num_bikes_available=number), last_updated=later), f"{number}.json")
    write(folder, feed(station(num_bikes_available=4), last_updated=AT + 1200), "again.json")
    write(folder, '{"data": {"stat', "torn.json")
    write(folder, {"last_updated": AT, "data": {"feeds": []}}, "gbfs.json")
    report = read_status(con, folder)
    assert [row[2] for row in status_rows(con)] == [0, 1, 2, 3, 4]
    assert (report.accepted, report.rejected, report.duplicates) == (6, 1, 1)
    assert report.lines == report.headers + report.accepted + report.rejected
    assert con.execute("SELECT source, reason FROM rejects").fetchall() == [
        ("torn.json", "the file cannot be read")
    ]
    assert any("gbfs.json" in note for note in report.notes)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (station(num_bikes_available=float("nan")), "num_bikes_available is not finite"),
        (station(num_bikes_available=-1), "num_bikes_available is negative"),
        (station(num_bikes_available=1.5), "num_bikes_available is not a whole number"),
        (station(num_bikes_available="3"), "num_bikes_available is not a number"),
        (station(num_bikes_available=True), "num_bikes_available is not a number"),
        (station(num_bikes_available=10**30), "num_bikes_available is absurdly large"),
        (station(num_docks_available=-2), "num_docks_available is negative"),
        (station(num_bikes_available=None), "no num_bikes_available or num_vehicles_available"),
        (station(last_reported=AT * 1000), "last_reported is in milliseconds"),
        (station(last_reported="noon"), "last_reported is not a time"),
        (station(last_reported="2020-11-01T00:00:00"), "last_reported has no zone"),
        (station(last_reported=5), "last_reported outside 1990-2100"),
        (station(is_renting="maybe"), "is_renting is neither true nor false"),
        (station(station_id=None), "no station_id"),
        (station(station_id=" "), "no station_id"),
        (station(station_id="good"), "station_id occurs twice in one snapshot"),
        ("a string", "not an object"),
        (None, "not an object"),
    ],
)
def test_a_bad_station_is_rejected_and_the_rest_kept(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, item: Any, reason: str
) -> None:
    report = read_status(
        con, write(tmp_path, feed(station(station_id="good"), item, station(station_id="fine")))
    )
    assert [row[0] for row in status_rows(con)] == ["fine", "good"]
    assert con.execute("SELECT line, reason FROM rejects").fetchall() == [(2, reason)]
    assert (report.lines, report.accepted, report.rejected) == (3, 2, 1)


def test_a_number_beyond_all_bounds(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    text = json.dumps(feed(station(station_id="good"), station(num_bikes_available=123454321)))
    report = read_status(con, write(tmp_path, text.replace("123454321", "1e400")))
    assert report.reasons == {"num_bikes_available is not finite": 1}


def test_milliseconds_for_the_whole_snapshot(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    report = read_status(con, write(tmp_path, feed(station(), last_updated=AT * 1000)))
    assert status_rows(con) == [("a", ROW, 3, 7, True, True)]
    assert any("last_updated is in milliseconds" in note for note in report.notes)


def test_mostly_bad_feeds_stop(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 of 3 rows were rejected"):
        read_status(con, write(tmp_path, feed(1, 2, station())))


def test_vehicles(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    bikes = [
        {"bike_id": "x", "lat": 48.1, "lon": 11.5, "is_reserved": 0, "is_disabled": 0},
        {"bike_id": "y", "lat": 48.1, "lon": 11.5, "is_reserved": 1, "is_disabled": 0},
        {"bike_id": "z", "station_id": "s", "is_reserved": False, "is_disabled": True},
        {"bike_id": "w", "is_reserved": 0, "is_disabled": 0},
        {"bike_id": "x", "lat": 48.1, "lon": 11.5},
        {"bike_id": "v", "lat": 148.1, "lon": 11.5},
    ]
    report = read_status(con, write(tmp_path, {"last_updated": AT, "data": {"bikes": bikes}}))
    found = con.execute('SELECT vehicle_id, "at"::VARCHAR, place, lat, lng, state FROM vehicles').fetchall()
    assert found == [
        ("x", ROW, None, 48.1, 11.5, "available"),
        ("y", ROW, None, 48.1, 11.5, "reserved"),
        ("z", ROW, "s", None, None, "disabled"),
    ]
    assert (report.vehicles, report.rejected) == (3, 3)


EVENTS = (
    "last_reported,num_docks_disabled,num_bikes_available,is_renting,station_id,is_returning,is_installed,"
    "num_bikes_disabled,num_ebikes_available,num_docks_available\n"
)


def test_status_events(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    text = EVENTS + (
        "1604188880,0,19,1,007,1,1,0,0,3\n1604188881,0,0,0,007,1,1,0,0,3\n1604188881,0,1,1,007,0,1,0,0,2\n"
        "1604188880000,0,19,1,a,1,1,0,0,3\n1604188880,0,-1,1,b,1,1,0,0,3\n1604188880,0,x,1,b,1,1,0,0,3\n"
        "1604188880,0,3,2,b,1,1,0,0,3\n,0,3,1,b,1,1,0,0,3\n1604188880,0,nan,1,b,1,1,0,0,3\n"
        "1604188880,0,1e400,1,b,1,1,0,0,3\n1604188880,0,2.5,1,b,1,1,0,0,3\n1604188880,0,2,1,,1,1,0,0,3\n"
    )
    report = read_status(con, write(tmp_path, text), max_reject_share=1)
    assert status_rows(con) == [
        ("007", ROW, 19, 3, True, True),
        ("007", "2020-11-01 00:01:21", 1, 2, True, False),
    ]
    assert dict(con.execute("SELECT line, reason FROM rejects").fetchall()) == {
        5: "time is in milliseconds",
        6: "number of vehicles is negative",
        7: "number of vehicles is not a number",
        8: "is_renting is neither true nor false",
        9: "no time",
        10: "no number of vehicles",
        11: "number of vehicles is absurdly large",
        12: "number of vehicles is not whole",
        13: "no station id",
    }
    assert (report.lines, report.headers, report.accepted, report.duplicates) == (13, 1, 3, 1)


def test_snapshots_and_events_together(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    write(folder, feed(station(station_id="NA")), "1.json")
    write(folder, EVENTS + "1604188880,0,4,1,b,1,1,0,0,3\n1604188880,0,-4,1,c,1,1,0,0,3\n", "2.csv")
    write(folder, {"last_updated": AT, "data": {"bikes": [{"bike_id": "x", "lat": 1, "lon": 2}]}}, "3.json")
    write(folder, feed(station(last_reported=1), station(station_id="d")), "4.json")
    report = read_status(con, folder)
    assert [row[0] for row in status_rows(con)] == ["NA", "b", "d"]  # an id may look like a missing value
    assert con.execute("SELECT source, line, reason FROM rejects ORDER BY source").fetchall() == [
        ("2.csv", 3, "number of vehicles is negative"),
        ("4.json", 1, "last_reported outside 1990-2100"),
    ]
    assert report.vehicles == 1
    assert [file.accepted for file in report.files] == [1, 1, 1, 1]


def test_bay_area_status(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = write(tmp_path, "station_id,bikes_available,docks_available,time\n2,2,25,2013/08/29 12:06:01\n")
    with pytest.raises(ValueError, match="has local times"):
        read_status(con, path)
    read_status(con, path, zone="America/Los_Angeles")
    assert status_rows(con) == [("2", "2013-08-29 19:06:01", 2, 25, True, True)]
    read_status(con, path, times="utc")
    assert status_rows(con) == [("2", "2013-08-29 12:06:01", 2, 25, True, True)]


def test_station_information_of_version_3(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    names = [{"language": "fr", "text": "Gare"}, {"language": "en", "text": "Station"}]
    good = {"station_id": "a", "name": names, "lat": 48.8, "lon": 2.3, "capacity": 12}
    typed = {"station_id": "b", "name": "B", "lat": 1, "lon": 2, "vehicle_type_capacity": {"x": 3, "y": 4}}
    bad = [{"station_id": "c", "name": "C"}, {"station_id": "a", "lat": 1, "lon": 2}, {"lat": 1, "lon": 2}]
    report = read_stations(con, write(tmp_path, feed(good, typed, *bad, version="3.0")), max_reject_share=1)
    assert con.execute("SELECT * FROM stations ORDER BY place").fetchall() == [
        ("a", "Station", 48.8, 2.3, 12),
        ("b", "B", 1.0, 2.0, 7),
    ]
    assert report.reasons == {"no lat and lon": 1, "station_id occurs twice": 1, "no station_id": 1}


UUID = "3c9604d6-b5ee-11e8-96f8-529269fb145{}"


def point(lng: float, lat: float, at: int) -> dict:
    return {
        "type": "Feature",
        "properties": {"timestamp": at},
        "geometry": {"type": "Point", "coordinates": [lng, lat]},
    }


def mds_1(**changes: Any) -> dict:
    trip = {
        "provider_id": UUID.format(0),
        "provider_name": "Bikes",
        "device_id": UUID.format(1),
        "vehicle_id": "B-1",
        "vehicle_type": "scooter",
        "propulsion_types": ["electric"],
        "trip_id": UUID.format(2),
        "trip_duration": 600,
        "trip_distance": 1000,
        "start_time": AT * 1000,
        "end_time": AT * 1000 + 600_000,
        "route": {
            "type": "FeatureCollection",
            "features": [point(-118.2, 34.0, AT * 1000), point(-118.3, 34.1, AT * 1000 + 600_000)],
        },
        "accuracy": 5,
    }
    return {**trip, **changes}


def test_mds_1_trips(con: duckdb.DuckDBPyConnection, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    document = {"version": "1.2.0", "data": {"trips": [mds_1(), mds_1(start_time=AT), mds_1(end_time=None)]}}
    report = read_trips(con, write(tmp_path, document), max_reject_share=1)
    found = con.execute(
        "SELECT ride_id, vehicle_id, started_at::VARCHAR, ended_at::VARCHAR, start_lat, start_lng, "
        "end_lat, flag FROM trips"
    ).fetchall()
    ended = "2020-11-01 00:11:20"
    assert found == [(UUID.format(2), UUID.format(1), ROW, ended, 34.0, -118.2, 34.1, None)]
    assert report.reasons == {"start_time is in seconds": 1}
    assert report.duplicates == 1  # the third has the same trip_id
    data = request.getfixturevalue("data")
    schema = json.loads((data / "mds" / "trips_1.2.0.schema.json").read_text())
    jsonschema.validate({"version": "1.2.0", "data": {"trips": [mds_1()]}}, schema)


def test_mds_2_trips_flag_service(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    def trip(number: int, kind: str | None) -> dict:
        return {
            "trip_id": f"t{number}",
            "device_id": "d",
            "start_time": AT * 1000 + number,
            "end_time": AT * 1000 + 60_000,
            "start_location": {"lat": 34.0, "lng": -118.2},
            "end_location": {"lat": 34.1, "lng": -118.3},
            **({"trip_type": kind} if kind else {}),
        }

    kinds = ["rider", "rebalance", "maintenance", None]
    document = {"version": "2.0.0", "trips": [trip(n, kind) for n, kind in enumerate(kinds)]}
    report = read_trips(con, write(tmp_path, document), zone=NEW_YORK)
    found = con.execute("SELECT flag, end_lng FROM trips ORDER BY ride_id").fetchall()
    assert found == [(None, -118.3), ("service", -118.3), ("service", -118.3), (None, -118.3)]
    assert report.flags == {"service": 2}


def test_mds_status_changes(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    old = {
        "device_id": "d1",
        "vehicle_state": "available",
        "event_types": ["trip_end"],
        "event_time": AT * 1000,
        "event_location": point(-118.2, 34.0, AT * 1000),
    }
    read_status(con, write(tmp_path, {"version": "1.2.0", "data": {"status_changes": [old]}}))
    columns = 'SELECT vehicle_id, "at"::VARCHAR, lat, lng, state, event FROM vehicles'
    assert con.execute(columns).fetchall() == [("d1", ROW, 34.0, -118.2, "available", "trip_end")]
    new = {
        "device_id": "d2",
        "vehicle_state": "non_operational",
        "event_types": ["battery_low", "maintenance"],
        "timestamp": AT * 1000,
        "location": {"lat": 34.5, "lng": -118.5},
    }
    read_status(con, write(tmp_path, {"version": "2.0.0", "events": [new, {**new, "vehicle_state": None}]}))
    assert con.execute(columns).fetchall() == [
        ("d2", ROW, 34.5, -118.5, "non_operational", "battery_low,maintenance")
    ]
