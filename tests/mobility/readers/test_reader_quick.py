"""The quick way gives what the careful way gives, and stops at whatever is not as expected."""

from datetime import datetime

import duckdb
import pytest
from reader_fixtures import EXAMPLES, STATUS

from unmet.mobility import read_status, read_trips
from unmet.mobility.readers import _csv, _driver, _ready

TRIPS = "SELECT * FROM trips ORDER BY source, line"
HEADER = "ride_id,started_at,ended_at,start_station_id,start_station_name,end_station_id,end_station_name"
HEADER += ",start_lat,start_lng,end_lat,end_lng,rideable_type,member_casual\n"
ROW = "{id},{start},2021-02-03 23:31:28,{place},Grove,JC2,Newport,{lat},-74.0,40.7,-74.1,docked_bike,member\n"


@pytest.fixture
def attempts(monkeypatch):
    """How each attempt on a file went, as (quick, done)."""
    seen = []
    original = _csv.attempt

    def attempt(con, insert, relation, expected=None):
        done = original(con, insert, relation, expected)
        seen.append((relation.quick, done is not None))
        return done

    for module in (_csv, _driver, _ready):
        monkeypatch.setattr(module, "attempt", attempt)
    return seen


def _trips(tmp_path, con, **cells):
    sound = {"id": "a1", "start": "2021-02-03 23:11:28", "place": "00042", "lat": "40.7"}
    path = tmp_path / "trips.csv"
    path.write_text(HEADER + ROW.format(**sound) + ROW.format(**{**sound, "id": "a2", **cells}))
    report = read_trips(con, path, zone="America/New_York", max_reject_share=1.0)
    return report, con.execute(TRIPS).fetchall()


def test_a_sound_file_goes_the_quick_way(con, tmp_path, attempts):
    report, rows = _trips(tmp_path, con)
    assert attempts == [(True, True)]
    assert [row[4] for row in rows] == ["00042", "00042"]
    assert [row[-1] for row in rows] == [2, 3]
    assert report.rejected == 0


@pytest.mark.parametrize(
    ("cells", "rejected", "place"),
    [
        ({"place": " 00042"}, 0, "00042"),
        ({"place": "NULL"}, 0, "Grove"),
        ({"lat": "north"}, 1, None),
        ({"lat": "140.7"}, 1, None),
        ({"start": "yesterday"}, 1, None),
        ({"start": "2021-02-03T23:11:28Z"}, 0, "00042"),
    ],
)
def test_a_doubt_ends_the_quick_way(con, tmp_path, attempts, cells, rejected, place):
    report, rows = _trips(tmp_path, con, **cells)
    assert attempts == [(True, False), (False, True)]
    assert report.rejected == rejected
    assert [row[4] for row in rows[1:]] == ([place] if place else [])


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_both_ways_agree_on_every_format(con, tmp_path, monkeypatch, name):
    path = tmp_path / "example.csv"
    path.write_text(EXAMPLES[name].text)
    read_trips(con, path, zone="America/New_York")
    quick = con.execute(TRIPS).fetchall()
    monkeypatch.setattr(_csv, "types_of", lambda layout, samples: None)
    read_trips(con, path, zone="America/New_York")
    assert con.execute(TRIPS).fetchall() == quick


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_parquet_of_texts_means_what_the_text_means(con, tmp_path, name):
    text, same = tmp_path / "example.csv", tmp_path / "example.parquet"
    text.write_text(EXAMPLES[name].text)
    read_trips(con, text, zone="America/New_York")
    expected = con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY line").fetchall()
    duckdb.connect().execute(f"COPY (FROM read_csv('{text}', all_varchar=true, header=true)) TO '{same}'")
    read_trips(con, same, zone="America/New_York")
    assert con.execute("SELECT * EXCLUDE (source, line) FROM trips ORDER BY line").fetchall() == expected


TYPED = """SELECT 'r' || n AS ride_id, TIMESTAMP '2021-02-03 23:11:28' + to_seconds(n) AS started_at,
    TIMESTAMP '2021-02-03 23:31:28' AS ended_at, '00042' AS start_station_id, 'Grove' AS start_station_name,
    'JC2' AS end_station_id, 'Newport' AS end_station_name, 40.7::DOUBLE AS start_lat,
    -74.0::DOUBLE AS start_lng, 40.7::DOUBLE AS end_lat, -74.1::DOUBLE AS end_lng FROM range(3) AS t(n)"""


@pytest.mark.parametrize(
    ("change", "quick", "rejected"),
    [
        ("*", True, 0),
        ("* REPLACE (started_at::VARCHAR AS started_at)", None, 0),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN 140.7 ELSE 40.7 END::DOUBLE AS start_lat)", False, 1),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN 'nan'::DOUBLE ELSE 40.7 END AS start_lat)", False, 1),
        (
            "* REPLACE (CASE ride_id WHEN 'r1' THEN 'infinity' ELSE started_at END::TIMESTAMP AS started_at)",
            False,
            1,
        ),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN NULL ELSE started_at END AS started_at)", False, 1),
        ("* REPLACE (CASE ride_id WHEN 'r1' THEN ' 00042' ELSE '00042' END AS start_station_id)", False, 0),
    ],
)
def test_typed_parquet_goes_the_quick_way_unless_in_doubt(con, tmp_path, attempts, change, quick, rejected):
    path = tmp_path / "trips.parquet"
    duckdb.connect().execute(f"COPY (SELECT {change} FROM ({TYPED})) TO '{path}'")
    report = read_trips(con, path, zone="America/New_York", max_reject_share=1.0)
    assert [done for _, done in attempts] == ([] if quick is None else [quick])
    assert (report.accepted, report.rejected) == (3 - rejected, rejected)
    rows = con.execute("SELECT ride_id, started_at, start_place, line FROM trips ORDER BY line").fetchall()
    expected = [(f"r{n}", datetime(2021, 2, 4, 4, 11, 28 + n), "00042", n + 1) for n in range(3)]
    assert rows == [row for row in expected if not rejected or row[0] != "r1"]


@pytest.mark.parametrize(("number", "rejected"), [("3", 0), ("3.5", 1), ("-1", 1), ("nan", 1), ("", 1)])
def test_numbers_of_vehicles_are_whole_either_way(con, tmp_path, number, rejected):
    path = tmp_path / "status.csv"
    path.write_text(STATUS + "1604188880,5,1,s1,1,1,9\n" + f"1604188940,{number},1,s1,1,1,9\n")
    report = read_status(con, path)
    assert report.rejected == rejected
    assert con.execute("SELECT count(*) FROM status").fetchone() == (2 - rejected,)


def test_the_last_record_of_a_moment_wins(con: duckdb.DuckDBPyConnection, tmp_path):
    path = tmp_path / "status.csv"
    path.write_text(
        STATUS
        + "".join(f"1604188880,{count},1,{place},1,1,9\n" for count, place in ((5, "a"), (6, "b"), (7, "a")))
    )
    report = read_status(con, path)
    assert report.duplicates == 1
    assert con.execute("SELECT place, available FROM status ORDER BY place").fetchall() == [
        ("a", 7),
        ("b", 6),
    ]
