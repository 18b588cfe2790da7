"""A regular file is read with types, any other as text or line by line; the rows are the same."""

from datetime import datetime, timedelta

import duckdb
import pytest
from source_examples import EXAMPLES, NEW_YORK, OLD, STATUS

from unmet.mobility import connect, read_stations, read_status, read_trips
from unmet.mobility.sources import _csv

TRIPS = "SELECT * FROM trips ORDER BY source, line"
RECORDS = 'SELECT * FROM status ORDER BY "at", place'


def _three_ways(con, monkeypatch, path, read, table):
    """Read with types, as text, and line by line (a NUL byte in one more line calls for a repair)."""
    results = []
    for way in ("types", "text", "repair"):
        if way == "text":
            monkeypatch.setattr(_csv, "_types", lambda layout, samples: {})
        if way == "repair":
            path.write_bytes(path.read_bytes().rstrip(b"\n") + b"\n\0\n")
        report = read()
        rejected = report.rejected - (way == "repair")
        assert any("read line by line" in note for note in report.notes) or way != "repair"
        results.append((con.execute(table).fetchall(), rejected, report.duplicates))
    assert results[0] == results[1] == results[2]
    return results[0]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_three_ways_agree_on_every_format(con, tmp_path, monkeypatch, name):
    path = tmp_path / "example.csv"
    path.write_text(EXAMPLES[name].text)
    found, rejected, _ = _three_ways(
        con,
        monkeypatch,
        path,
        lambda: read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0),
        TRIPS,
    )
    assert (len(found), rejected) == (len(EXAMPLES[name].expected), 0)


def _ride(start: str, end: str, places: tuple[str, str], seconds: int = 60, bike: str = "7") -> str:
    one, two = (f"{place},{place} St,40.7{place[-1]},-74.{place[-1]}" for place in places)
    return f"{seconds},{start},{end},{one},{two},{bike},Subscriber,,0\n"


RIDES = [
    _ride("2021-11-07 00:59:00.5000", "2021-11-07 01:30:00.5000", ("00042", "s1")),
    _ride("2021-11-07 01:40:00.5000", "2021-11-07 01:10:00.5000", ("s1", "s2"), 1800),  # the doubled hour
    _ride("2021-11-07 01:20:00.5000", "2021-11-07 01:30:00.5000", ("s2", "s1"), 600, ""),
    _ride("2021-11-08 01:20:00.5000", "2021-11-10 01:30:00.5000", ("s2", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:20:00.5000", ("Depot 3", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:20:00.5000", ("s2", "s3")),
    _ride("2021-11-08 01:20:00.5000", "2021-11-08 01:10:00.5000", ("é3", "s3")),
    "60,2021-11-09 01:20:00.5000,2021-11-09 01:21:00.5000,,,,,s1,,40.7,-74.1,7,Subscriber,,0\n",
]


def test_rides_of_every_flag(con, tmp_path, monkeypatch):
    path, stations = tmp_path / "trips.csv", tmp_path / "stations.csv"
    path.write_text(OLD + "\n" + "".join(RIDES * 3))
    stations.write_text("station_id,name,lat,lon,capacity,short_name\nhub,Hub,40.7,-74.0,20,s2\n")
    read_stations(con, stations)

    def read():
        return read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)

    rides, _, _ = _three_ways(con, monkeypatch, path, read, TRIPS)
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
    ("bad", "rejected"),
    [
        (_ride("2021-11-08 01:20:00.5000", "", ("s1", "s2")), 0),
        (_ride("2021-11-08 01:20:00.5000", "yesterday", ("s1", "s2")), 1),
        (_ride("2021-11-08T01:20:00Z", "2021-11-08 01:30:00.5000", ("s1", "s2")), 0),
        (_ride("2099-12-31 23:20:00.5000", "2099-12-31 23:30:00.5000", ("s1", "s2")), 1),
        (RIDES[0].replace("40.7", "140.7"), 1),
        (RIDES[0].replace("40.7", "north"), 1),
        (RIDES[3].replace("s2 St,40.72", "s2 St,nan").replace("-08 01:20", "-08 01:21"), 0),
        ("\n", 1),
        ("a,b\n", 1),
        ('60,"2021-11-08 01:20:00.5000",2021-11-08 01:30:00.5000,s1,A,1,1,s2,B,1,1,7,Subscriber,,0\n', 0),
    ],
)
def test_one_odd_trip_is_seen(con, tmp_path, monkeypatch, bad, rejected):
    path = tmp_path / "trips.csv"
    path.write_text(OLD + "\n" + "".join(RIDES) + bad + RIDES[3])

    def read():
        return read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)

    rides, found, _ = _three_ways(con, monkeypatch, path, read, TRIPS)
    assert found == rejected
    assert (2 + len(RIDES) in [row[-1] for row in rides]) == (not rejected)


@pytest.mark.parametrize(
    ("places", "bike", "means"),
    [
        (("NULL,Grove St,40.71", "s2,B,40.72"), "8 ", ("8", "Grove St", "s2")),
        ((" s1,A,40.71", "NA,,40.72"), "None", (None, "s1", None)),
        (("00042,A, 40.71", "  ,B ,"), "007", ("007", "00042", "B")),
    ],
)
def test_blanks_and_words_for_nothing(con, tmp_path, monkeypatch, places, bike, means):
    path = tmp_path / "trips.csv"
    body = ",-74.0,".join(places)
    path.write_text(
        OLD
        + "\n"
        + "".join(RIDES)
        + f"60,2021-11-09 01:20:00.5,2021-11-09 01:30:00.5,{body},-74.0,{bike},S,,0\n"
    )

    def read():
        return read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)

    rides, rejected, _ = _three_ways(con, monkeypatch, path, read, TRIPS)
    assert rejected == 0
    assert (rides[-1][1], rides[-1][4], rides[-1][5]) == means


@pytest.mark.parametrize(
    ("bad", "rejected"),
    [
        ("1604188941,6,0,s2,1,1,9\n", 0),
        ("1604188941,6,true,s2,1,1,9\n", 0),
        ("1604188941,6,1.0,s2,1,1,9\n", 0),
        ("1604188941,6,2,s2,1,1,9\n", 1),
        ("1604188941,6.0,1,s2,1,1,9\n", 0),
        ("1604188941,6.5,1,s2,1,1,9\n", 1),
        ("1604188941,-6,1,s2,1,1,9\n", 1),
        ("1604188941,,1,s2,1,1,9\n", 1),
        ("1604188941,nan,1,s2,1,1,9\n", 1),
        ("1604188941,6,1,s2,1,1,\n", 0),
        ("1604188941,6,1,,1,1,9\n", 1),
        ("1604188941,6,1,None,1,1,9\n", 1),
        ("160418894,6,1,s2,1,1,9\n", 1),
        ("1604188941000,6,1,s2,1,1,9\n", 1),
    ],
)
def test_one_odd_record_is_seen(con, tmp_path, monkeypatch, bad, rejected):
    path = tmp_path / "status.csv"
    path.write_text(STATUS + "1604188880,5,1,s1,1,1,9\n1604188940,12,0,00042,1,0,0\n" * 2 + bad)

    def read():
        return read_status(con, path, max_reject_share=1.0)

    _, found, duplicates = _three_ways(con, monkeypatch, path, read, RECORDS)
    assert (found, duplicates) == (rejected, 2)


def test_lines_are_exact_however_many_threads_read(tmp_path):
    path, rides = tmp_path / "trips.csv", 600_000
    duckdb.connect().execute(
        f"COPY (SELECT 'r' || (i + 2) AS ride_id, TIMESTAMP '2021-01-01' + to_seconds(i) AS started_at, "
        f"TIMESTAMP '2021-01-01' + to_seconds(i + 60) AS ended_at, "
        f"repeat('x', i % 40 + 1) AS start_station_id, 40.7 AS start_lat FROM range({rides}) AS t(i)) "
        f"TO '{path}' (HEADER)"
    )
    con = connect(memory_limit="500MB", threads=4, spill=tmp_path)
    wrong = "SELECT count(*) FROM trips WHERE ride_id <> 'r' || line"
    for reject in (False, True):
        if reject:
            text = path.read_bytes().replace(b"2021-01-03 00:00:00,", b"one day,", 1)
            path.write_bytes(text)
        report = read_trips(con, path, times="utc")
        assert (report.rides, report.rejected) == (rides - reject, reject)
        assert con.execute(wrong).fetchone() == (0,)
        order = con.execute(
            "SELECT count(*) FROM (SELECT line - lag(line) OVER () AS d FROM trips) WHERE d < 1"
        )
        assert order.fetchone() == (0,)
    con.close()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_parquet_of_texts_means_what_the_text_means(con, tmp_path, name):
    text, same = tmp_path / "example.csv", tmp_path / "example.parquet"
    text.write_text(EXAMPLES[name].text)
    read_trips(con, text, zone=NEW_YORK)
    expected = con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY line").fetchall()
    duckdb.connect().execute(f"COPY (FROM read_csv('{text}', all_varchar=true, header=true)) TO '{same}'")
    read_trips(con, same, zone=NEW_YORK)
    assert con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY line").fetchall() == expected


TYPED = """SELECT 'r' || n AS ride_id, TIMESTAMP '2021-02-03 23:11:28' + to_seconds(n) AS started_at,
    TIMESTAMP '2021-02-03 23:31:28' AS ended_at, '00042' AS start_station_id, 'Grove' AS start_station_name,
    'JC2' AS end_station_id, 'Newport' AS end_station_name, 40.7::DOUBLE AS start_lat,
    -74.0::DOUBLE AS start_lng, 40.7::DOUBLE AS end_lat, -74.1::DOUBLE AS end_lng FROM range(3) AS t(n)"""


@pytest.mark.parametrize(
    ("change", "rejected"),
    [
        ("*", 0),
        ("* REPLACE (started_at::VARCHAR AS started_at)", 0),
        ("* REPLACE (start_lat::FLOAT AS start_lat)", 0),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN 140.7 ELSE 40.7 END::DOUBLE AS start_lat)", 1),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN 'nan'::DOUBLE ELSE 40.7 END AS start_lat)", 1),
        (
            "* REPLACE (CASE ride_id WHEN 'r1' THEN 'infinity' ELSE started_at END::TIMESTAMP AS started_at)",
            1,
        ),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN NULL ELSE started_at END AS started_at)", 1),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN ' 00042' ELSE '00042' END AS start_station_id)", 0),
    ],
)
def test_parquet_of_types(con, tmp_path, change, rejected):
    path = tmp_path / "trips.parquet"
    duckdb.connect().execute(f"COPY (SELECT {change} FROM ({TYPED})) TO '{path}'")
    report = read_trips(con, path, zone=NEW_YORK, max_reject_share=1.0)
    assert (report.accepted, report.rejected) == (3 - rejected, rejected)
    rows = con.execute("SELECT ride_id, started_at, start_place, line FROM trips ORDER BY line").fetchall()
    expected = [(f"r{n}", datetime(2021, 2, 4, 4, 11, 28 + n), "00042", n + 1) for n in range(3)]
    assert rows == [row for row in expected if not rejected or row[0] != "r1"]


def test_keep_compares_the_text_of_a_number(con, tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text(OLD + "\n" + "".join(RIDES).replace("40.72", "40.720"))
    report = read_trips(con, path, zone=NEW_YORK, keep={"start station latitude": "40.720"})
    assert (report.rides, report.left_out) == (4, 4)
