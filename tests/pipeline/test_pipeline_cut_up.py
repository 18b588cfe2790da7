"""A simulated city whose files are cut up as operators do: the panel must not notice."""

import csv
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from village_files import ZONE, make_village

import unmet
from unmet.mobility import read_panel
from unmet.pipeline import panel

STAMP = "%Y-%m-%d %H:%M:%S"
CUTS = (4, 13, 17, 21, 25, 32)  # days of March: the first file has none above 12


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_village(tmp_path_factory.mktemp("city"), days=28)


def trips_of(city: Path) -> tuple[list[str], list[list[str]]]:
    with gzip.open(city / "trips.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    return header, rows


def write_csv(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def changed(city: Path, folder: Path, change) -> list[Path]:
    """The trips in five files, each row changed."""
    header, rows = trips_of(city)
    parts: list[list[list[str]]] = [[] for _ in CUTS[1:]]
    for number, row in enumerate(rows):
        day = int(row[1][8:10])
        part = next(n for n, last in enumerate(CUTS[1:]) if day < last)
        parts[part].append(change(number, list(row)))
    return [write_csv(folder / f"{n}.csv", header, part) for n, part in enumerate(parts)]


def uk(text: str) -> str:
    return datetime.strptime(text[:19], STAMP).strftime("%d/%m/%Y %H:%M:%S")


def spelled(number: int, row: list[str]) -> list[str]:
    """Dates with the day first, and three spellings of one station."""
    row[1], row[2] = uk(row[1]), uk(row[2])
    for place, name in ((3, 4), (7, 8)):
        if row[place] == "P07" and number % 5 < 2:
            row[place], row[name] = [("7", row[name].upper()), ("P07-A", row[name].replace(" ", "-") + ".")][
                number % 5
            ]
    return row


def naive_status(city: Path, folder: Path, zone: str) -> Path:
    with gzip.open(city / "station_status_events.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    for row in rows:
        row[0] = datetime.fromtimestamp(int(row[0]), UTC).astimezone(ZoneInfo(zone)).strftime(STAMP)
    return write_csv(folder / "status.csv", header, rows)


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Kolkata"])
def test_another_zone_three_spellings_and_days_first(city: Path, tmp_path: Path, zone: str) -> None:
    status = city / "station_status_events.csv.gz"
    panel(trips=city / "trips.csv.gz", status=status, zone=ZONE, output=tmp_path / "clean.parquet")
    cut = changed(city, tmp_path, spelled)
    account = panel(
        trips=cut,
        status=naive_status(city, tmp_path, zone),
        zone=ZONE,
        output=tmp_path / "cut.parquet",
    )
    assert (tmp_path / "cut.parquet").read_bytes() == (tmp_path / "clean.parquet").read_bytes()
    told = " | ".join(account["trips"]["notes"] + account["status"]["notes"])
    assert f"times of the status are in {zone}, not {ZONE}" in told
    assert "0.csv: read with the day first" in told
    assert "2 ids joined" in told


def test_a_wrong_zone_of_the_trips_is_told(city: Path, tmp_path: Path) -> None:
    account = panel(
        trips=city / "trips.csv.gz",
        status=city / "station_status_events.csv.gz",
        zone="Europe/Berlin",
        output=tmp_path / "panel.parquet",
    )
    told = " | ".join(account["status"]["notes"])
    assert "seem to be in America/New_York, not Europe/Berlin" in told


@pytest.mark.parametrize("feed", ["events", "snapshots"])
def test_a_right_zone_is_left_alone(city: Path, tmp_path: Path, feed: str) -> None:
    status = city / f"station_status_{feed}.csv.gz"
    account = panel(trips=city / "trips.csv.gz", status=status, zone=ZONE, output=tmp_path / "panel.parquet")
    assert not any("times of" in note for note in account["status"]["notes"])


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:00", "%Y-%m-%d %H:00"])
def test_rounded_stamps_drop_no_ride(city: Path, tmp_path: Path, form: str) -> None:
    def rounded(number: int, row: list[str]) -> list[str]:
        row[1], row[2] = (datetime.strptime(text[:19], STAMP).strftime(form) for text in row[1:3])
        return row

    options = {"zone": ZONE, "by": "day"}
    clean = panel(trips=city / "trips.csv.gz", output=tmp_path / "clean.parquet", **options)
    cut = panel(trips=changed(city, tmp_path, rounded), output=tmp_path / "cut.parquet", **options)
    assert cut["trips"]["rides"] == clean["trips"]["rides"]
    assert cut["panel"]["pickups"] == clean["panel"]["pickups"]
    one, other = (read_panel(tmp_path / f"{name}.parquet") for name in ("clean", "cut"))
    for column in ("unique_id", "ds", "y"):
        assert (one[column] == other[column]).all()


def with_foreign(city: Path, folder: Path) -> tuple[Path, Path]:
    """The feed and the stations of the city with two hundred stations of other cities."""
    with gzip.open(city / "station_status_events.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    information = json.loads((city / "station_information.json").read_text())
    names = header.index("station_id"), header.index("last_reported")
    extra = []
    for n in range(200):
        information["data"]["stations"].append(
            {
                "station_id": f"X{n}",
                "name": f"Elsewhere {n}",
                "lat": 45.0 + n / 100,
                "lon": -93.0,
                "capacity": 9,
            }
        )
        for row in rows[n : len(rows) : 400]:
            row = list(row)
            row[names[0]] = f"X{n}"
            extra.append(row)
    status = write_csv(
        folder / "status.csv", header, sorted(rows + extra, key=lambda row: int(row[names[1]]))
    )
    stations = folder / "stations.json"
    stations.write_text(json.dumps(information))
    return status, stations


def test_foreign_stations_in_the_feed_are_left_out(city: Path, tmp_path: Path) -> None:
    status, stations = with_foreign(city, tmp_path)
    given = {"trips": city / "trips.csv.gz", "zone": ZONE}
    feed = city / "station_status_events.csv.gz"
    panel(**given, status=feed, stations=city / "station_information.json", output=tmp_path / "clean.parquet")
    account = panel(**given, status=status, stations=stations, output=tmp_path / "foreign.parquet")
    assert (tmp_path / "clean.parquet").read_bytes() == (tmp_path / "foreign.parquet").read_bytes()
    assert any(
        "200 places that have a status but no ride are left out" in note
        for note in account["status"]["notes"]
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_foreign_stations_change_neither_lost_rides_nor_moves(city: Path, tmp_path: Path) -> None:
    status, stations = with_foreign(city, tmp_path)
    given = {"trips": city / "trips.csv.gz", "zone": ZONE, "network": "linear", "jobs": 1, "progress": False}
    clean = unmet.run(
        **given,
        status=city / "station_status_events.csv.gz",
        stations=city / "station_information.json",
        output=tmp_path / "clean",
    )
    foreign = unmet.run(**given, status=status, stations=stations, output=tmp_path / "foreign")
    for name in (
        "panel.parquet",
        "stations.parquet",
        "lost.parquet",
        "lost_total.json",
        "plan.csv",
        "moves.csv",
    ):
        assert (foreign.folder / name).read_bytes() == (clean.folder / name).read_bytes()
    assert not any(str(place).startswith("X") for place in [*foreign.moves["from"], *foreign.moves["to"]])


def test_an_area_holds_for_trips_status_and_stations(city: Path, tmp_path: Path) -> None:
    given = {
        "trips": city / "trips.csv.gz",
        "status": city / "station_status_events.csv.gz",
        "stations": city / "station_information.json",
        "zone": ZONE,
    }
    whole = panel(**given, output=tmp_path / "whole.parquet")
    part = panel(**given, area="40.7178,-74.0416,0.6", output=tmp_path / "part.parquet")
    trips = part["trips"]
    assert 0 < part["panel"]["places"] < whole["panel"]["places"]
    assert trips["accepted"] == trips["rides"] + trips["duplicates"] + trips["left_out"]
    assert trips["left_out"] > 0
    ring = [[-74.05, 40.71], [-74.03, 40.71], [-74.03, 40.7178], [-74.05, 40.7178], [-74.05, 40.71]]
    polygon = tmp_path / "area.geojson"
    polygon.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    panel(**given, area=polygon, output=tmp_path / "polygon.parquet")
    known = json.loads((city / "station_information.json").read_text())["data"]["stations"]
    south = {one["station_id"] for one in known if one["lat"] < 40.7178}
    assert set(read_panel(tmp_path / "polygon.parquet")["unique_id"].tolist()) == south
    with pytest.raises(ValueError, match="area"):
        panel(**given, area="here", output=tmp_path / "x.parquet")
