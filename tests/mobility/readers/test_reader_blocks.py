"""Plain files are read in blocks of lines, with the same result as by DuckDB and line by line."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reader_fixtures import NEW_YORK, OLD, STATUS

from unmet.mobility import _gathered, read_stations, read_status, read_trips
from unmet.mobility.readers import _csv, _ready
from unmet.mobility.readers._blocks import Block, Uneven, blocks, padded
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._stamp_blocks import local_times, to_utc

EPOCH = datetime(1970, 1, 1)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 31, 23, 59, 59))


def _block(cells: list[str]) -> Block:
    return Block(padded("".join(f"x,{cell}\n" for cell in cells).encode()), 2, ",")


@given(
    st.lists(st.integers(0, 10**10 - 1).map(str) | st.from_regex(r"[0-9]{1,10}", fullmatch=True), max_size=9)
)
def test_whole_numbers(texts: list[str]) -> None:
    assert _block(texts).whole(1, 10).tolist() == [int(text) for text in texts]


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "1e3", "12345678901", "0x1", "١", "1:", "1/"])
def test_anything_else_is_no_whole_number(text: str) -> None:
    with pytest.raises(Uneven):
        _block(["7", text]).whole(1, 10)


@given(st.lists(TIMES, min_size=1, max_size=9), st.integers(0, 6), st.sampled_from(" T"))
def test_stamps(times: list[datetime], fraction: int, mark: str) -> None:
    times = [
        time.replace(microsecond=time.microsecond // 10 ** (6 - fraction) * 10 ** (6 - fraction))
        for time in times
    ]
    texts = [
        f"{time:%Y-%m-%d{mark}%H:%M:%S}" + f".{time:%f}"[: 1 + fraction] * (fraction > 0) for time in times
    ]
    found = local_times(_block(texts), 1, f"%Y-%m-%d{mark}%H:%M:%S" + ".%f" * (fraction > 0))
    assert found.tolist() == [(time - EPOCH) // timedelta(microseconds=1) for time in times]


@pytest.mark.parametrize(
    "text",
    [
        "2021-02-29 10:00:00",
        "2021-02-00 10:00:00",
        "2021-13-01 10:00:00",
        "2021-00-01 10:00:00",
        "2021-02-28 24:00:00",
        "2021-02-28 10:60:00",
        "2021-02-28 10:00:60",
        "2021-02-28T10:00:00",
        "2021-02-28 10:00:0x",
        "2021/02/28 10:00:00",
        "1989-12-31 10:00:00",
        "2100-01-01 10:00:00",
        "2021-02-28 10:00",
        "2021-02-28 10:00:00.5",
        "",
    ],
)
def test_other_stamps_do_not_pass(text: str) -> None:
    with pytest.raises(Uneven):
        local_times(_block(["2021-02-28 10:00:00", text]), 1, "%Y-%m-%d %H:%M:%S")


@given(
    st.lists(TIMES, min_size=1, max_size=9),
    st.sampled_from([NEW_YORK, "Europe/Berlin", "Asia/Kolkata", "UTC"]),
)
def test_local_times_are_those_of_the_zone(times: list[datetime], zone: str) -> None:
    times = [time.replace(microsecond=0) for time in times]
    local = np.array([(time - EPOCH) // timedelta(microseconds=1) for time in times])
    found, doubled = to_utc(local, zone)
    there = [time.replace(tzinfo=ZoneInfo(zone)) for time in times]
    assert [EPOCH + timedelta(microseconds=int(t)) for t in found] == [
        time.astimezone(UTC).replace(tzinfo=None) for time in there
    ]
    twice = [time.utcoffset() > time.replace(fold=1).utcoffset() for time in there]  # type: ignore[operator]
    assert (doubled.tolist() if doubled is not None else [False] * len(times)) == twice


@given(st.lists(st.text("ab,é", max_size=40).map(lambda text: text.replace(",", "-")), max_size=30))
def test_equal_codes_mean_equal_texts(texts: list[str]) -> None:
    codes = Codes(1, 1)
    for part in (texts[: len(texts) // 2], texts[len(texts) // 2 :], texts):
        assert [codes.texts[code].decode() for code in codes.of(_block(part))] == part
    assert len(codes.texts) == len(set(texts))


def test_texts_that_hardly_repeat_are_not_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmet.mobility.readers._codes.MOST", 3)
    with pytest.raises(Uneven, match="distinct"):
        Codes(1, 1).of(_block(list("abcd")))
    with pytest.raises(Uneven, match="long"):
        Codes(1, 1).of(_block(["a" * 129]))


@pytest.mark.parametrize("lines", ["a,b,c\n", "a\n", "a,b\n\n", "a\nb,c,d\n", ",\n,,\n\n"])
def test_lines_with_other_cells_do_not_pass(lines: str) -> None:
    with pytest.raises(Uneven, match="cells"):
        Block(padded(lines.encode()), 2, ",")


@pytest.mark.parametrize("cell", [b'"b"', b"b\r", b"\0", b"\xff", b"\xc3"])
def test_bytes_that_are_not_plain_do_not_pass(cell: bytes) -> None:
    Block(padded("a,é\n".encode()), 2, ",")
    with pytest.raises(Uneven, match=r"quotes|UTF-8"):
        Block(padded(b"a," + cell + b"\n"), 2, ",")


@given(st.lists(st.text("abc", max_size=12), max_size=12), st.integers(1, 9), st.booleans())
def test_blocks_hold_every_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, end: bool
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "file"
    text = "\n".join(["header", *lines]) + "\n" * end
    path.write_text(text)
    parts = [held[begin:end].decode() for held, begin, end in blocks(path, size)]
    assert all(part.endswith("\n") for part in parts)
    assert "".join(parts).splitlines() == text.splitlines()[1:]


def test_a_very_long_line_is_not_gathered(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"header\n" + b"a" * 300_000 + b"\n")
    with pytest.raises(Uneven, match="long line"):
        list(blocks(path, 1 << 16))


def _ride(start: str, end: str, places: tuple[str, str], seconds: int = 60, bike: str = "7") -> str:
    one, two = (f"{place},{place} St,40.7{place[-1]},-74.{place[-1]}" for place in places)
    return f"{seconds},{start},{end},{one},{two},{bike},Subscriber,,0\n"


RIDES = [
    _ride("2021-11-07 00:59:00.5000", "2021-11-07 01:30:00.5000", ("00042", "s1")),
    _ride(
        "2021-11-07 01:40:00.5000", "2021-11-07 01:10:00.5000", ("s1", "s2"), 1800
    ),  # the hour occurs twice
    _ride("2021-11-07 01:20:00.5000", "2021-11-07 01:30:00.5000", ("s2", "s1"), 600, ""),
    _ride("2021-11-08 01:20:00.5000", "2021-11-10 01:30:00.5000", ("s2", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:20:00.5000", ("Depot 3", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:20:00.5000", ("s2", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:10:00.5000", ("é3", "s3")),
    "60,2021-11-09 01:20:00.5000,2021-11-09 01:21:00.5000,,,,,s1,,40.7,-74.1,7,Subscriber,,0\n",
]
TRIPS = "SELECT * FROM trips ORDER BY source, line"
RECORDS = 'SELECT * FROM status ORDER BY "at", place'


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How files were read, in order."""
    seen: list[str] = []
    original = _csv.attempt

    def attempt(con, insert, relation, expected=None):  # type: ignore[no-untyped-def]
        done = original(con, insert, relation, expected)
        if done is not None:
            seen.append("blocks" if relation.plain else "quick" if relation.quick else "careful")
        return done

    for module in (_csv, _ready):
        monkeypatch.setattr(module, "attempt", attempt)
    return seen


def _three_ways(con, monkeypatch, read, table):  # type: ignore[no-untyped-def]
    results = []
    for name in ("", "fits_blocks", "types_of"):
        if name:
            monkeypatch.setattr(_csv, name, lambda layout, samples: None)
        report = read()
        results.append((con.execute(table).fetchall(), report.rejected, report.duplicates))
    return results


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_trips_by_three_ways(con, tmp_path, monkeypatch, ways, rows) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(_gathered, "_ROWS", rows)
    path = tmp_path / "trips.csv"
    path.write_text(OLD + "\n" + "".join(RIDES * 3))
    stations = tmp_path / "stations.csv"
    stations.write_text("station_id,name,lat,lon,capacity,short_name\nhub,Hub,40.7,-74.0,20,s2\n")
    read_stations(con, stations)
    one, two, three = _three_ways(con, monkeypatch, lambda: read_trips(con, path, zone=NEW_YORK), TRIPS)
    assert ways[1:] == ["blocks", "quick", "careful"]  # after the stations
    assert one == two == three
    rides = one[0]
    assert {row[10] for row in rides} == {
        None,
        "test-station",
        "over-a-day",
        "zero-length",
        "ends-before-start",
    }
    assert ("00042", "s1") in {(row[4], row[5]) for row in rides}
    assert "hub" in {row[4] for row in rides}
    assert [row[3] - row[2] for row in rides][1] == timedelta(minutes=30)


@pytest.mark.parametrize(
    "bad",
    [
        _ride("2021-11-08 01:20:00.5000", "", ("s1", "s2")),
        _ride("2021-11-08 01:20:00.5000", "yesterday", ("s1", "s2")),
        _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:30:00.5000", ("NULL", "s2")),
        _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:30:00.5000", ("s1", " s2")),
        _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:30:00.5000", ("s1", "s2"), bike="8 "),
        _ride("2099-12-31 23:20:00.5000", "2099-12-31 23:30:00.5000", ("s1", "s2")),
        RIDES[0].replace("40.7", "140.7"),
        RIDES[0].replace("40.7", "north"),
        RIDES[0].replace("40.7", "nan"),
        "\n",
        "a,b\n",
        '60,"2021-11-08 01:20:00.5000",2021-11-08 01:30:00.5000,s1,A,1,1,s2,B,1,1,7,Subscriber,,0\n',
    ],
)
def test_one_odd_trip_is_seen(con, tmp_path, monkeypatch, ways, bad) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "trips.csv"
    path.write_text(OLD + "\n" + "".join(RIDES) + bad + RIDES[3])

    def read():  # type: ignore[no-untyped-def]
        return read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)

    one, two, three = _three_ways(con, monkeypatch, read, TRIPS)
    assert "blocks" not in ways
    assert one == two == three


@pytest.mark.parametrize(
    ("bad", "same"),
    [
        ("1604188941,6,0,s2,1,1,9\n", True),
        ("1604188941,6,true,s2,1,1,9\n", False),
        ("1604188941,6,2,s2,1,1,9\n", False),
        ("1604188941,6.5,1,s2,1,1,9\n", False),
        ("1604188941,-6,1,s2,1,1,9\n", False),
        ("1604188941,6,1,s2,1,1,\n", False),
        ("1604188941,6,1,,1,1,9\n", False),
        ("1604188941,6,1,None,1,1,9\n", False),
        ("160418894,6,1,s2,1,1,9\n", False),
        ("1604188941000,6,1,s2,1,1,9\n", False),
    ],
)
def test_records_by_three_ways(con, tmp_path, monkeypatch, ways, bad, same) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "status.csv"
    path.write_text(STATUS + "1604188880,5,1,s1,1,1,9\n1604188940,12,0,00042,1,0,0\n" * 2 + bad)
    one, two, three = _three_ways(con, monkeypatch, lambda: read_status(con, path), RECORDS)
    assert (ways[0] == "blocks") is same
    assert one == two == three


def test_the_last_record_of_a_moment_counts_however_far_it_is_from_the_first(con, tmp_path, ways) -> None:  # type: ignore[no-untyped-def]
    lines = [f"{1604188880 + n},5,1,s{n % 3},1,1,9\n" for n in range(250_000)]
    for number, available in ((7, 1), (120_000, 2), (240_000, 3)):
        lines[number] = f"1604188000,{available},1,s9,1,1,9\n"
    path = tmp_path / "status.csv"
    path.write_text(STATUS + "".join(lines))
    assert read_status(con, path).duplicates == 2
    assert ways == ["blocks"]
    assert con.execute("SELECT available FROM status WHERE place = 's9'").fetchall() == [(3,)]
