"""Repeated rides and records are found in files of any order, however rows are split, and only they."""

import itertools
from pathlib import Path

import duckdb
import pytest
from source_examples import NEW, NEW_YORK, OLD, STATUS

from unmet.mobility import read_status, read_trips
from unmet.mobility.sources import _duplicates

DAY = "2021-10-08 01"


def with_ids(*numbers: int) -> str:
    rows = [
        f"ride{n},classic,{DAY}:{n % 60:02}:00,{DAY}:{n % 60:02}:59,A,1,B,2,40.7,-74.0,40.7,-74.0,member\n"
        for n in numbers
    ]
    return NEW + "\n" + "".join(rows)


def with_bikes(*pairs: tuple[int, str]) -> str:
    rows = [
        f"60,{DAY}:{n % 60:02}:07.5000,{DAY}:{n % 60:02}:58.5000,s1,A,40.7,-74.0,s2,B,40.8,-74.1,{bike},"
        "Subscriber,,0\n"
        for n, bike in pairs
    ]
    return OLD + "\n" + "".join(rows)


# Rides with ids, with vehicles, and with neither; the last repeat only from file to file.
FILES = {
    "ids-1.csv": with_ids(*range(40)),
    "ids-2.csv": with_ids(*range(35, 60), 41),
    "bikes-1.csv": with_bikes(*((n, f"{n % 7}") for n in range(40))),
    "bikes-2.csv": with_bikes(*((n, f"{n % 7}") for n in range(30, 50)), (33, "5"), (33, "9")),
    "nobody-1.csv": with_bikes((1, ""), (1, ""), (2, "")),
    "nobody-2.csv": with_bikes((1, ""), (2, ""), (2, ""), (3, "")),
}
RIDES = 60 + 51 + 5
GIVEN = sum(text.count("\n") - 1 for text in FILES.values())


@pytest.mark.parametrize("order", list(itertools.permutations(range(6)))[::97])
@pytest.mark.parametrize("at_once", [3, 50, 2_000_000])
@pytest.mark.parametrize("bits", [1, 3, 62])  # few bits: rows that differ have the same hash
def test_rides(
    con: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: tuple[int, ...],
    at_once: int,
    bits: int,
) -> None:
    monkeypatch.setattr(_duplicates, "_SEARCHED_AT_ONCE", at_once)
    monkeypatch.setattr(_duplicates, "_HASH_BITS", bits)
    names = [list(FILES)[number] for number in order]
    for name in names:
        (tmp_path / name).write_text(FILES[name])
    report = read_trips(con, [tmp_path / name for name in names], zone=NEW_YORK)
    assert report.duplicates == GIVEN - RIDES
    found = con.execute("SELECT ride_id, vehicle_id, started_at FROM trips ORDER BY ALL").fetchall()
    assert len(found) == RIDES
    assert {row[0] for row in found} == {None, *(f"ride{n}" for n in range(60))}
    again = [row for row in set(found) if found.count(row) > 1]
    assert sorted((row[0], row[1], row[2].minute) for row in again) == [(None, None, 1), (None, None, 2)]
    # The ride of the file that comes first stays.
    first = min(names.index("ids-1.csv"), names.index("ids-2.csv"))
    kept = con.execute("SELECT DISTINCT source FROM trips WHERE ride_id IN ('ride36', 'ride39')").fetchall()
    assert kept == [(names[first],)]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("at_once", [3, 50, 2_000_000])
@pytest.mark.parametrize("bits", [1, 3, 62])
def test_records(
    con: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    turned: bool,
    at_once: int,
    bits: int,
) -> None:
    monkeypatch.setattr(_duplicates, "_SEARCHED_AT_ONCE", at_once)
    monkeypatch.setattr(_duplicates, "_HASH_BITS", bits)
    paths = []
    for number, seconds in enumerate((range(90), range(60, 120))):
        rows = [f"{1604188800 + second},{number},1,s{second % 5},1,1,9\n" for second in seconds]
        paths.append(tmp_path / f"{number}.csv")
        paths[-1].write_text(STATUS + "".join(rows))
    assert read_status(con, paths[::-1] if turned else paths).duplicates == 30
    found = con.execute(
        'SELECT epoch("at")::BIGINT - 1604188800, available FROM status ORDER BY 1'
    ).fetchall()
    last = 0 if turned else 1  # of the records of a moment, that of the last file counts
    want = [last if 60 <= second < 90 else int(second >= 90) for second in range(120)]
    assert found == list(enumerate(want))
