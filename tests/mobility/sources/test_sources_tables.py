"""The canonical tables: plain, replaced as a whole, with one id per station."""

import duckdb
import pytest
from source_examples import NEW_YORK, OLD, STATUS

from unmet.mobility import build_panel, read_stations, read_status, read_trips
from unmet.mobility.sources._tables import next_row

CANONICAL = {
    "trips",
    "status",
    "vehicles",
    "stations",
    "station_ids",
    "trip_names",
    "station_attributes",
    "rejects",
}
TRIPS = "SELECT * FROM trips ORDER BY source, line"


def _ride(minute: int, start: str = "s1", bike: str = "7", mark: str = "") -> str:
    times = ",".join(f"2021-10-08 01:{number:02}:00.5000" for number in (minute, minute + 5))
    place = f"{start},{start} St,40.71,-74.01,s2,s2 St,40.72,-74.02"
    return f"{mark}60{mark},{times},{place},{bike},Subscriber,,0\n"


def _file(*rides: str) -> str:
    return OLD.rstrip("\n") + "\n" + "".join(rides)


PLAIN, QUOTED = _file(_ride(1), _ride(2)), _file(_ride(11, mark='"'), _ride(12, mark='"'))


def _tables(con) -> set[str]:  # type: ignore[no-untyped-def]
    return {row[0] for row in con.execute("SHOW TABLES").fetchall()}


def _minutes(con) -> list[int]:  # type: ignore[no-untyped-def]
    return [row[0] for row in con.execute("SELECT minute(started_at) FROM trips ORDER BY ALL").fetchall()]


def test_a_reading_replaces_the_last_one_by_a_plain_table(con, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "trips.csv"
    for text, minutes in ((PLAIN, [1, 2]), (QUOTED, [11, 12]), (PLAIN, [1, 2])):
        path.write_text(text)
        read_trips(con, path, zone=NEW_YORK)
        assert _minutes(con) == minutes
        assert con.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (0,)
        assert _tables(con) == CANONICAL


def test_quoted_and_plain_files_in_one_reading(con, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.csv").write_text(PLAIN)
    (tmp_path / "b.csv").write_text(QUOTED)
    (tmp_path / "c.csv").write_text(PLAIN)
    report = read_trips(con, tmp_path, zone=NEW_YORK)
    assert (report.accepted, report.duplicates) == (6, 2)
    rows = con.execute("FROM trips").fetchall()  # in the order of files and lines
    assert [row[11:] for row in rows] == [("a.csv", 2), ("a.csv", 3), ("b.csv", 2), ("b.csv", 3)]
    assert {row[4:11] for row in rows} == {("s1", "s2", 40.71, -74.01, 40.72, -74.02, None)}


def test_quotes_change_nothing(con, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "trips.csv"
    found = []
    for mark in ("", '"'):
        path.write_text(_file(_ride(1, mark=mark), _ride(2, "s3", "", mark), _ride(3, "Depot", "8", mark)))
        read_trips(con, path, zone=NEW_YORK)
        found.append((con.execute("DESCRIBE trips").fetchall(), con.execute(TRIPS).fetchall()))
    assert found[0] == found[1]


def test_files_of_several_layouts(con, tmp_path) -> None:  # type: ignore[no-untyped-def]
    times = "2021-10-08 01:01:00,2021-10-08 01:06:00"
    few = "Duration,Start date,End date,Start station number,Start station,End station number,"
    few += "Bike number,Member type"
    other = few.replace(",Start station,", ",").replace("Duration", "Start station,Duration")
    header = OLD.rstrip("\n").split(",")
    turned = [*header[:3], *header[7:11], *header[3:7], *header[11:]]
    (tmp_path / "a.csv").write_text(f"{few}\n60,{times},s1,A,s2,7,Member\n")  # a name at the start only
    (tmp_path / "b.csv").write_text(f"{other}\nB,60,{times},s1,s2,8,Member\n")
    (tmp_path / "c.csv").write_text(PLAIN)
    ride = _ride(3).rstrip("\n").split(",")
    body = ",".join([*ride[:3], *ride[7:11], *ride[3:7], *ride[11:]])
    (tmp_path / "d.csv").write_text(",".join(turned) + "\n" + body + "\n")
    assert read_trips(con, tmp_path, zone=NEW_YORK).rides == 5
    found = con.execute(
        "SELECT source, start_place, end_place, vehicle_id, start_lat FROM trips ORDER BY source, line"
    )
    assert found.fetchall() == [
        ("a.csv", "s1", "s2", "7", None),
        ("b.csv", "s1", "s2", "8", None),
        ("c.csv", "s1", "s2", "7", 40.71),
        ("c.csv", "s1", "s2", "7", 40.71),
        ("d.csv", "s1", "s2", "7", 40.71),
    ]


@pytest.mark.parametrize("mark", ["", '"'])
def test_stations_that_come_later_rename_rows(con, tmp_path, mark) -> None:  # type: ignore[no-untyped-def]
    trips, stations, status = (tmp_path / name for name in ("t.csv", "stations.csv", "s.csv"))
    trips.write_text(_file(_ride(1, mark=mark), _ride(2, "s3", mark=mark)))
    status.write_text(STATUS + f"1633665600,5,{mark}1{mark},s1,1,1,9\n1633669200,4,1,s2,1,1,9\n")
    stations.write_text("station_id,name,lat,lon,capacity,short_name\nhub,Hub,40.7,-74.0,20,s1\n")
    read_trips(con, trips, zone=NEW_YORK)
    read_status(con, status)
    assert read_stations(con, stations).renamed == 2
    assert con.execute("SELECT start_place, end_place FROM trips ORDER BY line").fetchall() == [
        ("hub", "s2"),
        ("s3", "s2"),
    ]
    assert con.execute("SELECT place FROM status ORDER BY 1").fetchall() == [("hub",), ("s2",)]
    assert build_panel(con, by="hour", zone=NEW_YORK).places == 3


@pytest.mark.parametrize("count", [1, 4, 40])
def test_of_ids_that_turn_out_to_be_one_station_the_last_record_counts(con, tmp_path, count) -> None:  # type: ignore[no-untyped-def]
    status, stations = tmp_path / "s.csv", tmp_path / "stations.csv"
    status.write_text(
        STATUS
        + "".join(f"1633665600,{n},1,{id}{k},1,1,9\n" for n, id in enumerate("xys", 1) for k in range(count))
    )
    stations.write_text(
        "station_id,name,lat,lon,capacity,short_name,legacy_id\n"
        + "".join(f"s{k},N{k},40,-74,9,x{k},y{k}\n" for k in range(count))
    )
    read_status(con, status)
    assert read_stations(con, stations).renamed == 2 * count
    found = con.execute("SELECT place, available FROM status ORDER BY ALL").fetchall()
    assert found == sorted((f"s{k}", 3) for k in range(count))


def test_a_reading_that_fails_leaves_the_tables_as_they_were(con, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "trips.csv"
    path.write_text(PLAIN)
    read_trips(con, path, zone=NEW_YORK)
    before = con.execute(TRIPS).fetchall(), _tables(con)
    for text in (_file("a,b\n"), "what is this\n1\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"rejected|trips|known"):
            read_trips(con, path, zone=NEW_YORK)
        assert (con.execute(TRIPS).fetchall(), _tables(con)) == before


def test_the_next_row_follows_the_last_one(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE numbers(n INTEGER)")
    assert next_row(con, "numbers") == 0
    for number in (3, 250_000, 1):
        con.execute(f"INSERT INTO numbers SELECT n FROM range({number}) AS r(n)")
    assert next_row(con, "numbers") == 250_004
    con.execute("DELETE FROM numbers WHERE n > 2")  # the last row stays
    assert next_row(con, "numbers") == 250_004
    con.execute("INSERT INTO numbers VALUES (7)")
    assert next_row(con, "numbers") == 1 + con.execute("SELECT rowid FROM numbers WHERE n = 7").fetchone()[0]
