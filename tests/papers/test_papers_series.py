"""Rows of a daily series: lags, thirds, and columns that know nothing of their own day or a censored one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmet.papers.mobility._series import LAGS, _usual, calendar_columns, lag_columns, thirds

DAYS = np.datetime64("2024-03-04") + np.arange(60)  # a Monday
NONE = np.zeros(60, bool)


def test_lags_are_the_days_before_oldest_first():
    X = lag_columns(np.arange(10.0))
    assert X.shape == (3, 7)
    assert X[0].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert X[-1].tolist() == [2, 3, 4, 5, 6, 7, 8]


def test_thirds_follow_each_other():
    split = thirds(374)
    assert (split.train, split.validation, split.test) == (slice(0, 124), slice(124, 248), slice(248, 374))
    with pytest.raises(ValueError, match="too few"):
        thirds(8)


def test_weekends_holidays_and_what_they_usually_bring():
    holiday = NONE.copy()
    holiday[10] = True
    free = (np.arange(60) % 7 >= 5) | holiday
    X = calendar_columns(np.where(free, 300.0, 100.0), ~NONE, DAYS, holiday)
    assert X.shape == (53, 3)
    assert X[:, 0].tolist() == free[LAGS:].tolist()
    assert X[free[LAGS:], 1:].min() > 1.5 * X[~free[LAGS:], 1:].max()
    assert np.allclose(calendar_columns(np.full(60, 100.0), ~NONE, DAYS, NONE)[:, 1:], 100)


def test_usual_demand_by_hand():
    y = np.array([10.0, 20.0, 0.0, 0.0, 0.0, 40.0, 0.0, 30.0])
    exact = np.array([True, True, False, False, False, True, False, True])
    found = _usual(y, exact, np.arange(8) % 7)
    assert found[0] == 10  # nothing known: the first exact day
    assert found[1] == pytest.approx(10)
    assert found[2] == pytest.approx((30 + 15) / 3)  # two working days, and the mean of all
    assert found[6] == pytest.approx((40 + 70 / 3) / 2)  # one free day
    working = (30 + 70 / 3) / 3
    assert found[7] == pytest.approx((10 + 2 * working) / 3)  # a Monday: one before it


def test_levels_follow_the_exact_days():
    y = np.r_[np.full(30, 100.0), np.full(30, 200.0)]
    _, near, far = calendar_columns(y, ~NONE, DAYS, NONE)[32 - LAGS]
    assert near > far > 100  # two days of the new level among 7, and among 28
    exact = ~NONE
    exact[20:40] = False
    lost = y.copy()
    lost[20:40] = 1.0
    held = calendar_columns(lost, exact, DAYS, NONE)[30 - LAGS, 1:]
    assert np.allclose(held, 100)


@given(st.integers(0, 2**32 - 1), st.integers(LAGS, 59))
def test_columns_know_neither_their_day_nor_censored_values(seed, row):
    rng = np.random.default_rng(seed)
    y, exact = rng.uniform(50, 150, 60), rng.random(60) < 0.6
    exact[0] = True
    changed = np.where(exact, y, rng.uniform(0, 50, 60))
    changed[row:] = rng.uniform(1000, 2000, 60 - row)
    before = calendar_columns(y, exact, DAYS, NONE)
    after = calendar_columns(changed, exact, DAYS, NONE)
    assert np.array_equal(before[: row - LAGS + 1], after[: row - LAGS + 1])
    assert np.isfinite(before).all()
