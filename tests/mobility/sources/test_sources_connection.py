"""The connection, the public names, and readings larger than memory."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from source_examples import NEW_YORK, OLD, OLD_ROWS

import unmet.mobility
from unmet.mobility import connect, read_trips


def setting(con: duckdb.DuckDBPyConnection, name: str) -> str:
    row = con.execute(f"SELECT current_setting('{name}')::VARCHAR").fetchone()
    assert row is not None
    return row[0]


def test_connection_has_a_limit_a_spill_folder_and_utc(tmp_path: Path) -> None:
    con = connect(memory_limit="500MB", threads=1, spill=tmp_path)
    assert setting(con, "TimeZone") == "UTC"
    assert setting(con, "threads") == "1"
    assert setting(con, "memory_limit").startswith("47")  # 500 MB are 476.8 MiB
    assert setting(con, "temp_directory").startswith(str(tmp_path))
    con.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory_limit": "plenty"}, "memory_limit must read like '2GB'"),
        ({"memory_limit": "-1GB"}, "memory_limit must read like '2GB'"),
        ({"memory_limit": "none"}, "memory_limit must read like '2GB'"),
        ({"threads": 0}, "threads must be a whole number"),
        ({"spill": "/no/such/folder"}, "spill must be an existing folder"),
    ],
)
def test_connection_arguments_are_checked(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        connect(**arguments)


def test_the_private_folder_is_removed_at_exit(tmp_path: Path) -> None:
    code = f"from unmet.mobility import connect; connect(spill={str(tmp_path)!r}).execute('SELECT 1')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(tmp_path.iterdir()) == []


def test_public_names() -> None:
    assert {"connect", "read_trips", "read_status", "read_stations"} <= set(dir(unmet.mobility))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        unmet.mobility.nonsense


def test_names_load_late() -> None:
    code = "import sys, unmet.mobility; print('duckdb' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_progress_and_summary(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(OLD + OLD_ROWS)
    seen: list[tuple[str, int, int]] = []
    report = read_trips(con, [path, path], zone=NEW_YORK, progress=lambda *step: seen.append(step))
    assert seen == [("a.csv", 0, 2), ("a.csv", 1, 2), ("", 2, 2)]
    assert str(report).splitlines()[:2] == [
        "6 lines in 2 sources (2 × Citi Bike old) = 2 headers + 4 accepted + 0 rejected",
        "2 rides of 2 vehicles (2 duplicates and 0 left out by keep are among the accepted)",
    ]


@pytest.mark.slow
def test_more_rides_than_memory(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rides = 3_000_000
    with duckdb.connect() as other:
        other.execute(
            f"COPY (SELECT i AS ride_id, TIMESTAMP '2021-01-01' + to_seconds(i) AS started_at, "
            f"TIMESTAMP '2021-01-01' + to_seconds(i + 60) AS ended_at, md5(i::VARCHAR) AS start_station_id, "
            f"md5((i + 1)::VARCHAR) AS end_station_id FROM range({rides}) AS r(i)) TO '{path}' (HEADER)"
        )
    con = connect(memory_limit="300MB", threads=2, spill=tmp_path)
    report = read_trips(con, [path, path], times="utc")
    assert (report.rides, report.duplicates) == (rides, rides)
    con.close()
