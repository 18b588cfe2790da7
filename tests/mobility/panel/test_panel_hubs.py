"""Superhubs: given or found, and the rows made of their stations' rows."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import build_panel, superhubs, weighted_kmeans
from unmet.mobility.panel._hubs import read_hubs

DAY = datetime(2021, 5, 3)


def minute(n: float) -> datetime:
    return DAY + timedelta(minutes=n)


@pytest.fixture
def con():
    with connection() as con:
        # A has three rides an hour while it has vehicles, B one. A is empty from minute 85 on.
        rides = [("a", minute(n), minute(n + 1), "A", "C") for n in (5, 15, 25, 65, 75, 85)]
        rides += [("b", minute(n), minute(n + 1), "B", "C") for n in (10, 70)]
        rides += [("c", minute(30), minute(119), "C", "C")]
        feed = [("A", minute(n), left) for n, left in zip((0, 5, 15, 25, 65, 75, 85), (6, 5, 4, 3, 2, 1, 0))]
        feed += [("A", minute(90), 0), ("B", minute(0), 9), ("B", minute(10), 8), ("B", minute(70), 7)]
        feed += [("C", minute(0), 9), ("C", minute(119), 20)]
        stations = [("A", "a", 40.0, -74.0, 10), ("B", "b", 40.001, -74.0, 12), ("C", "c", 40.1, -74.0, 20)]
        fill(con, rides, sorted(feed), stations)
        yield con


def test_hub_rows_are_sums_and_exposure_is_weighted_by_usual_demand(con):
    hubs = {"A": "west", "B": "west", "C": "east"}
    report = build_panel(con, by="hour", zone="UTC", places="hub", hubs=hubs, feed="events")
    assert (report.places, report.periods, report.pickups) == (2, 2, 9)
    rows = con.execute("""SELECT y, censored, threshold, supply, stock_start, stock_end, capacity, exposure
                          FROM panel WHERE unique_id = 'west' ORDER BY ds""").fetchall()
    assert rows[0][:7] == (4, False, None, 15, 15, 11, 22)
    assert rows[1][:7] == (4, True, None, 11, 11, 7, 22)
    # Usual pickups in hours never empty: three at A, one at B. A had vehicles for 25 of 60 minutes.
    assert rows[0][7] == 1.0
    assert rows[1][7] == pytest.approx((3 * 25 + 1 * 60) / (4 * 60), abs=1e-6)


def test_places_outside_the_list_are_counted_as_outside(con):
    report = build_panel(con, by="hour", zone="UTC", places="hub", hubs={"A": "west"})
    assert (report.pickups, report.rides_outside) == (6, 3)


def test_kmeans_finds_neighbours_and_names_the_busiest_first(con):
    assert superhubs(con, 2) == {"A": "hub-1", "B": "hub-1", "C": "hub-2"}
    assert superhubs(con, 2, seed=5) == superhubs(con, 2, seed=5)
    assert superhubs(con, 3) == {"A": "hub-1", "B": "hub-2", "C": "hub-3"}
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="between 1 and"):
            superhubs(con, wrong)


def test_kmeans_needs_coordinates(con):
    con.execute("DELETE FROM stations WHERE place = 'B'")
    with pytest.raises(ValueError, match="coordinates"):
        superhubs(con, 2)


def test_weights_pull_the_centres():
    points = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [5.4, 0]])
    light = weighted_kmeans(points, np.array([1.0, 1, 1, 1, 1]), 2, 0)
    assert light[4] == light[0] != light[2]
    # A heavy point is a centre of its own; the rest go to whichever is nearer.
    heavy = weighted_kmeans(points, np.array([1.0, 1, 1, 1, 1e6]), 2, 0)
    assert (heavy == heavy[4]).sum() < 5


def test_files(tmp_path, con):
    table = tmp_path / "hubs.csv"
    table.write_text("place,hub\nA,west\nB,west\nC,east\n")
    listed = tmp_path / "hubs.json"
    listed.write_text(json.dumps({"west": ["A", "B"], "east": ["C"]}))
    paired = tmp_path / "pairs.json"
    paired.write_text(json.dumps({"A": "west", "B": "west", "C": "east"}))
    assert read_hubs(table) == read_hubs(listed) == read_hubs(paired)
    assert superhubs(con, table) == {"A": "west", "B": "west", "C": "east"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "station,group\nA,west\n", "place,hub"),
        ("a.csv", "", "place,hub"),
        ("a.csv", "place,hub\n", "at least one place"),
        ("a.csv", "place,hub\nA,west\nA,east\n", "'A'"),
        ("a.csv", "place,hub\nQ,west\n", "'Q'"),
        ("a.json", "[1, 2]", "object"),
        ("a.json", "{", "not JSON"),
    ],
)
def test_wrong_files(tmp_path, con, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        superhubs(con, path)
