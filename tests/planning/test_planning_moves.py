"""Moves: the best first, what they save, and where they lead."""

from itertools import product

import numpy as np
import pytest

from unmet.planning import allocate, distances_km, expected_lost, rank_moves


@pytest.fixture
def curves():
    random = np.random.default_rng(3)
    rate, returns = random.gamma(1, 2, (6, 4)), random.gamma(1, 1, (6, 4))
    return expected_lost(rate, 2.0, returns, capacity=9)


STOCK = np.array([9, 0, 4, 1, 7, 0])


def after(stock, moves):
    stock = stock.copy()
    for source, sink, many in zip(moves["from"], moves["to"], moves["vehicles"]):
        stock[source] -= many
        stock[sink] += many
        assert stock.min() >= 0
    return stock


def lost(curves, stock):
    return curves[np.arange(len(stock)), stock].sum()


def test_savings_add_up_and_the_fleet_stays(curves):
    moves = rank_moves(STOCK, curves)
    then = after(STOCK, moves)
    assert then.sum() == STOCK.sum()
    assert lost(curves, STOCK) - lost(curves, then) == pytest.approx(moves["rides_saved"].sum())
    assert (moves["rides_saved"] >= 0.05).all()
    assert len(moves["from"]) > 2


def test_the_first_move_is_the_best_of_all(curves):
    moves = rank_moves(STOCK, curves, van=3, moves=1)
    best = 0.0
    for source, sink, many in product(range(6), range(6), range(1, 4)):
        if source != sink and STOCK[source] >= many and STOCK[sink] + many <= 9:
            stock = STOCK.copy()
            stock[source] -= many
            stock[sink] += many
            best = max(best, lost(curves, STOCK) - lost(curves, stock))
    assert moves["rides_saved"] == pytest.approx([best])
    assert moves["vehicles"][0] <= 3


def test_moves_lead_to_the_best_allocation(curves):
    moves = rank_moves(STOCK, curves, least_saved=1e-9, moves=500)
    best = lost(curves, allocate(STOCK.sum(), curves))
    assert lost(curves, after(STOCK, moves)) == pytest.approx(best, abs=1e-6)


def test_no_place_gives_what_it_was_brought(curves):
    """With more vehicles than there are, places stay below their targets: what comes there stays there."""
    target = allocate(int(1.3 * STOCK.sum()), curves)
    moves = rank_moves(STOCK, curves, target=target, least_saved=1e-9, moves=500)
    assert len(moves["from"])
    assert not set(moves["from"].tolist()) & set(moves["to"].tolist())
    short = target > STOCK
    assert (after(STOCK, moves)[short] <= target[short]).all()
    assert (after(STOCK, moves)[~short] >= target[~short]).all()


def test_moves_towards_targets_reach_them_and_use_each_place_one_way(curves):
    target = allocate(STOCK.sum(), curves)
    moves = rank_moves(STOCK, curves, target=target, least_saved=1e-9, moves=500)
    np.testing.assert_array_equal(after(STOCK, moves), target)
    assert not set(moves["from"]) & set(moves["to"])


def test_moves_one_vehicle_at_a_time_never_save_more_than_the_move_before(curves):
    saved = rank_moves(STOCK, curves, van=1, least_saved=1e-9)["rides_saved"]
    assert (np.diff(saved) <= 1e-9).all()


def test_distance_prefers_what_is_near(curves):
    distance = np.full((6, 6), 10.0)
    distance[4, 1] = distance[0, 1] = 0.0
    free = rank_moves(STOCK, curves)
    dear = rank_moves(STOCK, curves, distance=distance, cost_of_distance=100.0)
    assert set(dear["to"].tolist()) == {1}
    assert len(free["to"]) > len(dear["to"])
    same = rank_moves(STOCK, curves, distance=distance)
    assert all((same[name] == free[name]).all() for name in free)


def test_docks_are_kept(curves):
    moves = rank_moves(np.minimum(STOCK, 4), curves, capacity=4)
    assert after(np.minimum(STOCK, 4), moves).max() <= 4


def test_nothing_to_gain_gives_an_empty_list():
    moves = rank_moves([2, 2], np.zeros((2, 5)))
    assert [len(column) for column in moves.values()] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stock": 10}, "stock must not exceed"),
        ({"van": 0}, "van must be"),
        ({"least_saved": 0.0}, "least_saved"),
        ({"cost_of_distance": 1.0}, "needs distance"),
        ({"distance": np.zeros((2, 2))}, "distance must have the shape"),
    ],
)
def test_bad_input_is_refused(curves, options, message):
    with pytest.raises(ValueError, match=message):
        rank_moves(**{"stock": STOCK, "curves": curves, **options})


def test_no_move_goes_further_than_allowed(curves):
    free = rank_moves(STOCK, curves)
    lat = np.where(np.arange(6) == free["to"][0], 45.0, 40.0)
    distance = distances_km(lat, np.full(6, -74.0))
    near = rank_moves(STOCK, curves, distance=distance, max_distance=20.0)
    assert not (distance[near["from"], near["to"]] > 20).any()
    assert 0 < near["rides_saved"].sum() < free["rides_saved"].sum()
    distance[:] = np.nan  # unknown
    again = rank_moves(STOCK, curves, distance=distance, max_distance=20.0)
    assert (again["to"] == free["to"]).all()
    with pytest.raises(ValueError, match="max_distance needs distance"):
        rank_moves(STOCK, curves, max_distance=1.0)
