"""Bad input: every line is accounted for, or one clear line says what is wrong."""

import gzip
import stat
import tracemalloc
import zipfile
from pathlib import Path

import duckdb
import pytest
from source_examples import EXAMPLES, NEW, NEW_YORK, OLD, OLD_ROWS

from unmet.mobility import read_stations, read_status, read_trips

GOOD = "{n:016d},classic,2021-02-03 12:00:00,2021-02-03 12:{m:02d}:00,A,1,B,2,40.7,-74.0,40.7,-74.0,member"


def many(count: int) -> list[str]:
    return [NEW, *(GOOD.format(n=n, m=n % 59 + 1) for n in range(count))]


def write(folder: Path, content: str | bytes | list[str], name: str = "trips.csv") -> Path:
    path = folder / name
    if isinstance(content, list):
        content = "\n".join(content) + "\n"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def adds_up(con: duckdb.DuckDBPyConnection, path: Path, lines: int, rejected: dict[int, str]) -> None:
    report = read_trips(con, path, zone=NEW_YORK, max_reject_share=1)
    assert report.lines == lines
    assert report.lines == report.headers + report.accepted + report.rejected
    assert con.execute("SELECT count(*) FROM trips").fetchone() == (report.rides,)
    found = dict(con.execute("SELECT line, reason FROM rejects ORDER BY line").fetchall())
    assert found.keys() == rejected.keys()
    for line, words in rejected.items():
        assert words in found[line]


def test_one_unquoted_comma_in_two_thousand_rows(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    lines = many(2000)
    lines[1000] = lines[1000].replace(",A,", ",A, really,")
    adds_up(con, write(tmp_path, lines), 2001, {1001: "too many cells"})
    assert con.execute("SELECT text FROM rejects").fetchone() == (lines[1000],)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda line: line.replace(",B,", ',"B,'), "quote"),
        (lambda line: line.replace("2021-02-03 12:00:00", "yesterday"), "start time not understood"),
        (lambda line: line.replace("2021-02-03 12:00:00", ""), "no start time"),
        (lambda line: line.replace("2021-02-03 12:00:00", "0201-02-03 12:00:00"), "outside 1990"),
        (lambda line: line.replace("2021-02-03 12:00:00", "infinity"), "outside 1990"),
        (lambda line: line.replace(",40.7,-74.0,40.7", ",north,-74.0,40.7"), "start_lat is not a number"),
        (lambda line: line.replace(",40.7,-74.0,40.7", ",40.7,-274.0,40.7"), "start_lng outside"),
        (lambda line: line.replace(",40.7,-74.0,40.7", ",inf,-74.0,40.7"), "start_lat outside"),
        (lambda line: line[:30], "too few cells"),
        (lambda line: "", "blank line"),
        (lambda line: line.replace(",A,", ",A\0,"), "NUL byte"),
        (lambda line: line.replace(",A,", ",A\rZ,"), "carriage return"),
        (lambda line: line.replace(",A,", "," + "x" * 3_000_000 + ","), "longer than"),
    ],
)
def test_one_bad_line(con: duckdb.DuckDBPyConnection, tmp_path: Path, change, words: str) -> None:
    lines = many(300)
    lines[200] = change(lines[200])
    adds_up(con, write(tmp_path, lines), 301, {201: words})


def test_a_line_of_any_length_is_not_held(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    good = OLD_ROWS.strip().splitlines()[0]
    late = good.replace("2019-01-01 03:09", "someday")
    path.write_text("\n".join([OLD, good, "a," * 15_000_000, late, good]) + "\n")
    tracemalloc.start()
    try:
        report = read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (report.accepted, report.rejected) == (2, 2)
    assert peak < 15_000_000  # half of the line


def test_an_open_quote_on_the_last_line(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    lines = many(300)
    lines[300] = lines[300].replace(",B,", ',"B,')
    adds_up(con, write(tmp_path, "\n".join(lines)), 301, {301: "quote"})


def test_latin_1_is_read_and_noted(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    lines = many(50)
    text = "\n".join(lines).replace(",A,1,", ",Plaça,Plaça,", 1).encode("latin-1")
    report = read_trips(con, write(tmp_path, text), zone=NEW_YORK)
    assert report.rides == 50
    assert con.execute("SELECT start_place FROM trips WHERE line = 2").fetchone() == ("Plaça",)
    assert any("Latin-1" in note for note in report.notes)


def test_ids_stay_text(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    read_trips(con, write(tmp_path, OLD + OLD_ROWS), zone=NEW_YORK)
    assert con.execute("SELECT start_place FROM trips ORDER BY line").fetchall()[1] == ("00042",)


def test_too_many_rejects_stop_with_reasons_and_leave_tables_alone(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    read_trips(con, write(tmp_path, many(10)), zone=NEW_YORK)
    lines = many(100)
    lines[3] = lines[3].replace("2021-02-03 12:00:00", "never")
    lines[4] = lines[4][:20]
    with pytest.raises(ValueError, match=r"2 of 100 rows were rejected.*1 × start time.*1 × too few cells"):
        read_trips(con, write(tmp_path, lines), zone=NEW_YORK)
    assert con.execute("SELECT count(*) FROM trips").fetchone() == (10,)
    assert con.execute("SELECT count(*) FROM rejects").fetchone() == (0,)
    tables = {row[0] for row in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert not {name for name in tables if name.startswith("new_")}


def test_blank_lines_are_counted_but_stop_nothing(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    report = read_trips(con, write(tmp_path, "\n".join(many(5)) + "\n\n\n"), zone=NEW_YORK)
    assert (report.lines, report.rides, report.rejected) == (8, 5, 2)


def test_not_a_trip_file_says_what_was_looked_for(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = write(tmp_path, "date,max_temp,min_temp\n2014-01-01,3,4\n", "weather.csv")
    with pytest.raises(ValueError, match=r"weather\.csv is not a known trip file.*'max_temp'.*columns="):
        read_trips(con, path, zone=NEW_YORK)
    status = write(tmp_path, "station_id,last_reported,num_bikes_available\n1,1604188880,3\n", "status.csv")
    with pytest.raises(ValueError, match=r"status\.csv holds status .*, not trips"):
        read_trips(con, status, zone=NEW_YORK)


@pytest.mark.parametrize("reader", [read_trips, read_status, read_stations])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.csv", None, "no such file or folder"),
        ("empty.csv", b"", "is empty"),
        ("folder", "folder", "folder without files"),
        ("broken.zip", b"PK\3\4nonsense", "cannot be unpacked"),
        ("broken.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage", "damaged"),
        ("broken.parquet", b"PAR1 and nothing else", "damaged Parquet"),
        ("broken.json", b'{"data": {"stations": [', "is not JSON"),
        ("deep.json", b"[" * 200_000, "nested too deeply"),
        ("number.json", b"[1, 2]", "not a known GBFS or MDS feed"),
        ("binary.bin", bytes(range(128, 256)) * 10, "is not a known "),
        ("odd.csv", b"\xff\xfeodd", "UTF-16"),
    ],
)
def test_one_clear_line(
    con: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    reader,
    name: str,
    content: bytes | str | None,
    message: str,
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises((ValueError, OSError), match=message) as caught:
        reader(con, path)
    assert "\n" not in str(caught.value)
    assert name.split(".")[0] in str(caught.value)


def zipped(path: Path, name: str, content: bytes, link: bool = False) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        if link:
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, content)
    return path


@pytest.mark.parametrize("name", ["../evil.csv", "/etc/evil.csv", "a/../../evil.csv", "C:/evil.csv"])
def test_members_that_point_outside_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    with pytest.raises(ValueError, match="points outside the archive"):
        read_trips(con, zipped(folder / "a.zip", name, (OLD + OLD_ROWS).encode()), zone=NEW_YORK)
    assert not list(tmp_path.rglob("evil.csv"))


def test_links_are_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a link"):
        read_trips(con, zipped(tmp_path / "a.zip", "trips.csv", b"/etc/passwd", link=True), zone=NEW_YORK)


@pytest.mark.parametrize("packing", ["zip", "gzip"])
def test_bombs_are_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path, packing: str) -> None:
    content = OLD.encode() + b"\n" + b"0" * (40 * 2**20)
    path = tmp_path / "bomb"
    if packing == "zip":
        zipped(path, "trips.csv", content)
    else:
        path.write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match="compression bomb"):
        read_trips(con, path, zone=NEW_YORK)


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_a_source_beyond_the_cap_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, packing: str
) -> None:
    text = "\n".join(many(200)).encode()
    path = write(tmp_path, text if packing == "plain" else gzip.compress(text))
    with pytest.raises(ValueError, match="max_bytes"):
        read_trips(con, path, zone=NEW_YORK, max_bytes=1000)


def test_names_that_look_like_patterns_are_names(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    write(tmp_path, many(3), "a1.csv")
    path = write(tmp_path, EXAMPLES["munich"].text, "a[0-9]*'.csv")
    assert read_trips(con, path, zone="Europe/Berlin").rides == 1


def test_a_closed_spill_folder_is_left_clean(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    read_trips(con, write(tmp_path, gzip.compress((OLD + OLD_ROWS).encode())), zone=NEW_YORK)
    assert not [path for path in (tmp_path / "spill").rglob("*") if "reading" in path.name]
