"""Quantile curves and their inverse; sums over days."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from unmet.forecasting._daily import calibrate_days, sum_over_days
from unmet.forecasting._level_correction import KNOTS, corrected_level, raw_level, raw_levels_by_band
from unmet.forecasting._shocks import Shocks

SCORES = special.ndtri(np.array(KNOTS))


def test_a_network_that_has_nothing_to_correct() -> None:
    levels = np.array([[1e-4, 0.05, 0.33, 0.95, 0.9999]])
    assert raw_level(SCORES[None], levels) == pytest.approx(levels, rel=1e-9)
    assert corrected_level(np.tile(SCORES, (5, 1)), levels[0]) == pytest.approx(levels[0], rel=1e-9)


def test_a_shift_by_hand() -> None:
    # The network says: the median demand lies where the base has normal score 1.
    found = raw_level(SCORES[None] + 1.0, np.array([[0.5]]))
    assert found[0, 0] == pytest.approx(special.ndtr(1.0))


@given(st.integers(0, 2**32 - 1))
def test_there_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curves = np.cumsum(rng.uniform(0.06, 1.5, size=(40, len(KNOTS))), axis=1) - 3
    levels = np.sort(rng.uniform(0.005, 0.995, size=(40, 3)), axis=1)
    raw = raw_level(curves, levels)
    assert (np.diff(raw, axis=1) >= 0).all()
    inside = (raw > 1e-6) & (raw < 1 - 1e-6)
    for k in range(3):
        back = corrected_level(curves, raw[:, k])
        assert back[inside[:, k]] == pytest.approx(levels[inside[:, k], k], abs=1e-6)


def test_levels_by_band_are_those_of_each_row() -> None:
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.uniform(0.1, 0.9, size=(50, len(KNOTS))), axis=1) - 3
    table = np.array([[0.01, 0.05, 0.5, 0.97], [0.02, 0.1, 0.6, np.inf]])
    band = rng.integers(0, 2, size=50)
    assert raw_levels_by_band(curves, band, table) == pytest.approx(raw_level(curves, table[band]), abs=1e-12)


def test_what_is_not_identified_stays_so() -> None:
    assert raw_level(SCORES[None], np.array([[0.5, np.inf]]))[0, 1] == np.inf


def test_the_variance_of_a_day() -> None:
    rng = np.random.default_rng(0)
    persistence, variance, mean = 0.7, 0.3, rng.uniform(0.5, 2.0, size=24)
    draws = 40_000
    shock = np.ones((draws, 24))
    width = np.sqrt(np.log1p(variance))
    # Correlation of log shocks that gives ordinary shocks the correlation wanted, hour by hour.
    tie = np.log1p(persistence * variance) / width**2
    z = rng.standard_normal((draws, 24))
    for hour in range(1, 24):
        z[:, hour] = tie * z[:, hour - 1] + np.sqrt(1 - tie**2) * z[:, hour]
    shock = np.exp(width * z - width**2 / 2)
    total = rng.poisson(mean * shock).sum(axis=1)
    found, shape = sum_over_days(
        mean[None], np.full((1, 24), 1 / variance), Shocks(variance, persistence), 24
    )
    assert found[0, 0] == pytest.approx(mean.sum())
    assert found[0, 0] + found[0, 0] ** 2 / shape[0, 0] == pytest.approx(total.var(), rel=0.1)


def test_days_are_calibrated_on_their_own() -> None:
    rng = np.random.default_rng(1)
    mean = rng.uniform(5, 40, size=(60, 28))
    demand = rng.poisson(mean * rng.gamma(5, 0.2, size=mean.shape))
    levels = (0.05, 0.5, 0.95)
    _, account, quantiles = calibrate_days(
        demand, np.ones(mean.shape, bool), mean, np.full_like(mean, 1e4), levels, seed=0
    )  # takes it for Poisson
    assert account["coverage"]["randomised"] == pytest.approx(0.9, abs=0.02)
    assert len(account["coverage"]["weeks"]) == 4
    assert quantiles.shape == (60 * 28, 3)
