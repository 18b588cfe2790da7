"""Expected lost rides against closed forms, matrix exponentials and simulation."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.stats import nbinom, poisson

from unmet.planning import balanced_returns, best_stock, expected_lost, value_of_vehicles
from unmet.planning._mixing import gamma_nodes


def shortfall(chance, states):
    """E(D − s)⁺ for s = 0 … states − 1."""
    return np.maximum(np.arange(len(chance)) - np.arange(states)[:, None], 0) @ chance


def by_matrices(rate, returns, capacity):
    """The same for Poisson demand by dense matrix exponentials: one linear system for all stocks."""
    curve = np.zeros(capacity + 1)
    for demand, back in reversed(list(zip(rate, returns))):
        q = np.zeros((capacity + 2, capacity + 2))
        for s in range(capacity + 1):
            if s:
                q[s, s - 1] += demand
                q[s, s] -= demand
            else:
                q[s, -1] += demand  # reward per time, carried by a state that is always 1
            if s < capacity:
                q[s, s + 1] += back
                q[s, s] -= back
        curve = (expm(q) @ np.append(curve, 1.0))[:-1]
    return curve


def test_poisson_without_returns_is_the_newsvendors_shortfall():
    rate = np.array([0.3, 2.0, 0.0, 5.0])
    closed = shortfall(poisson.pmf(np.arange(150), rate.sum()), 31)
    assert expected_lost(rate, capacity=30) == pytest.approx(closed, abs=1e-9)


@pytest.mark.parametrize("shape", [0.7, 2.0, 4.0, 50.0])
@pytest.mark.parametrize("mean", [0.2, 2.0, 8.0, 20.0])
def test_negative_binomial_without_returns(mean, shape):
    closed = shortfall(nbinom.pmf(np.arange(3000), shape, shape / (shape + mean)), 61)
    close = 2e-3 if mean < 18 * shape else 1e-2  # 40 points at most
    assert expected_lost([mean], shape, capacity=60) == pytest.approx(closed, abs=close)
    if mean <= 8.0:
        finer = expected_lost([mean], shape, capacity=60, nodes=60)
        assert finer == pytest.approx(closed, abs=1e-5)


def test_factors_are_fresh_each_period():
    """Two periods: the convolution of two negative binomials, not one with the same factor."""
    n = np.arange(400)
    one, two = nbinom.pmf(n, 2.0, 2.0 / 5.0), nbinom.pmf(n, 6.0, 6.0 / 7.0)
    closed = shortfall(np.convolve(one, two), 21)
    assert expected_lost([3.0, 1.0], [2.0, 6.0], capacity=20, nodes=20) == pytest.approx(closed, abs=1e-6)


@pytest.mark.parametrize("capacity", [0, 1, 2, 9])
def test_returns_and_docks_against_matrix_exponentials(capacity):
    rate, returns = [0.5, 6.0, 0.0, 1.5], [2.0, 0.0, 3.0, 1.5]
    found = expected_lost(rate, np.inf, returns, capacity=capacity)
    assert found == pytest.approx(by_matrices(rate, returns, capacity), abs=1e-9)


def test_fast_streams_go_in_sub_steps():
    rate, returns = [180.0, 20.0], [150.0, 70.0]
    found = expected_lost(rate, np.inf, returns, capacity=25)
    assert found == pytest.approx(by_matrices(rate, returns, 25), rel=1e-8)


def test_places_of_different_size_do_not_touch_each_other():
    random = np.random.default_rng(1)
    rate, returns = random.gamma(1.0, 2.0, (500, 3)), random.gamma(1.0, 2.0, (500, 3))
    capacity = random.integers(0, 15, 500)
    together = expected_lost(rate, 3.0, returns, capacity=capacity)
    for place in (0, 7, 499):
        alone = expected_lost(rate[place], 3.0, returns[place], capacity=capacity[place])
        assert together[place, : capacity[place] + 1] == pytest.approx(alone, abs=1e-9)
        assert (together[place, capacity[place] :] == together[place, capacity[place]]).all()
    stock = capacity // 2
    chosen = expected_lost(rate, 3.0, returns, stock, capacity=capacity)
    assert (chosen == together[np.arange(500), stock]).all()


def test_against_simulation_of_single_requests():
    """Requests and returns drawn one by one, in order of time, for a rush hour with returns and few docks."""
    rate, shape, returns, capacity = [1.0, 5.0, 3.0], 2.0, [0.5, 2.0, 4.0], 8
    curve = expected_lost(rate, shape, returns, capacity=capacity, nodes=12)
    random = np.random.default_rng(7)
    runs = 40_000
    for start in (0, 3, 8):
        stock, lost = np.full(runs, start), np.zeros(runs)
        for demand, back in zip(rate, returns):
            out = random.poisson(demand * random.gamma(shape, 1.0 / shape, runs))
            into = random.poisson(back, runs)
            for _ in range(int((out + into).max())):
                left = out + into
                leaving = random.random(runs) * left < out  # any order of the events is as likely
                happens = left > 0
                go, come = happens & leaving, happens & ~leaving
                lost += go & (stock == 0)
                stock = np.where(
                    go, np.maximum(stock - 1, 0), np.where(come, np.minimum(stock + 1, capacity), stock)
                )
                out, into = out - go, into - come
        assert abs(lost.mean() - curve[start]) < 4.0 * lost.std() / np.sqrt(runs)


streams = st.lists(st.tuples(st.floats(0, 12), st.floats(0, 12), st.floats(0.5, 20)), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(streams, st.integers(1, 25))
def test_curves_fall_and_are_convex_and_no_vehicle_saves_more_than_one_ride(stream, capacity):
    rate, returns, shape = map(np.array, zip(*stream))
    curve = expected_lost(rate, shape, returns, capacity=capacity)
    worth = -np.diff(curve)
    assert (worth >= -1e-12 * (1 + curve[0])).all()
    assert (worth <= 1 + 1e-9).all()
    assert (np.diff(worth) <= 1e-9).all()
    assert 0 <= curve[-1] <= curve[0] <= rate.sum() * (1 + 1e-9)
    exact = value_of_vehicles([curve])
    assert (np.diff(exact) <= 0).all()
    assert exact[0] == pytest.approx(worth, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(streams, st.floats(0.1, 5.0))
def test_more_demand_loses_more_and_more_returns_lose_less(stream, more):
    rate, returns, shape = map(np.array, zip(*stream))
    base = expected_lost(rate, shape, returns, capacity=12)
    assert (expected_lost(rate + more, shape, returns, capacity=12) >= base - 1e-9).all()
    assert (expected_lost(rate, shape, returns + more, capacity=12) <= base + 1e-9).all()


def test_no_demand_loses_nothing_and_no_docks_lose_everything():
    assert (expected_lost(np.zeros((2, 3)), capacity=[4, 2]) == 0).all()
    assert expected_lost([2.0, 3.0], 5.0, 1.0, capacity=0) == pytest.approx([5.0])


def test_over_dispersion_loses_more():
    plain, spread = (expected_lost([4.0, 4.0], shape, 3.0, capacity=10) for shape in (np.inf, 2.0))
    assert (spread[1:] > plain[1:]).all()


@pytest.mark.parametrize("shape", [0.3, 1.0, 4.0, 1e3, 1e9])
def test_nodes_match_the_moments_of_the_gamma(shape):
    nodes, weights = gamma_nodes(np.array([shape]), 5)
    moment = 1.0
    for power in range(1, 10):
        moment *= (shape + power - 1) / shape
        assert (weights * nodes**power).sum() == pytest.approx(moment, rel=1e-9)


def test_nodes_of_an_infinite_shape_are_one():
    nodes, weights = gamma_nodes(np.array([[np.inf, 2.0]]), 4)
    assert nodes.shape == weights.shape == (1, 2, 4)
    assert (nodes[0, 0] == 1).all()


def test_best_stock_is_the_cheapest_by_the_stated_cost():
    random = np.random.default_rng(2)
    curves = expected_lost(random.gamma(1, 2, (30, 5)), 3.0, random.gamma(1, 2, (30, 5)), capacity=20)
    best = best_stock(curves, cost_lost=2.0, cost_idle=0.5)
    idle = np.arange(21) - (curves[:, :1] - curves)
    cost = 2.0 * curves + 0.5 * idle
    assert cost[np.arange(30), best] == pytest.approx(cost.min(axis=1))
    assert (best_stock(curves, cost_lost=2.0, cost_idle=0.5, capacity=3) == np.minimum(best, 3)).all()
    assert 0 < best.mean() < 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": [-1.0]}, "rate must not be negative"),
        ({"rate": [np.nan]}, "rate has NaN"),
        ({"rate": [np.inf]}, "rate must be finite"),
        ({"rate": []}, "rate must have the shape"),
        ({"rate": 1.0}, "rate must have the shape"),
        ({"shape": 0.0}, "shape must be positive"),
        ({"shape": [1.0, 2.0]}, "shape must be one number or fit"),
        ({"returns_rate": [1.0, 2.0]}, "returns_rate must be one number or fit"),
        ({"capacity": 2.5}, "capacity must be whole"),
        ({"capacity": [2, 3]}, "capacity must be one number or fit"),
        ({"stock": 9}, "stock must not exceed"),
        ({"nodes": 0}, "nodes must be"),
        ({"rate": "many"}, "rate must be numeric"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        expected_lost(**{"rate": [1.0], "capacity": 5, **arguments})


@pytest.mark.slow
def test_a_thousand_places_take_seconds():
    random = np.random.default_rng(0)
    rate = random.gamma(1.0, 1.5, (1000, 24))
    begin = time.process_time()
    expected_lost(rate, 4.0, np.roll(rate, 3, axis=1), capacity=60)
    assert time.process_time() - begin < 5.0


def test_returns_balance_the_rides():
    rate = np.array([[1.0, 2.0, 0.5], [3.0, 0.0, 0.5]])
    usual = np.array([[1.0, 0.0, 0.0], [1.0, 5.0, 0.0]])
    found = balanced_returns(rate, usual, served=0.5)
    assert found == pytest.approx(np.array([[1.0, 0.0, 0.25], [1.0, 1.0, 0.25]]))
    assert balanced_returns(rate, usual).sum() == pytest.approx(rate.sum())
    with pytest.raises(ValueError, match="served"):
        balanced_returns(rate, usual, served=1.5)
    with pytest.raises(ValueError, match="places, periods"):
        balanced_returns(rate, usual[:, :2])
