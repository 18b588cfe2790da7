"""The files of a city: formats as operators publish them, in agreement with each other and with the truth."""

import csv
import gzip
import json
import os
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import jsonschema
import numpy as np
import pytest

from unmet.datasets.city import make_city

HEADER = (
    "tripduration,starttime,stoptime,start station id,start station name,start station latitude,"
    "start station longitude,end station id,end station name,end station latitude,end station longitude,"
    "bikeid,usertype,birth year,gender"
)
STATUS_HEADER = (
    "last_reported,num_docks_disabled,num_bikes_available,is_renting,station_id,is_returning,is_installed,"
    "num_bikes_disabled,num_ebikes_available,num_docks_available"
)
DATA = Path(os.environ.get("UNMET_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture(scope="module")
def city():
    return make_city(
        "village", days=9, seed=2, rival=True, start="2024-03-04"
    )  # spring forward on the 7th day


@pytest.fixture(scope="module")
def folder(city, tmp_path_factory):
    target = tmp_path_factory.mktemp("city")
    city.write(target)
    return target


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_city_json_lists_exactly_the_files(city, folder):
    said = json.loads((folder / "city.json").read_text())
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert set(said["files"]) == found
    assert said["rides"] == len(city.rides)
    assert said["requests"] == said["rides"] + said["lost"]
    assert said["settings"]["seed"] == 2


def test_trips_carry_the_rides_in_local_time(city, folder):
    with gzip.open(folder / "trips.csv.gz", "rt") as file:
        assert file.readline().rstrip("\n") == HEADER
    trips = rows(folder / "trips.csv.gz")
    zone = ZoneInfo("America/New_York")
    form = "%Y-%m-%d %H:%M:%S.%f"
    for which in range(0, len(trips), 17):
        trip = trips[which]
        start, stop = (
            int(datetime.strptime(trip[c], form).replace(tzinfo=zone).timestamp())
            for c in ("starttime", "stoptime")
        )
        assert start - city.hours.first == city.rides.start[which]
        assert stop - city.hours.first == city.rides.end[which]
        assert int(trip["tripduration"]) == stop - start
        assert trip["start station id"] == city.map.ids[city.rides.origin[which]]
        assert trip["end station name"] == city.map.names[city.rides.destination[which]]
        assert int(trip["bikeid"]) - 10001 == city.rides.vehicle[which]
    assert len(trips) == len(city.rides)
    assert not any(trip["starttime"].startswith("2024-03-10 02") for trip in trips)


def test_status_events_replay_to_the_stock(city, folder):
    """Read the file as anybody would: every record in order, and compare with rides and moves."""
    events = rows(folder / "station_status_events.csv.gz")
    with gzip.open(folder / "station_status_events.csv.gz", "rt") as file:
        assert file.readline().rstrip("\n") == STATUS_HEADER
    change: dict[tuple[str, int], int] = {}

    def add(place, second, by):
        key = (city.map.ids[place], city.hours.first + int(second))
        change[key] = change.get(key, 0) + by

    for start, end, origin, destination in zip(
        city.rides.start, city.rides.end, city.rides.origin, city.rides.destination
    ):
        add(origin, start, -1)
        if end < city.hours.seconds:
            add(destination, end, 1)
    for _, source, fetched, sink, brought in city.moves.tolist():
        add(source, fetched, -1)
        add(sink, brought, 1)
    stock: dict[str, int] = {}
    seen = set()
    for event in events:
        place, at, available = (
            event["station_id"],
            int(event["last_reported"]),
            int(event["num_bikes_available"]),
        )
        assert (place, at) not in seen
        seen.add((place, at))
        if place in stock:
            assert available == stock[place] + change.pop((place, at), 0)
        stock[place] = available
        docks = city.capacity[city.map.ids.index(place)]
        assert int(event["num_docks_available"]) == docks - available >= 0
    assert change == {}
    assert [int(e["last_reported"]) for e in events] == sorted(int(e["last_reported"]) for e in events)


def test_no_station_is_silent_for_more_than_an_hour(city, folder):
    times: dict[str, list[int]] = {}
    for event in rows(folder / "station_status_events.csv.gz"):
        times.setdefault(event["station_id"], []).append(int(event["last_reported"]))
    for at in times.values():
        assert at[0] == city.hours.first
        assert at[-1] == city.hours.first + city.hours.seconds
        assert max(np.diff(at)) <= 3600


def test_snapshots_agree_with_events(folder):
    events, shots = (rows(folder / f"station_status_{kind}.csv.gz") for kind in ("events", "snapshots"))
    state: dict[str, str] = {}
    position = 0
    for shot in shots:
        while position < len(events) and int(events[position]["last_reported"]) <= int(shot["last_reported"]):
            state[events[position]["station_id"]] = events[position]["num_bikes_available"]
            position += 1
        assert shot["num_bikes_available"] == state[shot["station_id"]]
    assert len(shots) == 12 * ((9 * 24 - 1) * 12 + 1)


def test_gbfs_documents(city, folder):
    information = json.loads((folder / "station_information.json").read_text())
    assert [s["station_id"] for s in information["data"]["stations"]] == list(city.map.ids)
    documents = sorted((folder / "snapshots").iterdir())
    assert len(documents) == 12
    status = json.loads(documents[0].read_text())
    shots = {
        (s["last_reported"], s["station_id"]): s for s in rows(folder / "station_status_snapshots.csv.gz")
    }
    for station in status["data"]["stations"]:
        shot = shots[str(status["last_updated"]), station["station_id"]]
        assert station["num_bikes_available"] == int(shot["num_bikes_available"])
    schemas = DATA / "gbfs" / "schema"
    if not schemas.exists():
        pytest.skip("the GBFS schemas are not here")
    for name, document in (("station_information", information), ("station_status", status)):
        jsonschema.validate(document, json.loads((schemas / f"v2.3_{name}.schema.json").read_text()))


def test_truth_file_holds_the_truth(city, folder):
    table = duckdb.connect().sql(f"SELECT * FROM '{folder}/truth.parquet'").fetchnumpy()
    assert list(table)[:2] == ["unique_id", "ds"]
    for name in ("latent", "served", "lost", "spilled_out", "spilled_in", "rival"):
        assert np.array_equal(table[name].reshape(city.rate.shape), getattr(city.truth, name))
    assert table["unique_id"].reshape(city.rate.shape)[:, 0].tolist() == list(city.map.ids)
    assert table["ds"][0] == np.datetime64("2024-03-04T05:00:00")


def test_weather_files(city, folder):
    hourly = duckdb.connect().sql(f"SELECT * FROM '{folder}/weather.csv'").fetchall()
    daily = duckdb.connect().sql(f"SELECT date, rain FROM '{folder}/weather_daily.csv'").fetchall()
    assert len(hourly) == len(city.hours) == 9 * 24 - 1
    assert [str(day) for day, _ in daily] == [f"2024-03-{day:02d}" for day in range(4, 13)]
    assert sum(rain for _, rain in daily) == pytest.approx(city.weather.rain.sum(), abs=0.1)


def test_same_seed_same_bytes(city, folder, tmp_path):
    again = make_city("village", days=9, seed=2, rival=True, start="2024-03-04")
    for path in again.write(tmp_path):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes(), path.name


def test_monthly_parts_hold_the_same_lines(tmp_path):
    city = make_city("village", days=10, start="2024-04-26")
    city.write(tmp_path / "one", compress=False, snapshots=None)
    city.write(tmp_path / "many", parts="month")
    whole = (tmp_path / "one" / "trips.csv").read_text().splitlines()
    parts = [rows(tmp_path / "many" / f"trips-2024{month}.csv.gz") for month in ("04", "05")]
    assert len(whole) - 1 == len(parts[0]) + len(parts[1]) == len(city.rides)
    assert all(trip["starttime"].startswith("2024-04") for trip in parts[0])
    assert not (tmp_path / "one" / "station_status_snapshots.csv").exists()


def test_utc_times_tell_the_two_autumn_hours_apart(tmp_path):
    city = make_city("village", days=1, start="2024-11-03", demand=3.0)
    city.write(tmp_path, times="utc", compress=False)
    with (tmp_path / "trips.csv").open() as file:
        starts = [trip["starttime"] for trip in csv.DictReader(file)]
    assert starts == sorted(starts)
    assert starts[0].startswith("2024-11-03 04")


def test_writing_again_replaces_the_earlier_city_and_nothing_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    make_city("village", days=2, start="2024-04-30").write(tmp_path, parts="month")
    make_city("village", days=2, weather=False).write(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert "notes.txt" in names
    assert "trips.csv.gz" in names
    assert not any(name.startswith(("trips-", ".unmet", "weather")) for name in names)


def test_a_failure_leaves_nothing_half_written(tmp_path, monkeypatch):
    city = make_city("village", days=2)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("unmet.datasets.city._write.copy_truth", fail)
    with pytest.raises(OSError, match="disk full"):
        city.write(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_wrong_options_are_named(tmp_path):
    city = make_city("village", days=1)
    for option, value in (("parts", "week"), ("times", "noon"), ("snapshots", 0)):
        with pytest.raises(ValueError, match=option):
            city.write(tmp_path, **{option: value})
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        city.write(tmp_path / "file")
