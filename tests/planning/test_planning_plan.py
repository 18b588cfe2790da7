"""The stocking table and its parts fit together."""

import numpy as np
import pytest

from unmet.planning import allocate, best_stock, expected_lost, lost_share, plan_stock, rank_moves, roomy


@pytest.fixture
def demand():
    random = np.random.default_rng(5)
    return {"rate": random.gamma(1, 1, (8, 24)), "shape": 4.0, "returns_rate": random.gamma(1, 1, (8, 24))}


USUAL = np.array([0, 3, 5.5, 12, 1, 2, 8, 4.25])


def test_the_columns_say_what_the_parts_say(demand):
    plan = plan_stock(**demand, capacity=15, usual_stock=USUAL, fleet=40)
    curves = expected_lost(**demand, capacity=15)
    table, rows = plan.table, np.arange(8)
    assert (plan.curves == curves).all()
    assert (table["target"] == allocate(40, curves)).all()
    assert table["expected_lost_target"] == pytest.approx(curves[rows, table["target"]])
    assert table["expected_lost_usual"][1] == curves[1, 3]
    assert table["expected_lost_usual"][2] == pytest.approx(curves[2, 5:7].mean())
    assert table["rides_saved"] == pytest.approx(table["expected_lost_usual"] - table["expected_lost_target"])
    assert table["value_of_next_vehicle"][0] == pytest.approx(-np.diff(curves[0])[table["target"][0]])
    assert table["identified"].all()
    ranked = rank_moves(np.rint(USUAL), curves, target=table["target"])
    assert all((plan.moves[name] == ranked[name]).all() for name in ranked)
    assert plan.fleet["expected_lost"][40] == pytest.approx(table["expected_lost_target"].sum())


def test_who_is_served_next_door_is_not_lost(demand):
    assert lost_share({"lost": {"mean": 60.0}, "unserved": {"mean": 80.0}}) == 0.75
    assert lost_share({"lost": {"mean": 60.0}}) == 1.0
    assert lost_share({"lost": {"mean": 0.0}, "unserved": {"mean": 0.0}}) == 1.0
    every = plan_stock(**demand, capacity=15, usual_stock=USUAL, fleet=40)
    some = plan_stock(**demand, capacity=15, usual_stock=USUAL, fleet=40, lost_share=0.75)
    assert (some.table["target"] == every.table["target"]).all()
    for name in ("expected_lost_usual", "rides_saved", "value_of_next_vehicle"):
        assert some.table[name] == pytest.approx(0.75 * every.table[name])
    asked = demand["rate"].sum()
    assert some.fleet["service_level"][40] == pytest.approx(1 - some.fleet["expected_lost"][40] / asked)
    for share in (0.0, 1.5):
        with pytest.raises(ValueError, match="lost_share must be above 0"):
            plan_stock(**demand, capacity=15, usual_stock=USUAL, lost_share=share)


def test_without_a_fleet_the_costs_decide(demand):
    plan = plan_stock(**demand, capacity=15, usual_stock=USUAL, cost_lost=4.0, cost_idle=1.0)
    assert (plan.table["target"] == best_stock(plan.curves, cost_lost=4.0, cost_idle=1.0)).all()
    assert (plan.table["value_of_next_vehicle"] <= 0.2 + 1e-12).all()


def test_a_full_place_has_no_next_vehicle(demand):
    plan = plan_stock(**demand, capacity=2, usual_stock=1, fleet=16)
    assert (plan.table["target"] == 2).all()
    assert (plan.table["value_of_next_vehicle"] == 0).all()


def test_unknown_docks_get_room_that_hardly_matters(demand):
    capacity = np.full(8, 15.0)
    capacity[3] = np.nan
    plan = plan_stock(**demand, capacity=capacity, usual_stock=USUAL, fleet=40)
    room = plan.table["capacity"][3]
    assert room == roomy(demand["rate"], demand["returns_rate"], USUAL)[3]
    wider = expected_lost(demand["rate"][3], 4.0, demand["returns_rate"][3], capacity=int(room) + 30)
    assert plan.curves[3, 12] == pytest.approx(wider[12], abs=2e-3)


def test_what_is_not_identified_is_handed_through(demand):
    known = np.arange(8) != 2
    plan = plan_stock(**demand, capacity=15, usual_stock=USUAL, fleet=40, identified=known)
    assert (plan.table["identified"] == known).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": [1.0]}, "places, periods"),
        ({"usual_stock": 16}, "usual_stock must not exceed"),
        ({"usual_stock": [1, 2]}, "usual_stock must be one number or fit"),
        ({"identified": np.ones(8)}, "boolean"),
        ({"capacity": 10**9}, "capacity must be at most 100,000 docks a place, got 1,000,000,000"),
        ({"fleet": 1000}, "fleet must be"),
    ],
)
def test_bad_input_is_refused(demand, options, message):
    with pytest.raises(ValueError, match=message):
        plan_stock(**{**demand, "capacity": 15, "usual_stock": USUAL, **options})
