"""Metrics: hand-computed values, groups of rows, refused input."""

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import unmet.metrics as metrics
from unmet.metrics import by_censoring, crossing_loss, crossings, icp, mae, mil, r2, rmse, tilted_loss

Y = np.array([1.0, 2.0, 3.0, 4.0])
CENSORED = np.array([False, False, True, True])


@pytest.mark.parametrize("name", ["_errors", "_groups", "_intervals", "_quantiles"])
def test_documented_examples(name):
    result = doctest.testmod(getattr(metrics, name))
    assert result.failed == 0
    assert result.attempted > 0


def test_coverage_counts_both_ends():
    assert icp(Y, [1.0, 2.5, 0.0, 5.0], [1.0, 9.0, 3.0, 3.0]) == 0.5
    assert icp(Y, np.full(4, -np.inf), np.full(4, np.inf)) == 1.0


def test_length_is_a_mean_of_absolute_differences():
    assert mil([0.0, 3.0], [2.0, 2.0]) == 1.5


def test_tilted_loss_by_hand():
    # θ = 0.25: r = 1, −1 → 0.25, 0.75. θ = 0.75: r = 0, −2 → 0, 0.5.
    y, quantiles = [2.0, 1.0], [[1.0, 2.0], [2.0, 3.0]]
    assert tilted_loss(y, quantiles, [0.25, 0.75], reduce="sum") == 1.5
    assert tilted_loss(y, quantiles, [0.25, 0.75]) == 0.375
    assert tilted_loss(y, [1.0, 2.0], 0.25) == 0.5


def test_crossings_count_ties_unless_strict():
    Q = [[1.0, 2.0, 2.0], [3.0, 1.0, 0.5], [1.0, 2.0, 3.0]]
    assert crossings(Q) == 3
    assert crossings(Q, strict=True) == 2
    assert crossing_loss(Q) == 2.5
    assert crossing_loss(Q, reduce="mean") == pytest.approx(2.5 / 6)


def test_errors_by_hand():
    estimate, truth = [1.0, 2.0, 3.0, 8.0], Y
    assert mae(estimate, truth) == 1.0
    assert rmse(estimate, truth) == 2.0
    assert r2(estimate, truth) == pytest.approx(1 - 16 / 5)
    assert r2(truth, truth) == 1.0
    assert mae(np.ones((2, 3)), np.zeros((2, 3))) == 1.0


@pytest.mark.parametrize(
    ("metric", "arrays", "options"),
    [
        (icp, (Y, Y - 1, np.array([5.0, 1.0, 9.0, 2.0])), {}),
        (icp, (Y, Y - 0.5, Y + 0.75), {"randomised": True}),
        (mil, (Y, Y**2), {}),
        (tilted_loss, (Y, np.stack([Y - 1, Y**2], 1)), {"thetas": [0.1, 0.9]}),
        (crossings, (np.stack([Y, Y[::-1]], 1),), {}),
        (crossing_loss, (np.stack([Y, Y[::-1]], 1),), {}),
        (mae, (Y**2, Y), {}),
        (rmse, (Y**2, Y), {}),
        (r2, (Y**2, Y), {}),
    ],
)
def test_every_metric_by_groups_equals_the_metric_of_the_group_alone(metric, arrays, options):
    result = by_censoring(metric, CENSORED, *arrays, **options)
    assert list(result) == ["all", "uncensored", "censored"]
    assert result["all"] == metric(*arrays, **options)
    assert result["uncensored"] == metric(*(array[:2] for array in arrays), **options)
    assert result["censored"] == metric(*(array[2:] for array in arrays), **options)
    assert all(type(value) is float for value in result.values())


def test_a_group_without_rows_is_nan():
    result = by_censoring(mae, np.zeros(4, bool), Y, Y + 1)
    assert result["all"] == result["uncensored"] == 1.0
    assert np.isnan(result["censored"])


def test_randomised_coverage_by_hand():
    # y + U runs over [1, 2] and [2, 3]; [1.25, 2.5] takes in 0.75 of the first and 0.5 of the second.
    assert icp([1, 2], [1.25, 1.25], [2.5, 2.5], randomised=True) == pytest.approx(0.625)
    assert icp([5], [1.0], [2.0], randomised=True) == 0.0
    assert icp([1], [2.0], [1.0], randomised=True) == 0.0
    assert icp([1], [-np.inf], [np.inf], randomised=True) == 1.0


@pytest.mark.parametrize("mean", [0.8, 4.0, 20.0])
def test_randomised_coverage_is_nominal_for_the_true_quantiles_of_counts(mean):
    """Weighting each count by its probability gives the exact coverage: 0.9, where the plain one is above."""
    counts = np.arange(0, 200)
    chance = stats.poisson.pmf(counts, mean)

    def jittered_quantile(theta):
        whole = stats.poisson.ppf(theta, mean)
        return whole + (theta - stats.poisson.cdf(whole - 1, mean)) / stats.poisson.pmf(whole, mean)

    low, high = jittered_quantile(0.05), jittered_quantile(0.95)
    covered = [icp([count], [low], [high], randomised=True) for count in counts]
    assert np.dot(chance, covered) == pytest.approx(0.9, abs=1e-9)
    plain = stats.poisson.cdf(stats.poisson.ppf(0.95, mean), mean) - stats.poisson.cdf(
        stats.poisson.ppf(0.05, mean) - 1, mean
    )
    assert plain > 0.91


def test_one_drawn_jitter_agrees_with_the_average_over_jitters():
    random = np.random.default_rng(0)
    y = random.poisson(2.0, 100_000).astype(float)
    low, high = np.full(y.size, 0.3), np.full(y.size, 4.4)
    drawn = icp(y, low, high, randomised=True, rng=np.random.default_rng(1))
    assert drawn == pytest.approx(icp(y, low, high, randomised=True), abs=0.005)
    assert drawn == icp(y, low, high, randomised=True, rng=np.random.default_rng(1))


@settings(deadline=None)
@given(
    hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.integers(-3, 3).map(float))
)
def test_sorted_quantiles_never_cross_and_crossings_agree(Q):
    assert crossings(np.sort(Q, axis=1), strict=True) == 0
    assert crossing_loss(np.sort(Q, axis=1)) == 0
    assert crossings(Q, strict=True) <= crossings(Q)
    assert (crossing_loss(Q) > 0) == (crossings(Q, strict=True) > 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: icp(Y, Y[:3], Y), r"same shape.*lower \(3,\)"),
        (lambda: icp([np.nan], [0.0], [1.0]), "y has NaN"),
        (lambda: icp([1.0], [np.nan], [1.0]), "lower has NaN"),
        (lambda: icp([1.5], [0.0], [1.0], randomised=True), "y must hold whole numbers"),
        (lambda: icp([1.0], [0.0], [1.0], rng=np.random.default_rng(0)), "rng"),
        (lambda: icp(1.0, 0.0, 2.0), "one entry per row"),
        (lambda: icp([], [], []), "no rows"),
        (lambda: mil([0.0], [np.inf]), "upper must be finite"),
        (lambda: mil(["a"], [1.0]), "lower must be numeric"),
        (lambda: tilted_loss(Y, np.ones((4, 2)), [0.5]), "quantile_values"),
        (lambda: tilted_loss(Y, np.ones((2, 4)), [0.1, 0.9]), "quantile_values"),
        (lambda: tilted_loss(Y, Y, 1.0), "thetas"),
        (lambda: tilted_loss(Y, Y, 0.5, reduce="max"), "reduce"),
        (lambda: crossings([1.0, 2.0]), "Q must have shape"),
        (lambda: crossing_loss([[1.0]]), "Q must have shape"),
        (lambda: crossing_loss([[1.0, np.nan]]), "Q has NaN"),
        (lambda: mae(Y, Y[:, None]), "same shape"),
        (lambda: r2(Y, np.ones(4)), "truth is constant"),
        (lambda: mae(Y, Y, rows=[0, 1]), "rows must be a boolean mask"),
        (lambda: mae(Y, Y, rows=np.ones(3, bool)), "rows must be a boolean mask of length 4"),
        (lambda: mae(Y, Y, rows=np.zeros(4, bool)), "rows selects none"),
        (lambda: by_censoring(mae, [0, 1, 0, 1], Y, Y), "censored must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
