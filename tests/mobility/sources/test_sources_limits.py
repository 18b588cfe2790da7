"""Values and archives beyond any sense are refused in words, before they cost time or memory."""

import json
import zipfile
from pathlib import Path

import pytest

from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips

HEADER = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,"
    "end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual"
)
LONG = "x" * 200_000


@pytest.fixture
def con():
    with connect(threads=1) as con:
        yield con


def trips(folder: Path, *, ride="1", place="a", name="A", day="2021-02-03") -> Path:
    path = folder / "trips.csv"
    rows = [f"{ride},bike,{day} 10:11:28,{day} 10:21:28,{name},{place},B,b,40.1,-74.1,40.2,-74.1,member"]
    rows += [f"{n},bike,2021-02-03 12:0{n}:28,2021-02-03 12:21:28,B,b,A,a,40.2,-74.1,40.1,-74.1,member"
             for n in range(3)]  # fmt: skip
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@pytest.mark.parametrize("column", ["ride", "place", "name"])
def test_an_id_of_200_000_characters_in_trips(con, tmp_path, column):
    path = trips(tmp_path, **{column: LONG})
    with pytest.raises(ValueError, match="1 × an id or name longer than 500 characters"):
        read_trips(con, path, zone="America/New_York")
    assert read_trips(con, path, zone="America/New_York", max_reject_share=0.3).rides == 3


def station(number: int, **more: object) -> dict[str, object]:
    return {"station_id": str(number), "lat": 1, "lon": 2, **more}


@pytest.mark.parametrize(
    "wrong", [{"station_id": LONG}, {"station_id": 10**4000}, {"name": LONG}], ids=["text", "number", "name"]
)
def test_an_id_of_200_000_characters_in_a_feed(con, tmp_path, wrong):
    path = tmp_path / "feed.json"
    path.write_text(json.dumps({"data": {"stations": [station(1), station(2, **wrong)]}}))
    with pytest.raises(ValueError, match="longer than 500 characters"):
        read_stations(con, path, max_reject_share=0.1)


def test_a_count_of_ten_to_the_fifteen(con, tmp_path):
    csv = tmp_path / "status.csv"
    csv.write_text(f"station_id,last_reported,num_bikes_available\na,1604188880,1\nb,1604188880,{10**15}\n")
    with pytest.raises(ValueError, match="number of vehicles is absurdly large"):
        read_status(con, csv, max_reject_share=0.1)
    feed = tmp_path / "status.json"
    records = [station(n, num_bikes_available=count) for n, count in enumerate([1, 10**15])]
    feed.write_text(json.dumps({"last_updated": 1604188880, "data": {"stations": records}}))
    with pytest.raises(ValueError, match="num_bikes_available is absurdly large"):
        read_status(con, feed, max_reject_share=0.1)


def test_an_archive_of_thousands_of_members(con, tmp_path):
    path = tmp_path / "trips.zip"
    text = trips(tmp_path).read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2_001):
            archive.writestr(f"{number}.csv", text if not number else b"")
    with pytest.raises(ValueError, match="2,001 members, more than 2,000; unpack it"):
        read_trips(con, path, zone="America/New_York")


def test_one_wrong_date_among_many_places(con, tmp_path, monkeypatch):
    from unmet.mobility.panel import _build

    read_trips(con, trips(tmp_path, day="1990-01-02"), zone="America/New_York")
    monkeypatch.setattr(_build, "_MOST_ROWS", 100_000)
    with pytest.raises(ValueError, match=r"makes 545,\d+ rows: 2 places × .* from 1990-01-02 to 2021-02-03"):
        build_panel(con, zone="America/New_York")


def test_a_json_feed_beyond_the_cap(con, tmp_path, monkeypatch):
    from unmet.mobility.sources import _json

    path = tmp_path / "feed.json"
    path.write_text(json.dumps({"data": {"stations": [station(1)]}}))
    assert read_stations(con, path).stations == 1
    monkeypatch.setattr(_json, "MAX_JSON", path.stat().st_size - 1)
    with pytest.raises(ValueError, match=r"JSON file of more than \d+ bytes; split it"):
        read_stations(con, path)


@pytest.mark.parametrize(
    "change", ["INSERT INTO {0} SELECT * FROM {0} LIMIT 1", "DELETE FROM {0} WHERE line = 3"]
)
def test_lines_that_do_not_add_up_are_noticed(con, tmp_path, monkeypatch, change):
    """A line that the database lost or invented stops the reading, whatever the reason."""
    from unmet.mobility.sources._account import Account

    honest = Account.check

    def tampered(account, rows, share):
        con.execute(change.format("new_trips"))
        [(rows,)] = con.execute("SELECT count(*) FROM new_trips").fetchall()
        honest(account, rows, share)

    monkeypatch.setattr(Account, "check", tampered)
    with pytest.raises(ValueError, match="do not add up"):
        read_trips(con, trips(tmp_path), zone="America/New_York")


def test_a_lost_reject_is_noticed(con, tmp_path, monkeypatch):
    from unmet.mobility.sources._account import Account

    path = trips(tmp_path, day="never")
    assert read_trips(con, path, zone="America/New_York", max_reject_share=1).rejected == 1
    monkeypatch.setattr(Account, "write_rejects", lambda account, folder: account._rejects.clear())
    with pytest.raises(ValueError, match="do not add up"):
        read_trips(con, path, zone="America/New_York", max_reject_share=1)
