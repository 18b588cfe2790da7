"""Ten more layouts, and the same files under headers that nobody knows."""

import shlex
from pathlib import Path

import duckdb
import pytest
from world_examples import LAYOUTS, STATIONS, STATUS_KOREAN, make_rides, written, youbike

from unmet.cli import main
from unmet.mobility import read_status, read_trips


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def save(folder: Path, text: str, name: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_rides_of_every_layout(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    zone = LAYOUTS[name][0]
    encoding = "cp949" if name == "Seoul" else "utf-8"
    report = read_trips(con, save(tmp_path, written(name), "x", encoding), zone=zone)
    rides = make_rides()
    assert (report.formats, report.rides, report.rejected) == ({name: 1}, len(rides), 0)
    found = con.execute(
        "SELECT started_at, ended_at, start_place, end_place FROM trips ORDER BY line"
    ).fetchall()
    for ride, (start, end, origin, destination) in zip(rides, found):
        places = (ride.origin, ride.destination)
        if name == "BIXI from 2022":
            places = (STATIONS[ride.origin][0], STATIONS[ride.destination][0])
        if name == "Mobi or Helsinki":
            places = tuple(f"{place} {STATIONS[place][0]}" for place in places)
            assert (start.minute, end >= start) == (0, True)
        else:
            assert (start.replace(microsecond=0), end.replace(microsecond=0)) == ride.utc(zone)
        assert (origin, destination) == places
    assert report.flags == {}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_line_that_a_refusal_prints_gives_the_same_panel(
    tmp_path: Path, capfd: pytest.CaptureFixture, name: str
) -> None:
    zone, _, korean = LAYOUTS[name]
    known = save(tmp_path, written(name), "known.csv", "cp949" if name == "Seoul" else "utf-8")
    options = ["--zone", zone, "--quiet", "-o"]
    assert call("panel", known, *options, tmp_path / "known.parquet") == 0
    for encoding in ("utf-8", "cp949"):
        unknown = save(tmp_path, written(name, korean), f"unknown {encoding}.csv", encoding)
        made = tmp_path / f"{encoding}.parquet"
        assert call("panel", unknown, *options, made) == 1
        message = capfd.readouterr().err
        assert message.count("\n") == 1
        _, _, line = message.strip().partition("Try: unmet ")
        assert call(*shlex.split(line)) == 0
        assert made.read_bytes() == (tmp_path / "known.parquet").read_bytes()


def test_a_status_file_under_a_header_that_nobody_knows(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    zone = "America/Toronto"
    trips = save(tmp_path, written("Toronto"), "trips.csv")
    known = save(tmp_path, youbike(), "known.csv")
    report = read_status(con, known, zone=zone)
    assert (report.formats, report.rejected) == ({"YouBike status": 1}, 0)
    assert con.execute("SELECT count(*) FROM status WHERE available + docks <> 12").fetchone() == (0,)
    options = ["--zone", zone, "--quiet", "-o"]
    assert call("panel", trips, "--status", known, *options, tmp_path / "known.parquet") == 0
    for encoding in ("utf-8", "cp949"):
        unknown = save(tmp_path, youbike(STATUS_KOREAN), f"{encoding}.csv", encoding)
        made = tmp_path / f"{encoding}.parquet"
        assert call("panel", trips, "--status", unknown, *options, made) == 1
        _, _, line = capfd.readouterr().err.strip().partition("Try: unmet ")
        assert call(*shlex.split(line)) == 0
        assert made.read_bytes() == (tmp_path / "known.parquet").read_bytes()
