"""Rides and places that do not belong: too short, spelled differently, elsewhere, or only in the feed."""

from pathlib import Path

import duckdb
import pytest
from source_examples import NEW_YORK, OLD, STATUS

from unmet.mobility import build_panel, place_table, read_stations, read_status, read_trips
from unmet.mobility.sources import Area, leave_out_places


def ride(place: str, name: str, lat: float, *, minute: int = 0, seconds: int = 300, end: str = "B") -> str:
    ends = f"2021-02-03 12:{minute:02d}:00", f"2021-02-03 12:{minute + seconds // 60:02d}:{seconds % 60:02d}"
    return f"{seconds},{ends[0]},{ends[1]},{place},{name},{lat},-74.0,{end},Bay,40.8,-74.1,{minute},x,,0\n"


def save(folder: Path, text: str, name: str = "trips.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def starts(con: duckdb.DuckDBPyConnection) -> list[tuple]:
    return con.execute("SELECT start_place, count(*) FROM trips GROUP BY 1 ORDER BY 1").fetchall()


def test_spellings_of_one_station_are_joined(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = [ride("A", "Grove St PATH", 40.7, minute=n) for n in range(3)]
    rows += [
        ride("a-1", "GROVE STREET path.", 40.7004, minute=9),
        ride("c", "Grove St PATH", 40.75, minute=10),
    ]
    rows += [ride("d", "Quay", 40.7, minute=11)]
    report = read_trips(con, save(tmp_path, OLD + "\n" + "".join(rows)), zone=NEW_YORK)
    assert starts(con) == [("A", 4), ("c", 1), ("d", 1)]
    told = " ".join(report.notes)
    assert "a-1 is A" in told
    assert "5.6 km apart" in told
    assert "stand at the same spot" in told
    build_panel(con, zone=NEW_YORK)
    names = place_table(con, "station")
    assert dict(zip(names["unique_id"], names["name"]))["A"] == "Grove St PATH"


def test_a_stations_file_settles_which_ids_are_one(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    read_stations(
        con, save(tmp_path, "station_id,name,lat,lon\nA,Grove,40.7,-74\nB,Grove,40.7,-74\n", "s.csv")
    )
    rows = [ride("A", "Grove", 40.7), ride("B", "Grove", 40.7, minute=1)]
    report = read_trips(con, save(tmp_path, OLD + "\n" + "".join(rows)), zone=NEW_YORK)
    assert starts(con) == [("A", 1), ("B", 1)]
    assert not report.notes


def test_equal_names_without_positions_leave_a_doubt(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    text = "trip_id,start_time,end_time,from_station_id,from_station_name,to_station_id\n" + "".join(
        f"{n},2021-02-03 12:{n:02d}:00,2021-02-03 13:00:00,{place},Grove,9\n"
        for n, place in enumerate(["42", "42", "42.0", "77"])
    )
    report = read_trips(con, save(tmp_path, text), zone=NEW_YORK)
    assert starts(con) == [("42", 3), ("77", 1)]
    assert any("42 (Grove) and 77 (Grove) have the same name" in note for note in report.notes)


@pytest.mark.parametrize(("least", "short"), [(60, 1), (0, 0), (400, 2)])
def test_short_rides_that_go_nowhere_are_set_aside(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, least: float, short: int
) -> None:
    rows = [
        ride("A", "Quay", 40.7, seconds=30, end="A"),
        ride("A", "Quay", 40.7, minute=1, seconds=300, end="A"),
        ride("A", "Quay", 40.7, minute=9, seconds=30),
    ]
    path = save(tmp_path, OLD + "\n" + "".join(rows))
    report = read_trips(con, path, zone=NEW_YORK, min_duration=least)
    assert report.flags == ({"too-short": short} if short else {})
    assert report.rides == 3


def test_keep_and_area_hold_for_the_status(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    stations = "station_id,name,lat,lon,city\nA,Quay,40.7,-74,here\nB,Bay,40.8,-74,there\nX,Far,45,-90,here\n"
    read_stations(con, save(tmp_path, stations, "s.csv"))
    trips = save(tmp_path, OLD + "\n" + ride("A", "Quay", 40.7) + ride("B", "Bay", 40.8, minute=1, end="A"))
    status = STATUS + "".join(f"1612371600,5,1,{place},1,1,9\n" for place in "ABX")
    for keep, area in ((None, None), ({"city": "here"}, None), (None, Area.of("40.7,-74.0,5"))):
        read_stations(con, tmp_path / "s.csv")
        report = read_trips(con, trips, zone=NEW_YORK, keep=keep, area=area)
        read_status(con, save(tmp_path, status, "status.csv"))
        notes = leave_out_places(con, keep=keep, area=area)
        left = [row[0] for row in con.execute("SELECT place FROM status ORDER BY 1").fetchall()]
        assert left == (["A", "B"] if keep is None and area is None else ["A"])
        assert report.left_out == (0 if keep is None and area is None else 1)
        assert notes
    with pytest.raises(ValueError, match="area holds no ride"):
        read_trips(con, trips, zone=NEW_YORK, area=Area.of((0, 0, 1)))


@pytest.mark.parametrize("given", ["1,2", "91,0,5", "0,0,-1", (1, 2), "nowhere.geojson"])
def test_areas_that_are_none(given: object) -> None:
    with pytest.raises(ValueError, match="area must be a point and a radius"):
        Area.of(given)


def test_day_first_by_all_files_and_by_the_caller(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    header = "when,car\n"
    one, two = (save(tmp_path, header + text, name) for name, text in (
        ("1.csv", "03/04/2019 10:00,x\n"), ("2.csv", "25/04/2019 10:00,x\n")))  # fmt: skip
    options = {"columns": {"start": "when", "vehicle": "car"}, "times": "utc"}

    def months(paths: list[Path], **more: object) -> list[int]:
        read_trips(con, paths, **options, **more)
        return [
            row[0].month for row in con.execute("SELECT started_at FROM trips ORDER BY source").fetchall()
        ]

    assert months([one, two]) == [4, 4]
    assert months([one]) == [3]
    assert months([one], day_first=True) == [4]
    assert any("--day-first" in note for note in read_trips(con, one, **options).notes)
    with pytest.raises(ValueError, match="rejected"):
        read_trips(con, two, **options, day_first=False)
