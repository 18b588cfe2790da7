"""Rows of a daily series: lags, thirds, and columns that know nothing of their own day or a censored one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmet.papers.mobility._series import LAGS, calendar_columns, lag_columns, thirds

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


def test_weekday_and_holiday_columns():
    holiday = NONE.copy()
    holiday[10] = True
    X = calendar_columns(np.full(60, 100.0), ~NONE, DAYS, holiday)
    assert X.shape == (53, 6 + 1 + 3)
    assert X[0, :6].tolist() == [0] * 6  # row 7 is a Monday again
    assert X[1, :6].tolist() == [1, 0, 0, 0, 0, 0]
    assert X[6, :6].tolist() == [0, 0, 0, 0, 0, 1]
    assert X[3, 6] == 1
    assert X[:, 6].sum() == 1
    assert np.allclose(X[:, 7:], 100)
    assert calendar_columns(np.full(60, 1.0), ~NONE, DAYS, NONE).shape == (53, 9)


def test_levels_follow_the_exact_days():
    y = np.r_[np.full(30, 100.0), np.full(30, 200.0)]
    X = calendar_columns(y, ~NONE, DAYS, NONE)
    last, week, month = X[30 + 1 - LAGS, 6:]
    assert last > week > month  # one day of the new level, seen by all three, most by the last day
    exact = ~NONE
    exact[20:40] = False
    lost = y.copy()
    lost[20:40] = 1.0
    held = calendar_columns(lost, exact, DAYS, NONE)[30 - LAGS, 6:]
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
