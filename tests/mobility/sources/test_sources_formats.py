"""Every layout is recognised by its header and read as its hand-written rows mean."""

import gzip
import zipfile
from pathlib import Path

import duckdb
import pytest
from source_examples import EXAMPLES, NEW_YORK, OLD, OLD_MEANS, OLD_ROWS

from unmet.mobility import read_trips

MEANING = (
    "SELECT ride_id, vehicle_id, started_at::VARCHAR, ended_at::VARCHAR, start_place, end_place "
    "FROM trips ORDER BY line"
)


def write(folder: Path, text: str | bytes, name: str = "anything.dat") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_layout_is_read(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    example = EXAMPLES[name]
    times = "utc" if example.zone is None else "local"
    report = read_trips(con, write(tmp_path, example.text), zone=example.zone, times=times)
    assert con.execute(MEANING).fetchall() == list(example.expected)
    assert report.formats == {example.format: 1}
    assert (report.lines, report.headers, report.accepted, report.rejected) == (
        len(example.expected) + 1,
        1,
        len(example.expected),
        0,
    )


def test_coordinates_are_kept(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    read_trips(con, write(tmp_path, EXAMPLES["munich"].text), zone="Europe/Berlin")
    found = con.execute("SELECT start_lat, start_lng, end_lat, end_lng FROM trips").fetchall()
    assert found == [(48.120915, 11.554322, 48.100451, 11.545499)]


def packed(folder: Path, packing: str) -> Path:
    text = (OLD + OLD_ROWS).encode()
    path = folder / "no.name"
    if packing == "gzip":
        path.write_bytes(gzip.compress(text))
    elif packing == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("deep/trips.csv", text)
            archive.writestr("__MACOSX/deep/._trips.csv", b"\0\5\26\7")
            archive.writestr("readme.pdf", b"%PDF")
    elif packing == "parquet":
        with duckdb.connect() as other:
            other.execute("SET TimeZone = 'UTC'")
            source = folder / "source.csv"
            source.write_bytes(text)
            other.execute(f"COPY (FROM read_csv('{source}', all_varchar=true)) TO '{path}' (FORMAT parquet)")
    elif packing == "bom":
        path.write_bytes(b"\xef\xbb\xbf" + text)
    elif packing == "utf-16":
        path.write_bytes(text.decode().encode("utf-16"))
    elif packing == "semicolons":
        rows = (OLD + OLD_ROWS).replace('"Essex, Rail"', "Essex").replace(",", ";")
        path.write_bytes(rows.encode())
    elif packing == "windows":
        path.write_bytes(text.replace(b"\n", b"\r\n"))
    elif packing == "old mac":
        path.write_bytes(text.replace(b"\n", b"\r"))
    elif packing == "no last newline":
        path.write_bytes(text.rstrip(b"\n"))
    return path


@pytest.mark.parametrize(
    "packing",
    ["gzip", "zip", "parquet", "bom", "utf-16", "semicolons", "windows", "old mac", "no last newline"],
)
def test_every_packing_gives_the_same(con: duckdb.DuckDBPyConnection, tmp_path: Path, packing: str) -> None:
    report = read_trips(con, packed(tmp_path, packing), zone=NEW_YORK)
    assert con.execute(MEANING).fetchall() == list(OLD_MEANS)
    assert report.lines == report.headers + report.accepted + report.rejected
    assert report.rejected == 0
    if packing == "zip":
        assert any("__MACOSX" in note for note in report.notes)
        assert any("readme.pdf" in note for note in report.notes)


def test_parquet_with_real_types(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    with duckdb.connect() as other:
        other.execute("SET TimeZone = 'UTC'")
        other.execute(
            "COPY (SELECT 'a' AS ride_id, TIMESTAMP '2021-02-03 23:11:28' AS started_at, "
            "TIMESTAMPTZ '2021-02-04 05:00:00+00' AS ended_at, 40.5 AS start_lat, -74.0 AS start_lng) "
            f"TO '{path}' (FORMAT parquet)"
        )
    report = read_trips(con, path, zone=NEW_YORK)
    assert con.execute(MEANING).fetchall() == [
        ("a", None, "2021-02-04 04:11:28", "2021-02-04 05:00:00", None, None)
    ]
    assert (report.lines, report.headers) == (1, 0)


def test_folder_with_other_files(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    write(folder / "deep", OLD + OLD_ROWS, "a.csv")
    write(folder, EXAMPLES["lyft_new"].text, "b.csv")
    write(folder, "date,max_temp\n2014-01-01,5\n", "weather.csv")
    write(folder, b"", "nothing.csv")
    report = read_trips(con, folder, zone=NEW_YORK)
    assert report.rides == 4
    assert sorted(report.formats) == ["Citi Bike old", "Lyft new"]
    assert any("weather.csv" in note for note in report.notes)
    assert any("nothing.csv" in note for note in report.notes)


def test_own_columns(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = write(tmp_path, "When,From where,Car\n2019-07-01T12:00:00+02:00,A,x\n2019-07-01T12:05:00Z,B,x\n")
    report = read_trips(con, path, columns={"start": "when", "station": "From where", "vehicle": "Car"})
    assert report.formats == {"your columns": 1}
    assert con.execute(MEANING).fetchall() == [
        (None, "x", "2019-07-01 10:00:00", None, "A", None),
        (None, "x", "2019-07-01 12:05:00", None, "B", None),
    ]


def test_day_first_is_seen_where_a_file_proves_it(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = write(tmp_path, "when,car\n01/02/2019 10:00,x\n25/02/2019 10:00,x\n")
    read_trips(con, path, columns={"start": "when", "vehicle": "car"}, times="utc")
    assert [row[2] for row in con.execute(MEANING).fetchall()] == [
        "2019-02-01 10:00:00",
        "2019-02-25 10:00:00",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": {"begin": "x"}}, "columns has unknown field 'begin'"),
        ({"columns": {"station": "x"}}, "columns must name the column of field 'start'"),
        ({"zone": "Mars/Base"}, "zone must be a time zone"),
        ({"times": "gmt"}, "times must be 'local' or 'utc'"),
        ({"max_reject_share": 2}, "max_reject_share"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"keep": {"landmark": "x"}}, "keep: 'landmark' is neither"),
        ({"zone": None}, "has local times: give their zone"),
    ],
)
def test_arguments_are_checked(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, arguments: dict, message: str
) -> None:
    path = write(tmp_path, OLD + OLD_ROWS)
    with pytest.raises(ValueError, match=message):
        read_trips(con, path, **{"zone": NEW_YORK, **arguments})


def test_keep_by_a_column_of_the_file(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    report = read_trips(con, write(tmp_path, OLD + OLD_ROWS), zone=NEW_YORK, keep={"usertype": ["Customer"]})
    assert (report.rides, report.left_out, report.accepted) == (1, 1, 2)
    assert con.execute("SELECT vehicle_id FROM trips").fetchall() == [("29213",)]
