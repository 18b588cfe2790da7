"""Several files at once: rows in the order of the files, a troubled one among sound ones, errors in turn."""

from pathlib import Path

import duckdb
import pytest
from reader_fixtures import NEW, NEW_YORK, STATUS

from unmet.mobility import read_status, read_trips
from unmet.mobility.readers import _duplicates


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


def test_a_troubled_file_among_sound_ones(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
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
        with pytest.raises(ValueError, match=r"no-trips\.csv is no trip file"):
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
