"""Rolling calibration: by hand, without looking ahead, and with the coverage it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmet.calibration import rolling_intervals


def test_by_hand():
    y = np.array([0.0, 5.0, 12.0, 10.0])
    low, high = np.full(4, 4.0), np.full(4, 8.0)
    # Scores below: 4, −1, −8; above: −8, −3, 4. Levels 1 − 0.5/2 = 0.75 for each end.
    found = rolling_intervals(y, low, high, coverage=0.5, window=2, least=1, rate=0)
    assert found[0].tolist() == [4.0, 8.0]  # nothing before it
    assert found[1].tolist() == [0.0, 6.0]  # n = 1: 4 and −8, the latter only to the middle
    assert found[2].tolist() == [0.0, 6.0]  # n = 2: the larger ones, 4 and −3; again to the middle
    assert found[3].tolist() == [5.0, 12.0]  # rows 1 and 2: −1 and 4


def test_the_rank_of_the_score():
    y = np.r_[np.arange(1.0, 41.0), 0.0]
    found = rolling_intervals(y, np.zeros(41), np.zeros(41), coverage=0.9, window=40, rate=0)
    assert found[-1, 1] == 39  # ⌈41 · 0.95⌉ = 39th smallest of 1 … 40


def test_rows_that_are_bounds_teach_nothing():
    y = np.array([0.0, 1e9, 5.0, 6.0])
    low, high = np.full(4, 4.0), np.full(4, 8.0)
    exact = np.array([True, False, True, True])
    found = rolling_intervals(y, low, high, exact=exact)
    assert found.tolist() == rolling_intervals(np.where(exact, y, np.nan), low, high, exact=exact).tolist()
    assert found[2].tolist() == found[1].tolist() == [0.0, 6.0]


def test_too_few_exact_rows_in_the_window_are_made_up_for_by_older_ones():
    y = np.r_[np.full(10, 20.0), np.full(10, 5.0)]
    low, high = np.full(20, 4.0), np.full(20, 8.0)
    short = rolling_intervals(y, low, high, window=3, least=1, rate=0)
    assert short[-1].tolist() == [5.0, 6.0]
    older = rolling_intervals(y, low, high, window=3, least=19, rate=0)
    assert older[-1].tolist() == [5.0, 20.0]


def test_ends_never_change_places():
    found = rolling_intervals(np.full(5, 6.0), np.full(5, 4.0), np.full(5, 8.0))
    assert found[-1].tolist() == [6.0, 6.0]
    crossed = rolling_intervals([5.0, 5.0], [6.0, 6.0], [4.0, 4.0])
    assert crossed[1].tolist() == [5.0, 5.0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 39))
def test_nothing_of_the_row_itself_or_later_is_used(seed, row):
    rng = np.random.default_rng(seed)
    y, low = rng.normal(size=40), rng.normal(-1, 0.1, 40)
    high = low + rng.uniform(0.5, 3, 40)
    exact = rng.random(40) < 0.5
    later = y.copy()
    later[row:] = rng.normal(100, 10, 40 - row)
    other = exact.copy()
    other[row:] = ~other[row:]
    before = rolling_intervals(y, low, high, exact=exact, window=12, least=5, rate=0.1)
    after = rolling_intervals(later, low, high, exact=other, window=12, least=5, rate=0.1)
    assert np.array_equal(before[: row + 1], after[: row + 1])
    assert (before[:, 0] <= before[:, 1]).all()


@pytest.mark.parametrize("rate", [0.0, 0.02])
def test_coverage_of_a_wrong_model(rate):
    rng = np.random.default_rng(3)
    y = rng.gamma(2.0, 50.0, 6000)
    found = rolling_intervals(y, np.full(6000, 90.0), np.full(6000, 110.0), rate=rate)
    inside = (y >= found[:, 0]) & (y <= found[:, 1])
    assert inside[60:].mean() == pytest.approx(0.9, abs=0.015)
    raw = (y >= 90) & (y <= 110)
    assert raw.mean() < 0.2


def test_coverage_of_a_series_that_runs_away():
    """Every day is higher than all before it: only a level that adapts can hold."""
    rng = np.random.default_rng(4)
    y = np.arange(1500) * 0.05 + rng.normal(size=1500)
    low, high = np.full(1500, -1.6), np.full(1500, 1.6)
    shares = []
    for rate in (0.0, 0.02):
        found = rolling_intervals(y, low, high, rate=rate)
        shares.append(float(np.mean(((y >= found[:, 0]) & (y <= found[:, 1]))[60:])))
    assert shares[0] < 0.8
    assert shares[1] == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"coverage": 1.0}, "coverage"),
        ({"window": 0}, "window"),
        ({"least": True}, "least"),
        ({"rate": -0.1}, "rate"),
        ({"exact": [1, 0, 1]}, "exact"),
        ({"lower": [1.0]}, "equally long"),
        ({"upper": [np.inf, 1.0, 1.0]}, "finite"),
    ],
)
def test_wrong_arguments_are_named(wrong, word):
    good = {"y": [1.0, 2.0, 3.0], "lower": [0.0] * 3, "upper": [4.0] * 3}
    with pytest.raises(ValueError, match=word):
        rolling_intervals(**{**good, **wrong})
