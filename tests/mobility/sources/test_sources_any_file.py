"""Whatever people have: read, or refused in one line with a remedy that works."""

import bz2
import gzip
import io
import json
import lzma
import shlex
import zipfile
from pathlib import Path

import duckdb
import pytest
from backports import zstd
from source_examples import EXAMPLES, NEW_YORK, OLD, OLD_MEANS, OLD_ROWS, STATUS

from unmet.cli import main
from unmet.mobility import read_stations, read_status, read_trips
from unmet.mobility.sources import format_page, format_rows

TEXT = (OLD + OLD_ROWS).encode()
MEANING = (
    "SELECT ride_id, vehicle_id, started_at::VARCHAR, ended_at::VARCHAR, start_place, end_place "
    "FROM trips ORDER BY line"
)


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def save(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_dot_", "."), content)
    return buffer.getvalue()


def json_lines(text: str) -> bytes:
    header, *rows = [
        line.replace('"Essex, Rail"', "Essex").replace('"', "").split(",")
        for line in text.split("\n")
        if line
    ]
    return "\n".join(json.dumps(dict(zip(header, row))) for row in rows).encode()


PACKED = {
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zstd": zstd.compress(TEXT),
    "two zstd frames": zstd.compress(TEXT[:100]) + zstd.compress(TEXT[100:]),
    "gzip in gzip": gzip.compress(gzip.compress(TEXT)),
    "zip in zip": zipped(inner_dot_zip=zipped(a_dot_csv=TEXT)),
    "zip in zip in zip": zipped(a_dot_zip=zipped(b_dot_zip=zipped(c_dot_csv=TEXT))),
    "bz2 in zip": zipped(a_dot_csv_dot_bz2=bz2.compress(TEXT)),
    "json lines": json_lines(OLD + OLD_ROWS),
    "json list": b"[" + b",".join(json_lines(OLD + OLD_ROWS).split(b"\n")) + b"]",
    "records in a document": b'{"count": 2, "results": ['
    + b",".join(json_lines(OLD + OLD_ROWS).split(b"\n"))
    + b"]}",
}


@pytest.mark.parametrize("packing", PACKED)
def test_every_packing_gives_the_same(con: duckdb.DuckDBPyConnection, tmp_path: Path, packing: str) -> None:
    report = read_trips(con, save(tmp_path, PACKED[packing]), zone=NEW_YORK)
    assert con.execute(MEANING).fetchall() == list(OLD_MEANS)
    assert report.lines == report.headers + report.accepted
    assert report.formats == {"Citi Bike old": 1}


BOMB = b"0" * (40 * 2**20)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.png", b"\x89PNG\r\n\x1a\n\0\0\0", "picture"),
        ("x.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "Excel"),
        ("x.xlsx", zipped(**{"xl/workbook_dot_xml": b"<x/>"}), "Excel"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c\0\4", "unpack"),
        ("x.bin", bytes(range(256)) * 4, "no text"),
        ("x.bz2", bz2.compress(TEXT)[:40], "cannot be unpacked"),
        ("x.xz", lzma.compress(TEXT)[:60], "cannot be unpacked"),
        ("x.zst", zstd.compress(TEXT)[:60] + b"\0" * 30, "cannot be unpacked"),
        ("bomb.bz2", bz2.compress(BOMB), "compression bomb"),
        ("bomb.xz", lzma.compress(BOMB), "compression bomb"),
        ("bomb.zst", zstd.compress(BOMB), "compression bomb"),
        ("bomb.zip", zipped(a_dot_zip=zipped(a_dot_csv=BOMB)), "compression bomb"),
        ("deep.zip", zipped(a_dot_zip=zipped(a_dot_zip=zipped(a_dot_zip=zipped(a_dot_csv=TEXT)))), "unpack"),
        ("events.csv", (STATUS + "1604188880,5,1,s1,1,1,9\n").encode(), "give it with --status"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture, name: str, content: bytes, words: str
) -> None:
    path = save(tmp_path, content, name)
    assert call("panel", path, "--zone", NEW_YORK, "-o", tmp_path / "panel.parquet") == 1
    message = capfd.readouterr().err
    assert words in message
    assert message.count("\n") == 1
    assert all(letter.isprintable() for letter in message.rstrip("\n"))
    assert "\\x" not in message


LYFT = EXAMPLES["lyft_new"].text


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("start=started,end=ended_at", "no column 'started'; did you mean 'started_at'?"),
        ("start=started_at,ended=ended_at", "did you mean 'end'?"),
        ("start=started_at,start=ended_at", "twice"),
        ("start=started_at,end=started_at", "'started_at' to both 'start' and 'end'"),
        ("end=ended_at", "field 'start'"),
        ("started_at", "field=column"),
    ],
)
def test_columns_that_are_wrong(
    tmp_path: Path, capfd: pytest.CaptureFixture, columns: str, words: str
) -> None:
    for name in ("known.csv", "unknown.csv"):
        text = LYFT.replace("ride_id", "number") if name == "unknown.csv" else LYFT
        path = save(tmp_path, text, name)
        options = ["--zone", NEW_YORK, "--columns", columns]
        assert call("panel", path, *options, "-o", tmp_path / "panel.parquet") == 1
        message = capfd.readouterr().err
        assert words in message
        assert message.count("\n") == 1
        if "did you mean 'started_at'" in words:
            assert "'ended_at', 'start_station_name'" in message


def test_a_column_that_occurs_twice_in_the_file(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    path = save(tmp_path, "when,from,from\n2021-02-03 23:11:28,a,b\n")
    with pytest.raises(ValueError, match="'from' occurs 2 times"):
        read_trips(con, path, zone=NEW_YORK, columns={"start": "when", "station": "from"})


def test_columns_with_commas_plus_signs_and_equal_signs(tmp_path: Path) -> None:
    text = '"when, local",a+b,x=y\n' + "".join(
        f"2021-02-{1 + n % 27:02d} 10:00:00,{n % 3},v{n}\n" for n in range(60)
    )
    path = save(tmp_path, text)
    columns = "start=when, local,station=a+b,vehicle=x=y"
    assert (
        call("panel", path, "--zone", NEW_YORK, "--columns", columns, "-q", "-o", tmp_path / "p.parquet") == 0
    )


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("day,hour,car", "03.02.2021,23:11:28,x", {"start": "day+hour"}),
        ("when,car", "1612411888,x", {"start": "when"}),
        ("when,car", "1612411888000,x", {"start": "when"}),
        ("when,took,car", "2021-02-03 23:11:28,7.5,x", {"start": "when", "minutes": "took"}),
        ("when,took,car", "2021-02-03 23:11:28,0:07:30,x", {"start": "when", "duration": "took"}),
        ("когда,машина", "2021-02-03 23:11:28,x", {"start": "когда"}),
        ("時刻,車", "2021-02-03 23:11:28,x", {"start": "時刻"}),
        ("कब,गाड़ी", "2021-02-03 23:11:28,x", {"start": "कब"}),
    ],
)
def test_times_and_durations_in_any_form(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, header: str, row: str, columns: dict[str, str]
) -> None:
    read_trips(con, save(tmp_path, f"{header}\n{row}\n"), zone=NEW_YORK, columns=columns)
    [(start, end)] = con.execute("SELECT started_at::VARCHAR, ended_at::VARCHAR FROM trips").fetchall()
    assert start == "2021-02-04 04:11:28"
    assert end == ("2021-02-04 04:18:58" if "took" in header else None)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp949", "시청역 앞 대여소"),
        ("cp932", "さくら公園の駅まえポート"),
        ("euc_jp", "さくら公園の駅まえポート"),
        ("gb18030", "人民广场地铁站东门口"),
        ("cp950", "市政府捷運站出口前廣場"),
        ("cp1251", "Площадь Революции у входа"),
        ("latin-1", "Plaça de Catalunya"),
        ("utf-16-le", "Plaça de Catalunya"),
    ],
)
def test_names_in_any_encoding(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, encoding: str, name: str
) -> None:
    rows = "".join(f"{n},2021-02-03 12:{n:02d}:00,2021-02-03 13:00:00,{name},{name}\n" for n in range(20))
    text = "ride_id,started_at,ended_at,start_station_name,end_station_name\n" + rows
    report = read_trips(con, save(tmp_path, text.encode(encoding)), zone=NEW_YORK)
    assert con.execute("SELECT DISTINCT start_place FROM trips").fetchall() == [(name,)]
    assert (report.lines, report.rides) == (21, 20)
    read_trips(con, save(tmp_path, text.encode(encoding)), zone=NEW_YORK, encoding=encoding)
    assert con.execute("SELECT DISTINCT start_place FROM trips").fetchall() == [(name,)]


def test_snapshots_one_per_line(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    def snapshot(at: int, bikes: int) -> str:
        station = {
            "station_id": "a",
            "num_bikes_available": bikes,
            "num_docks_available": 3,
            "last_reported": at,
        }
        return json.dumps({"last_updated": at, "data": {"stations": [station]}})

    text = "\n".join([snapshot(1604188800, 5), "{broken", snapshot(1604188860, 4), ""])
    report = read_status(con, save(tmp_path, text), max_reject_share=1.0)
    assert (report.lines, report.accepted, report.rejected) == (3, 2, 1)
    assert con.execute('SELECT available FROM status ORDER BY "at"').fetchall() == [(5,), (4,)]


def test_broken_json_lines_are_rejected_by_line(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    first, second = json_lines(OLD + OLD_ROWS).split(b"\n")
    content = (
        first
        + b"\n"
        + second
        + b"\n{oops\n\n[1, 2]\n"
        + first.replace(b"2019-01-01 03:09", b"someday")
        + b"\n"
    )
    report = read_trips(con, save(tmp_path, content), zone=NEW_YORK, max_reject_share=1.0)
    assert (report.lines, report.headers, report.accepted, report.rejected) == (6, 0, 2, 4)
    assert con.execute("SELECT line FROM rejects ORDER BY 1").fetchall() == [(3,), (4,), (5,), (6,)]


@pytest.mark.parametrize("row", format_rows(), ids=lambda row: row.name)
def test_the_table_of_formats_holds_for_the_readers(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, row, capsys: pytest.CaptureFixture
) -> None:
    assert row.header in format_page()
    assert call("formats") == 0
    printed = capsys.readouterr().out
    assert f"{row.name} ({row.kind})" in printed
    assert row.header in printed
    if "[]" in row.header:  # a feed
        return
    # The header alone: recognised by name as a file without rows, and refused as any other kind.
    readers = {"trips": read_trips, "status": read_status, "stations": read_stations}
    path = save(tmp_path, row.header + "\n")
    assert readers.pop(row.kind)(con, path).formats == {row.name: 1}
    for read in readers.values():
        with pytest.raises(ValueError, match=r"holds|not a known"):
            read(con, path)


def test_the_page_of_formats_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "formats.md"
    assert page.read_text(encoding="utf-8") == format_page()


AT = 1604188800
POSITION = {"lat": 1.0, "lon": 2.0}
CHANGE = {"device_id": "b", "event_time": AT * 1000, "vehicle_state": "available"}
STATION = {"station_id": "a", "num_bikes_available": 1, "last_reported": AT}
RIDE = {"trip_id": "a", "device_id": "b", "start_time": AT * 1000}
FEEDS = {
    "GBFS 1 to 3 station_status": ("status", {"data": {"stations": [STATION]}}),
    "GBFS 1 to 3 free_bike_status, vehicle_status": (
        "status",
        {"last_updated": AT, "data": {"bikes": [{"bike_id": "a", **POSITION}]}},
    ),
    "GBFS 1 to 3 station_information": (
        "stations",
        {"data": {"stations": [{"station_id": "a", **POSITION}]}},
    ),
    "MDS 1.2 and 2.0 trips": ("trips", {"version": "1.2.0", "data": {"trips": [RIDE]}}),
    "MDS 1.2 and 2.0 status_changes, events": (
        "status",
        {"version": "1.2.0", "data": {"status_changes": [CHANGE]}},
    ),
}


def test_every_feed_of_the_table_is_read(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    readers = {"trips": read_trips, "status": read_status, "stations": read_stations}
    listed = {row.name: row.kind for row in format_rows() if "[]" in row.header}
    assert listed == {name: kind for name, (kind, _) in FEEDS.items()}
    for kind, document in FEEDS.values():
        assert readers[kind](con, save(tmp_path, json.dumps(document))).accepted == 1


def test_a_line_that_works_for_a_file_with_nothing_but_letters_for_a_header(
    tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    rows = "".join(
        f"2021-02-{1 + n % 27:02d} 10:{n % 50:02d}:00,{n % 4},{n % 3},2021-02-{1 + n % 27:02d} 11:00:00\n"
        for n in range(90)
    )
    path = save(tmp_path, "a,b,c,d\n" + rows)
    assert call("panel", path, "-o", tmp_path / "p.parquet", "-q") == 1
    _, _, line = capfd.readouterr().err.strip().partition("Try: unmet ")
    assert "start=a,end=d,start_place=b,end_place=c" in line
    assert call(*shlex.split(line)) == 0


def test_minutes_with_a_decimal_comma_are_guessed_and_read(tmp_path, capsys):
    rows = "".join(f"2024-03-01 {6 + i // 6:02}:{i % 6}0:00\t{3 + i},5\tZoo\tDom\n" for i in range(40))
    path = save(tmp_path, ("départ\tdurée (min)\tstation de départ\tstation fin\n" + rows), "rides.tsv")
    zone = ("--zone", "Europe/Berlin", "-q", "-o", tmp_path / "panel.parquet")
    assert call("panel", path, *zone) == 1
    assert "minutes=durée (min)" in capsys.readouterr().err
    con = duckdb.connect()
    columns = {"start": "départ", "duration": "durée (min)", "start_place": "station de départ"}
    read_trips(con, path, columns=columns, zone="Europe/Berlin")
    took = con.execute("SELECT epoch(ended_at - started_at) FROM trips ORDER BY line").fetchall()
    assert took == [(60 * (3.5 + i),) for i in range(40)]


def test_a_file_without_a_header_is_told(tmp_path, capsys):
    path = save(tmp_path, "1709273387785,1709275247785,Zoo,Dom\n" * 3, "rides.csv")
    assert call("panel", path, "--zone", "Europe/Berlin", "-o", tmp_path / "panel.parquet") == 1
    assert "That is a record: put a line with the names of the columns before it" in capsys.readouterr().err
