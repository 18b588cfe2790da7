"""A proof that nothing repeats is never wrong, and is found where files follow the clock."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reader_fixtures import NEW_YORK, OLD, STATUS

from unmet.mobility import read_stations, read_status, read_trips
from unmet.mobility.readers import _status, _trips
from unmet.mobility.readers._distinct import Pairs, Proof

ROW = st.tuples(st.integers(0, 3), st.integers(0, 6))
FILE = st.lists(st.lists(ROW, max_size=5), max_size=4)


def _told(proof: Proof, blocks: list[list[tuple[int, int]]], names: list[str]) -> None:
    pairs = Pairs()
    for block in blocks:
        table = np.array(block, np.int64).reshape(-1, 2)
        pairs.add(table[:, 0].astype(np.int32), table[:, 1])
    proof.add(pairs, names)


@given(st.lists(st.tuples(FILE, st.sampled_from(["abcd", "efgh", "afgh", "aabc"])), max_size=3))
def test_what_is_proven_is_true(files) -> None:  # type: ignore[no-untyped-def]
    proof, rows = Proof(), []
    for blocks, names in files:
        _told(proof, blocks, list(names))
        rows += [(names[code], moment) for block in blocks for code, moment in block]
    assert not proof.holds() or len(set(rows)) == len(rows)


@given(st.sets(ROW), st.integers(1, 5))
def test_a_file_that_follows_the_clock_is_proven(rows, size) -> None:  # type: ignore[no-untyped-def]
    ordered = sorted(rows, key=lambda row: row[1])
    blocks = [ordered[first : first + size] for first in range(0, len(ordered), size)]
    proof = Proof()
    _told(proof, blocks, list("abcd"))
    assert proof.holds()
    _told(proof, [[(0, moment + 7) for _, moment in ordered[:1]]], ["a"])  # the same name, later
    _told(proof, blocks, list("efgh"))  # other names at the same time
    assert proof.holds()
    proof.give_up()
    assert not proof.holds()


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tables that were searched for what repeats."""
    seen: list[str] = []
    for module, name in ((_status, "drop_repeated"), (_trips, "drop_duplicates")):
        original = getattr(module, name)

        def search(*given, original=original, name=name):  # type: ignore[no-untyped-def]
            seen.append(name)
            return original(*given)

        monkeypatch.setattr(module, name, search)
    return seen


def _records(*rows: tuple[int, str]) -> str:
    return STATUS + "".join(f"{1604188800 + second},5,1,{place},1,1,9\n" for second, place in rows)


@pytest.mark.parametrize(
    ("first", "second", "found", "once"),
    [
        ([(0, "s1"), (0, "s2"), (9, "s1")], [(10, "s1")], 0, False),
        ([(0, "s1"), (0, "s2"), (9, "s1")], [(5, "s3")], 0, False),
        ([(0, "s1"), (0, "s2"), (9, "s1")], [(5, "s1")], 0, True),  # not proven, and yet nothing repeats
        ([(0, "s1"), (9, "s1")], [(9, "s1")], 1, True),
        ([(0, "s1"), (0, "s1")], [(9, "s1")], 1, True),
        ([(0, "s1"), (0, "hub")], [(9, "s1")], 1, True),  # two ids of one station
        ([(9, "s1"), (0, "s1")], [(19, "s1")], 0, False),  # blocks follow the clock, lines need not
    ],
)
def test_records_are_searched_only_where_they_may_repeat(  # type: ignore[no-untyped-def]
    con, tmp_path, searched, first, second, found, once
) -> None:
    stations = tmp_path / "stations.csv"
    stations.write_text("station_id,name,lat,lon,capacity,short_name\nhub,Hub,40.7,-74.0,20,s1\n")
    read_stations(con, stations)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, (first, second)):
        path.write_text(_records(*rows))
    report = read_status(con, paths)
    assert (report.duplicates, report.rows) == (found, len(first) + len(second) - found)
    assert searched == ["drop_repeated"] * once


def _ride(second: int, bike: str, day: str = "2021-10-08") -> str:
    start, end = (f"{day} 01:20:{number:02}.5000" for number in (second, second + 1))
    return f"60,{start},{end},s1,A,40.7,-74.0,s2,B,40.8,-74.1,{bike},Subscriber,,0\n"


@pytest.mark.parametrize(
    ("first", "second", "found", "once"),
    [
        (_ride(0, "1") + _ride(0, "2"), _ride(1, "1"), 0, False),
        (_ride(0, "1") + _ride(2, "1"), _ride(1, "2"), 0, False),
        (_ride(0, "1") + _ride(2, "1"), _ride(2, "1"), 1, True),
        (_ride(0, "1") + _ride(0, "1"), _ride(2, "1"), 1, True),
        (_ride(0, "") + _ride(1, "1"), _ride(2, "1"), 0, True),  # nobody knows which vehicle
        (_ride(0, "1"), _ride(2, "1", day="2021-11-07"), 0, True),  # in the hour that occurs twice
        (_ride(0, "1"), '"60"' + _ride(0, "1")[2:], 1, True),  # read in another way
    ],
)
def test_rides_are_searched_only_where_they_may_repeat(  # type: ignore[no-untyped-def]
    con, tmp_path, searched, first, second, found, once
) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, (first, second)):
        path.write_text(OLD + "\n" + rows)
    report = read_trips(con, paths, zone=NEW_YORK)
    assert report.duplicates == found
    assert con.execute("SELECT count(*) FROM trips").fetchone() == ((first + second).count("\n") - found,)
    assert searched == ["drop_duplicates"] * once
    names = [row[0] for row in con.execute("DESCRIBE trips").fetchall()]
    assert "source_number" not in names
    assert not {"new_trips", "plain_trips"} & {row[0] for row in con.execute("SHOW TABLES").fetchall()}
