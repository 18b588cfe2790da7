"""Random histories of two stations: the panel agrees with what the simulator knows."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_world import EPOCH, at, connection, simulate, tables

from unmet.mobility import build_panel

HOURS = 6
PLACES = ("A", "B")
COLUMNS = (
    "unique_id ds y censored exposure threshold supply returns deliveries removals stock_start stock_end "
    "observed"
)

# Rides happen in even seconds and moves in odd ones: a feed cannot tell apart what falls into one second.
demands = st.lists(
    st.tuples(
        st.integers(0, HOURS * 1800 - 1).map(lambda t: 2 * t),
        st.sampled_from(PLACES),
        st.sampled_from(PLACES),
        st.integers(30, 2400).map(lambda d: 2 * d),
    ),
    min_size=1,
    max_size=60,
)
moves = st.lists(
    st.tuples(
        st.integers(0, HOURS * 1800 - 1).map(lambda t: 2 * t + 1),
        st.sampled_from(PLACES),
        st.integers(-4, 4).filter(bool),
    ),
    max_size=8,
    unique_by=lambda move: move[:2],
)
sparse_moves = st.lists(
    st.tuples(
        st.integers(0, HOURS * 6 - 1).map(lambda n: 600 * n + 151),
        st.sampled_from(PLACES),
        st.integers(-4, 4).filter(bool),
    ),
    max_size=8,
    unique_by=lambda move: move[:2],
)
openings = st.fixed_dictionaries({place: st.integers(0, 4) for place in PLACES})
seldom = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
often = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def con():
    with connection() as con:
        yield con


def rows(con, world, **options):
    tables(con, world, **options)
    build_panel(con, by="hour", zone="UTC")
    return [
        dict(zip(COLUMNS.split(), row))
        for row in con.execute(
            f"SELECT {', '.join(COLUMNS.split())} FROM panel ORDER BY unique_id, ds"
        ).fetchall()
    ]


def history(opening, wanted, moved):
    world = simulate(HOURS * 3600, opening, sorted(wanted), sorted(moved))
    assume(world.rides)
    return world


def apart(wanted, moved):
    """Return the moves that no ride within a minute explains: the clock of a feed may be off by so much."""
    rides = [end for t, start, to, d in wanted for end in ((start, t), (to, t + d))]
    return [move for move in moved if all(p != move[1] or abs(t - move[0]) > 60 for p, t in rides)]


def truth(world, row):
    start = int((row["ds"] - EPOCH).total_seconds())
    inside = range(start, start + 3600)
    place = row["unique_id"]
    served = sum(p == place and t in inside for _, t, _, p, _ in world.rides)
    lost = sum(p == place and t in inside for p, t in world.lost)
    brought = sum(max(n, 0) for p, t, n in world.moved if p == place and t in inside)
    taken = sum(max(-n, 0) for p, t, n in world.moved if p == place and t in inside)
    return start, served, served + lost, brought, taken


@often
@given(openings, demands, moves)
def test_panel_from_events_is_exact(con, opening, wanted, moved):
    world = history(opening, wanted, apart(wanted, moved))
    panel = rows(con, world)
    assert len(panel) >= 2
    for row in panel:
        if row["observed"] < 1:  # nothing was heard of both places for too long
            continue
        start, served, latent, brought, taken = truth(world, row)
        empty = world.empty_seconds(row["unique_id"], start, min(start + 3600, world.seconds))
        assert row["y"] == served
        assert row["y"] <= row["supply"]
        assert min(row["y"], row["threshold"]) == min(latent, row["threshold"])
        assert row["censored"] == (empty > 0)
        assert row["exposure"] == pytest.approx(1 - empty / 3600)
        assert row["censored"] or row["y"] == latent
        assert row["y"] <= latent
        assert (row["deliveries"], row["removals"]) == (brought, taken)
        assert row["stock_start"] == world.level(row["unique_id"], start - 1)
        assert row["stock_end"] == world.level(row["unique_id"], start + 3599)
        assert row["threshold"] == max(0, row["stock_start"] - taken)


@often
@given(openings, demands)
def test_snapshots_with_rides_are_exact_while_nobody_moves_vehicles(con, opening, wanted):
    world = history(opening, wanted, [])
    for row in rows(con, world, every=300):
        start, served, latent, _, _ = truth(world, row)
        empty = world.empty_seconds(row["unique_id"], start, min(start + 3600, world.seconds))
        assert (row["y"], row["censored"]) == (served, empty > 0)
        assert row["exposure"] == pytest.approx(1 - empty / 3600)
        assert min(served, row["threshold"]) == min(latent, row["threshold"])
        assert (row["deliveries"], row["removals"]) == (0, 0)


@often
@given(openings, demands, sparse_moves)
def test_snapshots_miss_no_lost_demand_while_moves_are_minutes_apart(con, opening, wanted, moved):
    world = history(opening, [demand for demand in wanted if demand[0] % 300], moved)
    for row in rows(con, world, every=300):
        _, served, latent, _, _ = truth(world, row)
        assert row["y"] == served <= row["supply"]
        assert row["stock_end"] == row["supply"] - row["y"] - row["removals"]
        assert 0 <= row["threshold"] <= row["stock_start"]
        assert min(served, row["threshold"]) == min(latent, row["threshold"])
        assert row["censored"] or served == latent


@seldom
@given(openings, demands, moves)
def test_names_do_not_matter(con, opening, wanted, moved):
    world = history(opening, wanted, moved)
    swapped = {"A": "B", "B": "A"}
    plain = {(row["unique_id"], row["ds"]): row for row in rows(con, world)}
    for row in rows(con, world, names=swapped):
        twin = plain[swapped[row["unique_id"]], row["ds"]]
        assert {**row, "unique_id": None} == {**twin, "unique_id": None}


@seldom
@given(openings, demands, moves)
def test_a_week_later_is_a_week_later(con, opening, wanted, moved):
    world = history(opening, wanted, moved)
    week = 7 * 86_400
    plain = rows(con, world)
    later = rows(con, world, epoch=at(week))
    assert [{**row, "ds": None} for row in plain] == [{**row, "ds": None} for row in later]
    assert all((b["ds"] - a["ds"]).total_seconds() == week for a, b in zip(plain, later))
