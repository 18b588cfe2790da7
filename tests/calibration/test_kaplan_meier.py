"""Kaplan–Meier by hand, against a plain count, and where it stops to be known."""

import numpy as np
import pytest

from unmet.calibration import kaplan_meier, randomised_pit


def test_by_hand_with_ties_between_seen_and_cut_off() -> None:
    # At 2 one was seen and one cut off: the latter counts as larger, so it is still at risk at 2.
    found = kaplan_meier([1.0, 2.0, 2.0, 3.0, 5.0], [False, False, True, True, False])
    assert found.points.tolist() == [1.0, 2.0, 5.0]
    assert found.at_risk.tolist() == [5, 4, 1]
    assert found.reached == pytest.approx([1 / 5, 1 - 4 / 5 * 3 / 4, 1.0])


def test_without_censoring_it_is_the_share_at_or_below() -> None:
    values = np.random.default_rng(1).normal(size=400)
    found = kaplan_meier(values, np.zeros(400, bool))
    for at in (-1.0, 0.0, 0.7):
        assert found(at) == pytest.approx((values <= at).mean())
    assert found(values.min() - 1) == 0.0


def test_recovers_values_cut_off_at_random() -> None:
    rng = np.random.default_rng(2)
    values, cuts = rng.uniform(size=40_000), rng.uniform(size=40_000)
    found = kaplan_meier(np.minimum(values, cuts), values > cuts)
    for level in (0.05, 0.5, 0.9):
        assert found.level(level) == pytest.approx(level, abs=0.015)
    dropped = np.quantile(values[values <= cuts], 0.5)  # what leaving them out would say
    assert dropped < 0.35


def test_not_identified_where_too_few_are_at_risk() -> None:
    values = np.arange(100) / 100
    flags = values >= 0.7
    found = kaplan_meier(values, flags)
    assert found.level(0.7) == pytest.approx(0.69)
    assert found.level(0.8) == np.inf
    assert found.level(0.6, least_at_risk=50) == np.inf
    assert found.level(0.51, least_at_risk=50) == pytest.approx(0.5)
    assert found.supported(0.65) == 35
    assert found.supported(0.9) == 0


def test_everything_cut_off() -> None:
    assert kaplan_meier([0.1, 0.2], [True, True]).level(0.05) == np.inf


@pytest.mark.parametrize(
    ("values", "flags"),
    [([1.0], [False, True]), ([np.nan, 1.0], [False, False]), ([1.0, 2.0], [0, 1])],
)
def test_refuses(values: list[float], flags: list[bool]) -> None:
    with pytest.raises(ValueError, match="values"):
        kaplan_meier(values, flags)


def test_randomised_pit_is_uniform_for_counts() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    counts = rng.poisson(0.4, size=50_000)
    law = stats.poisson(0.4)
    values = randomised_pit(
        law.cdf(counts - 1), law.pmf(counts), rng.uniform(size=counts.size), np.zeros(counts.size, bool)
    )
    assert stats.kstest(values, "uniform").statistic < 0.01


def test_randomised_pit_refuses_flags_that_are_numbers() -> None:
    with pytest.raises(ValueError, match="censored must be boolean"):
        randomised_pit([0.1], [0.1], [0.5], [1])


def test_a_weight_is_so_many_equal_rows():
    random = np.random.default_rng(0)
    values, flags = random.integers(0, 12, 60).astype(float), random.uniform(size=60) < 0.4
    counts = random.integers(1, 4, 60)
    found = kaplan_meier(values, flags, counts.astype(float))
    repeated = kaplan_meier(np.repeat(values, counts), np.repeat(flags, counts))
    assert np.array_equal(found.points, repeated.points)
    np.testing.assert_allclose(found.reached, repeated.reached, rtol=1e-12, atol=1e-15)
    assert np.array_equal(
        kaplan_meier(values, flags, np.ones(60)).reached, kaplan_meier(values, flags).reached
    )
    assert kaplan_meier([1.0], [True], np.ones(1)).points.size == 0
