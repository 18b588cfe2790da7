"""Placing a fleet: exact against every possible division, and the curve of fleet sizes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.planning import allocate, expected_lost, fleet_curve


def some_curves(seed, places=3, capacity=5):
    random = np.random.default_rng(seed)
    rate, returns = random.gamma(1, 2, (places, 4)), random.gamma(1, 1, (places, 4))
    return expected_lost(rate, 2.0, returns, capacity=capacity), float(rate.sum())


def cheapest(curves, fleet, docks, least):
    options = product(*(range(low, high + 1) for low, high in zip(least, docks)))
    return min(
        sum(curve[n] for curve, n in zip(curves, option)) for option in options if sum(option) == fleet
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 15))
def test_no_division_loses_less(seed, fleet):
    curves, _ = some_curves(seed)
    placed = allocate(fleet, curves)
    assert placed.sum() == fleet
    lost = curves[np.arange(3), placed].sum()
    assert lost == pytest.approx(cheapest(curves, fleet, [5, 5, 5], [0, 0, 0]), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(3, 9))
def test_docks_and_least_are_kept(seed, fleet):
    curves, _ = some_curves(seed)
    placed = allocate(fleet, curves, capacity=[2, 5, 3], least=[1, 0, 2])
    assert placed.sum() == fleet
    assert (placed >= [1, 0, 2]).all()
    assert (placed <= [2, 5, 3]).all()
    lost = curves[np.arange(3), placed].sum()
    assert lost == pytest.approx(cheapest(curves, fleet, [2, 5, 3], [1, 0, 2]), abs=1e-9)


def test_vehicles_that_save_nothing_are_spread():
    assert allocate(5, np.zeros((3, 4))).tolist() == [2, 2, 1]


@pytest.mark.parametrize("fleet", [-1, 16, 2.5])
def test_a_fleet_that_does_not_fit_is_refused(fleet):
    with pytest.raises(ValueError, match="fleet must be"):
        allocate(fleet, some_curves(1)[0])


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ([[1.0, 2.0]], "rise"),
        ([[3.0, 2.9, 1.0]], "convex"),
        ([1.0, 0.5], "shape"),
        ([[np.nan, 0.0]], "NaN"),
    ],
)
def test_curves_for_which_it_would_not_be_exact_are_refused(curves, message):
    with pytest.raises(ValueError, match=message):
        allocate(1, curves)


def test_docks_beyond_the_curves_are_refused():
    with pytest.raises(ValueError, match="curves end"):
        allocate(1, [[1.0, 0.5]], capacity=2)
    with pytest.raises(ValueError, match="least"):
        allocate(3, [[1.0, 0.5]], least=2)


def test_the_fleet_curve_is_what_allocation_loses():
    curves, demand = some_curves(4)
    found = fleet_curve(curves, demand)
    assert found["fleet"].tolist() == list(range(16))
    for fleet, lost in zip(found["fleet"], found["expected_lost"]):
        assert lost == pytest.approx(curves[np.arange(3), allocate(fleet, curves)].sum(), abs=1e-9)
    assert (np.diff(found["expected_lost"]) <= 1e-12).all()
    assert (np.diff(found["expected_lost"], n=2) >= -1e-9).all()
    assert found["service_level"] == pytest.approx(1 - found["expected_lost"] / demand)
    some = fleet_curve(curves, demand, fleets=[3, 9])
    assert (some["expected_lost"] == found["expected_lost"][[3, 9]]).all()


def test_bad_fleet_curves_are_refused():
    curves, demand = some_curves(4)
    with pytest.raises(ValueError, match="demand is less"):
        fleet_curve(curves, demand / 100)
    with pytest.raises(ValueError, match="must not exceed"):
        fleet_curve(curves, demand, fleets=[16])
