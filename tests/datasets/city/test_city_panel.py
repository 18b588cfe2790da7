"""The panel built from a city's files agrees with the city's truth, row by row."""

import pytest

from unmet.datasets.city import make_city
from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips

ZONE = "America/New_York"


def joined(folder, feed: str):
    """A connection with table ``beside``: panel and truth side by side."""
    con = connect(memory_limit="500MB")
    read_stations(con, folder / "station_information.json")
    trips = read_trips(con, folder / "trips.csv.gz", zone=ZONE)
    status = read_status(con, folder / f"station_status_{feed}.csv.gz")
    assert trips.rejected == status.rejected == 0
    build_panel(con, by="hour", zone=ZONE)
    con.execute(f"""
        CREATE TABLE beside AS
        SELECT p.*, t.* EXCLUDE (unique_id, ds)
        FROM panel p FULL JOIN '{folder}/truth.parquet' t ON p.unique_id = t.unique_id AND p.ds = t.ds""")
    return con


def one(con, query: str):
    return con.execute(query).fetchone()[0]


@pytest.fixture(scope="module", params=["events", "snapshots"])
def plain(request, tmp_path_factory):
    """A city without spill and rival, over the night in which summer time begins."""
    folder = tmp_path_factory.mktemp("plain")
    city = make_city(places=30, days=21, seed=7, spill=False)
    city.write(folder)
    return request.param, city, joined(folder, request.param)


def test_every_hour_of_every_place_is_there(plain):
    _, city, con = plain
    assert one(con, "SELECT count(*) FROM beside") == city.rate.size
    assert one(con, "SELECT count(*) FROM beside WHERE y IS NULL OR latent IS NULL") == 0
    assert one(con, "SELECT count(*) FROM beside WHERE y <> served") == 0


def test_threshold_cuts_seen_and_latent_demand_alike(plain):
    _, _, con = plain
    wrong = "least(y, threshold) <> least(latent, threshold)"
    assert one(con, f"SELECT count(*) FROM beside WHERE {wrong} OR threshold IS NULL") == 0
    assert one(con, "SELECT count(*) FROM beside WHERE y < latent") > 100


def test_unbroken_availability_means_that_all_demand_was_seen(plain):
    _, _, con = plain
    assert one(con, "SELECT count(*) FROM beside WHERE exposure = 1 AND y <> latent") == 0
    assert one(con, "SELECT count(*) FROM beside WHERE NOT censored AND y <> latent") == 0
    assert one(con, "SELECT count(*) FROM beside WHERE y > latent OR y > supply") == 0


def test_rows_that_lost_demand_are_flagged(plain):
    feed, _, con = plain
    caught = one(con, "SELECT avg(censored::INTEGER) FROM beside WHERE lost > 0")
    assert caught >= (0.99 if feed == "events" else 0.95)


def test_flagged_rows_that_lost_nothing(plain):
    """Running out is not losing: with this fleet a little more than half of the flagged rows lost nothing."""
    _, _, con = plain
    idle = one(con, "SELECT avg((lost = 0)::INTEGER) FROM beside WHERE censored")
    print(f"flagged rows that lost nothing: {idle:.1%}")
    assert 0.4 < idle < 0.7


def test_stock_and_exposure_follow_the_events(plain):
    feed, city, con = plain
    balance = "stock_start + returns + deliveries - y - removals <> stock_end"
    assert one(con, f"SELECT count(*) FROM beside WHERE {balance}") == 0
    empty = one(con, "SELECT avg(1 - exposure) FROM beside")
    assert empty == pytest.approx(city.share_empty, abs=1e-9 if feed == "events" else 0.002)
    if feed == "events":
        assert one(con, "SELECT sum(removals) FROM beside") == len(city.moves)
        assert one(con, "SELECT sum(deliveries) FROM beside") == len(city.moves)


def test_identity_with_spill_and_rival(tmp_path):
    make_city(places=20, days=14, seed=8, spill=True, rival=True).write(tmp_path)
    con = joined(tmp_path, "events")
    assert one(con, "SELECT count(*) FROM beside WHERE y <> latent - lost - spilled_out + spilled_in") == 0
    assert one(con, "SELECT count(*) FROM beside WHERE y IS NULL OR latent IS NULL") == 0
    stockouts = one(con, "SELECT avg(censored::INTEGER) FROM beside WHERE lost > rival OR spilled_out > 0")
    assert stockouts >= 0.99
