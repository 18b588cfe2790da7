"""The newsvendor's level and the stock it asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom, poisson

from unmet.planning import best_stock, expected_lost, newsvendor_level, stock_target

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def test_level_by_hand():
    assert newsvendor_level(9.0, 1.0) == pytest.approx(0.9)
    assert newsvendor_level(1.0, 1.0) == 0.5
    assert newsvendor_level(2.0, 0.0) == 1.0


@pytest.mark.parametrize("costs", [(-1.0, 1.0), (1.0, float("nan")), (float("inf"), 1.0), (0.0, 0.0)])
def test_bad_costs_are_refused(costs):
    with pytest.raises(ValueError, match="cost_"):
        newsvendor_level(*costs)


@given(st.floats(0.1, 20), st.floats(0.05, 10), st.floats(0.05, 10))
def test_the_level_gives_the_cheapest_stock(mean, lost, idle):
    """Against the cost of every stock, written out."""
    s, d = np.arange(80), np.arange(200)
    chance = poisson.pmf(d, mean)
    short = np.maximum(d - s[:, None], 0) @ chance
    over = np.maximum(s[:, None] - d, 0) @ chance
    cost = lost * short + idle * over
    at = int(poisson.ppf(newsvendor_level(lost, idle), mean))
    assert cost[at] <= cost.min() + 1e-9
    (found,) = best_stock([expected_lost([mean], capacity=79)], cost_lost=lost, cost_idle=idle)
    assert cost[found] <= cost.min() + 1e-9


def test_target_between_levels_and_at_one():
    quantiles = [0.0, 1.0, 2.0, 4.0, 6.0, 9.0, 11.0]
    assert stock_target(quantiles, LEVELS, 0.75).stock == 6
    assert stock_target(quantiles, LEVELS, 0.8).stock == 7  # 6 + ⅓ · 3, and not one more by rounding
    assert stock_target(quantiles, LEVELS, 0.81).stock == 8
    assert stock_target(quantiles, LEVELS, 0.95).stock == 11


def test_targets_of_a_count_distribution_are_its_quantiles():
    means = np.array([0.5, 3.0, 12.0])[:, None]
    quantiles = nbinom.ppf(LEVELS, 4.0, 4.0 / (4.0 + means))
    for column, level in enumerate(LEVELS):
        assert (stock_target(quantiles, LEVELS, level).stock == quantiles[:, column]).all()


def test_what_is_not_identified_is_said_and_bounded():
    quantiles = np.array(
        [
            [1.0, 2, 3, 4, 5, 6, 7],
            [1.0, 2, 3, 4, 5, np.inf, np.inf],
            [np.inf] * 7,
        ]
    )
    at = stock_target(quantiles, LEVELS, 0.9)
    assert at.identified.tolist() == [True, False, False]
    assert at.stock.tolist() == [6, 5, 0]
    between = stock_target(quantiles, LEVELS, 0.8)  # needs 0.9 as well
    assert between.identified.tolist() == [True, False, False]
    assert between.stock.tolist() == [6, 5, 0]
    below = stock_target(quantiles, LEVELS, 0.75)
    assert below.identified.tolist() == [True, True, False]


def test_a_bound_that_fills_the_place_decides_all_the_same():
    found = stock_target([1.0, 2, 3, 4, 5, np.inf, np.inf], LEVELS, 0.9, capacity=5)
    assert found.stock == 5
    assert found.identified
    assert not stock_target([1.0, 2, 3, 4, 5, np.inf, np.inf], LEVELS, 0.9, capacity=6).identified


@pytest.mark.parametrize(
    ("quantiles", "levels", "level", "message"),
    [
        ([1.0, 2.0], (0.5, 0.9), 0.95, "outside"),
        ([1.0, 2.0], (0.5, 0.9), 0.4, "outside"),
        ([2.0, 1.0], (0.5, 0.9), 0.7, "fall"),
        ([np.inf, 1.0], (0.5, 0.9), 0.7, "fall"),
        ([1.0, np.nan], (0.5, 0.9), 0.7, "NaN"),
        ([1.0, 2.0, 3.0], (0.5, 0.9), 0.7, "one column per level"),
        ([1.0, 2.0], (0.9, 0.5), 0.7, "rise"),
    ],
)
def test_bad_quantiles_are_refused(quantiles, levels, level, message):
    with pytest.raises(ValueError, match=message):
        stock_target(quantiles, levels, level)
