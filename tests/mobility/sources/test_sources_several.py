"""Several files: rows in the order of the files, an irregular file among regular ones, duplicates."""

from pathlib import Path

import duckdb
import pytest
from source_examples import NEW, NEW_YORK, OLD, STATUS

from unmet.mobility import read_stations, read_status, read_trips
from unmet.mobility.sources import _duplicates


def month(folder: Path, name: str, rides: int, prefix: str, odd: str = "") -> Path:
    path = folder / name
    rest = "2021-02-01 11:00:00,A,1,B,2,40.7,-74.0,40.7,-74.0,member"
    rows = [f"{prefix}{n},classic,2021-02-01 10:{n % 60:02d}:00,{rest}\n" for n in range(rides)]
    path.write_text(NEW + "\n" + "".join(rows) + odd)
    return path


def test_rows_stand_in_the_order_of_the_files(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    sizes = [4000, 3, 900, 1, 50, 7]
    paths = [month(tmp_path, f"{n}.csv", size, f"r{n}-") for n, size in enumerate(sizes)]
    report = read_trips(con, paths, zone=NEW_YORK)
    assert [file.accepted for file in report.files] == sizes
    rows = con.execute("SELECT source, line FROM trips").fetchall()
    assert rows == [(f"{n}.csv", line) for n, size in enumerate(sizes) for line in range(2, size + 2)]


def test_rows_of_a_large_file_stand_in_its_order(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "stations.csv").write_text("station_id,name,lat,lon\n1,A,40.7,-74.0\n2,B,40.7,-74.0\n")
    read_stations(con, tmp_path / "stations.csv")
    read_trips(con, month(tmp_path, "large.csv", 300_000, "r"), zone=NEW_YORK)
    wrong = "SELECT count(*) FROM trips WHERE ride_id <> 'r' || (line - 2) OR line <> rowid + 2"
    assert con.execute(wrong).fetchone() == (0,)


def test_an_irregular_file_among_regular_ones(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    odd = "x1,classic,tomorrow,2021-02-01 11:00:00,A,1,B,2,40.7,-74.0,40.7,-74.0,member\nx2,too,few\n"
    paths = [month(tmp_path, f"{n}.csv", 100, f"r{n}-", odd if n == 2 else "") for n in range(5)]
    report = read_trips(con, paths, zone=NEW_YORK)
    assert [(file.lines, file.accepted, file.rejected) for file in report.files] == [
        (101, 100, 0),
        (101, 100, 0),
        (103, 100, 2),
        (101, 100, 0),
        (101, 100, 0),
    ]
    assert con.execute("SELECT source, line FROM rejects ORDER BY line").fetchall() == [
        ("2.csv", 102),
        ("2.csv", 103),
    ]
    assert [row[0] for row in con.execute("SELECT DISTINCT source FROM trips ORDER BY 1").fetchall()] == [
        f"{n}.csv" for n in range(5)
    ]


def test_what_stops_the_reading_leaves_the_tables_as_before(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    read_trips(con, month(tmp_path, "first.csv", 5, "a"), zone=NEW_YORK)
    (tmp_path / "no-trips.csv").write_text("apples,pears\n1,2\n")
    paths = [month(tmp_path, f"{n}.csv", 2000, f"r{n}-") for n in range(6)]
    for place in (0, 2, 5):
        with pytest.raises(ValueError, match=r"no-trips\.csv is not a known trip file"):
            read_trips(con, [*paths[:place], tmp_path / "no-trips.csv", *paths[place:]], zone=NEW_YORK)
        assert con.execute("SELECT count(*) FROM trips").fetchone() == (5,)
    assert not list((tmp_path / "spill").rglob("unmet-reading-*"))
    # The first error in the order of the files is the one that is told.
    missing_zone = month(tmp_path, "z.csv", 1, "z")
    with pytest.raises(ValueError, match=r"z\.csv has local times"):
        read_trips(con, [missing_zone, tmp_path / "no-trips.csv"])


@pytest.mark.parametrize("at_once", [7, 50, 2_000_000])
def test_duplicates_are_found_in_any_number_of_parts(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(_duplicates, "_SEARCHED_AT_ONCE", at_once)
    one, two = month(tmp_path, "1.csv", 200, "a"), month(tmp_path, "2.csv", 150, "a")
    report = read_trips(con, [one, two], zone=NEW_YORK)
    assert report.duplicates == 150
    assert con.execute("SELECT source, count(*) FROM trips GROUP BY 1").fetchall() == [("1.csv", 200)]
    records = [f"{1604188880 + n},{n % 9},1,s{n % 5},1,1,9\n" for n in range(300)]
    for name in ("s1.csv", "s2.csv"):
        (tmp_path / name).write_text(STATUS + "".join(records))
    assert read_status(con, [tmp_path / "s1.csv", tmp_path / "s2.csv"]).duplicates == 300
    assert con.execute("SELECT count(*) FROM status").fetchone() == (300,)


def records(*rows: tuple[int, str]) -> str:
    return STATUS + "".join(f"{1604188800 + second},5,1,{place},1,1,9\n" for second, place in rows)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ([(0, "s1"), (0, "s2"), (9, "s1")], [(10, "s1")], 0),
        ([(0, "s1"), (0, "s2"), (9, "s1")], [(5, "s1")], 0),
        ([(0, "s1"), (9, "s1")], [(9, "s1")], 1),
        ([(0, "s1"), (0, "s1")], [(9, "s1")], 1),
        ([(0, "s1"), (0, "hub")], [(9, "s1")], 1),  # two ids of one station
    ],
)
def test_repeated_records(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, first: list, second: list, found: int
) -> None:
    stations = tmp_path / "stations.csv"
    stations.write_text("station_id,name,lat,lon,capacity,short_name\nhub,Hub,40.7,-74.0,20,s1\n")
    read_stations(con, stations)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, (first, second)):
        path.write_text(records(*rows))
    report = read_status(con, paths)
    assert (report.duplicates, report.rows) == (found, len(first) + len(second) - found)


def ride(second: int, bike: str, day: str = "2021-10-08") -> str:
    start, end = (f"{day} 01:20:{number:02}.5000" for number in (second, second + 1))
    return f"60,{start},{end},s1,A,40.7,-74.0,s2,B,40.8,-74.1,{bike},Subscriber,,0\n"


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (ride(0, "1") + ride(0, "2"), ride(1, "1"), 0),
        (ride(0, "1") + ride(2, "1"), ride(2, "1"), 1),
        (ride(0, "1") + ride(0, "1"), ride(2, "1"), 1),
        (ride(0, "") + ride(0, "") + ride(1, "1"), ride(0, ""), 1),  # nobody knows which vehicle
        (ride(0, "1"), ride(2, "1", day="2021-11-07"), 0),
        (ride(0, "1"), '"60"' + ride(0, "1")[2:], 1),
    ],
)
def test_repeated_rides(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, first: str, second: str, found: int
) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, (first, second)):
        path.write_text(OLD + "\n" + rows)
    report = read_trips(con, paths, zone=NEW_YORK)
    assert report.duplicates == found
    assert con.execute("SELECT count(*) FROM trips").fetchone() == ((first + second).count("\n") - found,)


def test_the_last_record_of_a_moment_counts_however_far_it_is_from_the_first(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    lines = [f"{1604188880 + n},5,1,s{n % 3},1,1,9\n" for n in range(250_000)]
    for number, available in ((7, 1), (120_000, 2), (240_000, 3)):
        lines[number] = f"1604188000,{available},1,s9,1,1,9\n"
    path = tmp_path / "status.csv"
    path.write_text(STATUS + "".join(lines))
    assert read_status(con, path).duplicates == 2
    assert con.execute("SELECT available FROM status WHERE place = 's9'").fetchall() == [(3,)]
