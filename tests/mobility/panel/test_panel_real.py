"""Real systems: Jersey City with its feed, San Francisco without; skipped where the data are absent."""

import os
from pathlib import Path

import pytest

import unmet
from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips, reduce_fleet

DATA = Path(os.environ.get("UNMET_DATA") or Path(unmet.__file__).parents[3] / "shared" / "data")


def folder(name: str) -> Path:
    path = DATA / name
    if not path.is_dir():
        pytest.skip(f"real data {name} are not here; set UNMET_DATA")
    return path


@pytest.fixture(scope="module")
def jersey():
    here = folder("jersey_city_winter")
    with connect(memory_limit="1GB", threads=2) as con:
        read_stations(con, here / "station_information.json")
        trips = read_trips(con, sorted(here.glob("JC-*.zip")), zone="America/New_York")
        read_status(con, here / "station_status_events.csv.gz")
        yield con, trips, build_panel(con, by="hour", zone="America/New_York", covariates=["hour"])


def test_jersey_city_tells_what_stock_outs_do(jersey):
    con, trips, report = jersey
    assert trips.lines == trips.headers + trips.rides + trips.duplicates + trips.rejected == 49_478
    assert report.pickups + sum(n for flag, n in trips.flags.items() if flag != "over-a-day") == trips.rides
    assert (report.places, report.periods) == (51, 120 * 24 + 1)  # one of the days has 25 hours
    assert 0.06 < report.share_empty < 0.08
    never, part, throughout = con.execute("""
        SELECT avg(y) FILTER (NOT censored), avg(y) FILTER (exposure BETWEEN 1e-9 AND 1 - 1e-9),
               avg(y) FILTER (exposure = 0) FROM panel WHERE hour BETWEEN 6 AND 21""").fetchone()
    assert never == pytest.approx(0.49, abs=0.03)
    assert part == pytest.approx(1.0, abs=0.05)
    assert throughout < 0.02


def test_jersey_city_keeps_its_books(jersey):
    con, _, _ = jersey
    within, balanced = con.execute("""
        SELECT avg((y <= supply)::INTEGER),
               avg((stock_start + returns + deliveries - y - removals = stock_end)::INTEGER)
        FROM panel""").fetchone()
    assert within >= 0.999
    assert balanced >= 0.97
    # The stock at the end is what the feed said last, in its own clock.
    agrees, nearly = con.execute("""
        SELECT avg((stock_end = available)::INTEGER), avg((abs(stock_end - available) <= 1)::INTEGER)
        FROM (SELECT *, ds + INTERVAL 1 hour AS t FROM panel WHERE NOT inferred) p
        ASOF JOIN status s ON s.place = p.unique_id AND s."at" < p.t""").fetchone()
    assert agrees > 0.97
    assert nearly > 0.999
    moved = con.execute("SELECT (sum(deliveries) + sum(removals)) / sum(y) FROM panel").fetchone()[0]
    assert moved < 0.3  # clocks that differ by seconds are not moves of vehicles


def test_what_is_inferred_from_vehicle_ids_agrees_with_the_feed(jersey):
    con, _, _ = jersey
    con.execute("CREATE TEMP TABLE truth AS FROM panel")
    with connect(memory_limit="1GB", threads=2) as other:
        here = folder("jersey_city_winter")
        read_stations(other, here / "station_information.json")
        read_trips(other, sorted(here.glob("JC-2020*.zip")), zone="America/New_York")
        report = build_panel(other, by="hour", zone="America/New_York")
        assert (report.inferred_from, report.rows_inferred) == ("vehicle ids", report.rows)
        frame = other.execute(
            "SELECT unique_id, ds, exposure, exposure_low, exposure_high, stock_start FROM panel"
        ).fetchnumpy()
    con.register("_guess", dict(frame))
    stood, nobody, empty, said, alike = con.execute("""
        SELECT avg(t.exposure) FILTER (g.exposure_low = 1), avg(t.exposure) FILTER (g.exposure_high = 0),
               1 - avg(t.exposure), 1 - avg(g.exposure), corr(g.stock_start, t.stock_start)
        FROM _guess g JOIN truth t USING (unique_id, ds) WHERE t.observed > 0.99""").fetchone()
    assert stood > 0.999
    assert nobody < 0.002
    assert said == pytest.approx(empty, rel=0.15)
    assert alike > 0.85


@pytest.fixture(scope="module")
def san_francisco():
    here = folder("bay_area_2014")
    with connect(memory_limit="1GB", threads=2) as con:
        read_stations(con, here / "stations.csv")
        keep = {"landmark": "San Francisco"}
        read_trips(con, here / "trips.csv.gz", zone="America/Los_Angeles", times="utc", keep=keep)
        yield con, here


@pytest.mark.slow
def test_three_superhubs_of_san_francisco(san_francisco):
    con, here = san_francisco
    report = build_panel(
        con, by="day", zone="America/Los_Angeles", places="hub", hubs=3,
        weather=here / "weather.csv", weather_keep={"zip_code": "94107"},
    )  # fmt: skip
    rows = con.execute("SELECT unique_id, count(*), sum(y) FROM panel GROUP BY 1 ORDER BY 1").fetchall()
    assert [(row[0], row[1]) for row in rows] == [("hub-1", 365), ("hub-2", 365), ("hub-3", 365)]
    assert sum(row[2] for row in rows) == report.pickups == 292_753
    assert rows[0][2] >= rows[1][2] >= rows[2][2]
    assert con.execute("SELECT count(mean_temp_f) FROM panel").fetchone() == (3 * 365,)
    con.execute("CREATE OR REPLACE TEMP TABLE latent AS FROM panel")
    kept = reduce_fleet(con, 0.2, seed=1)
    assert kept.rides_kept / kept.rides == pytest.approx(0.8, abs=0.03)
    hubs = dict(con.execute("SELECT place, hub FROM _members").fetchall())
    build_panel(con, by="day", zone="America/Los_Angeles", places="hub", hubs=hubs, trips="trips_reduced")
    both = con.execute("""SELECT count(*), bool_and(p.y <= l.y) FROM panel p
                          JOIN latent l USING (unique_id, ds)""").fetchone()
    assert both == (3 * 365, True)


def test_free_floating_cars_of_munich():
    here = folder("munich_carsharing_2019")
    with connect(memory_limit="1GB", threads=2) as con:
        read_trips(con, here / "carsharing.csv", zone="Europe/Berlin")
        report = build_panel(con, by="hour", zone="Europe/Berlin", places="h3", h3_resolution=8)
        assert report.inferred_from == "vehicle ids"
        # Cells in which hardly a car ever stood are left out, with few rides.
        assert report.rides - report.rides_without_place == report.pickups + report.rides_outside
        assert report.rides_outside < 0.03 * report.rides
        assert any("cells are left out" in note for note in report.notes)
        sound = con.execute("SELECT bool_and(y <= supply), min(stock_start) FROM panel").fetchone()
        assert sound == (True, 0)
