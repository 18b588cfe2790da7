"""Large plain files are parsed by other processes, with the same result, and none of them stays behind."""

import os
import signal
import time

import pytest
from reader_fixtures import NEW_YORK, OLD, STATUS

from unmet.mobility import read_status, read_trips
from unmet.mobility.readers import _parts
from unmet.mobility.readers._staging import is_view
from unmet.runs import StreamLostError, Streams, _streams

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files are parsed by threads here")
TRIPS = "SELECT * FROM trips ORDER BY source, line"
RECORDS = 'SELECT * FROM status ORDER BY "at", place'


def _trips(count: int) -> str:
    return (
        OLD.rstrip("\n")
        + "\n"
        + "".join(
            f"60,2021-11-07 0{n % 6}:20:{n % 60:02}.5000,2021-11-07 0{n % 6}:40:{n % 60:02}.5000,"
            f"s{n % 7},A{n % 7},40.7,-74.0,s{n % 5},A{n % 5},40.8,-74.1,{n % 11},Subscriber,,0\n"
            for n in range(count)
        )
    )


def _records(count: int) -> str:
    return STATUS + "".join(f"{1604188880 + n},{n % 9},{n % 2},s{n % 7},1,1,9\n" for n in range(count))


@pytest.fixture
def processes(monkeypatch) -> list[_streams._Process]:  # type: ignore[no-untyped-def]
    """Processes that were started, for files of any size."""
    started: list[_streams._Process] = []
    original = _streams._Process.__init__

    def begin(self):  # type: ignore[no-untyped-def]
        original(self)
        started.append(self)

    monkeypatch.setattr(_streams._Process, "__init__", begin)
    monkeypatch.setattr(_parts, "WORTH", 0)
    return started


def _ended(started: list[_streams._Process]) -> bool:
    return bool(started) and all(process._process.poll() is not None for process in started)


def _both_ways(con, monkeypatch, read, table):  # type: ignore[no-untyped-def]
    found = [(read(), con.execute(table).fetchall())]
    monkeypatch.setattr(_parts, "WORTH", 1 << 60)
    return [*found, (read(), con.execute(table).fetchall())]


def test_trips_as_by_threads(con, tmp_path, monkeypatch, processes) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.csv").write_text(_trips(3000))
    (tmp_path / "b.csv").write_text(_trips(10).replace("2021-11-07", "2021-11-09"))
    (tmp_path / "c.csv").write_text(OLD.rstrip("\n") + "\n")
    one, two = _both_ways(con, monkeypatch, lambda: read_trips(con, tmp_path, zone=NEW_YORK), TRIPS)
    assert one == two
    assert len(one[1]) > 300
    assert _ended(processes)


def test_records_as_by_threads_in_many_parts(con, tmp_path, monkeypatch, processes) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(_streams, "_SIZE", 1 << 16)  # some columns do not fit and go with the message
    (tmp_path / "a.csv").write_text(_records(150_000))
    one, two = _both_ways(con, monkeypatch, lambda: read_status(con, tmp_path), RECORDS)
    assert one == two
    assert len(one[1]) == 150_000
    assert _ended(processes)


def test_what_is_not_plain_is_read_in_another_way(con, tmp_path, monkeypatch, processes) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.csv").write_text(
        _records(100) + "1604188941,6.5,1,s2,1,1,9\n" + _records(3)[len(STATUS) :]
    )
    one, two = _both_ways(con, monkeypatch, lambda: read_status(con, tmp_path, max_reject_share=1.0), RECORDS)
    assert one == two
    assert one[0].rejected == 1
    assert _ended(processes)


@pytest.mark.parametrize("moment", [0.0, 0.3, 0.6])
def test_a_process_that_dies_costs_time_only(con, tmp_path, monkeypatch, processes, moment) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.csv").write_text(_records(60_000))
    original = Streams.run

    def dying(self, function, file):  # type: ignore[no-untyped-def]
        found = original(self, function, file)
        item = next(found)
        time.sleep(moment)
        os.kill(processes[-1]._process.pid, signal.SIGKILL)
        yield item
        return (yield from found)

    monkeypatch.setattr(Streams, "run", dying)
    report = read_status(con, tmp_path)
    assert report.rows == 60_000
    assert _ended(processes)


def test_nothing_stays_behind_after_an_error(con, tmp_path, monkeypatch, processes) -> None:  # type: ignore[no-untyped-def]
    from unmet.mobility._gathered import Gathered

    def fails(self, columns):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    monkeypatch.setattr(Gathered, "add", fails)
    (tmp_path / "a.csv").write_text(_records(60_000))
    with pytest.raises(KeyboardInterrupt):
        read_status(con, tmp_path)
    assert _ended(processes)


def test_where_no_process_can_be_started_threads_do_it(con, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def fails(self):  # type: ignore[no-untyped-def]
        raise StreamLostError("no more processes")

    monkeypatch.setattr(_parts, "WORTH", 0)
    monkeypatch.setattr(_streams._Process, "__init__", fails)
    (tmp_path / "a.csv").write_text(_records(100))
    assert read_status(con, tmp_path).rows == 100
    assert is_view(con, "status")  # as after reading in blocks
