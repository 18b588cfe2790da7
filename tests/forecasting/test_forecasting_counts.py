"""Negative-binomial counts against SciPy, and quantiles of count + U against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unmet.forecasting._counts import count_quantiles, count_step


def law(mean: float, shape: float) -> stats.rv_discrete:
    return stats.nbinom(shape, shape / (shape + mean))


@pytest.mark.parametrize(("mean", "shape"), [(0.01, 4.0), (1.3, 0.5), (12.0, 30.0), (300.0, 2.0)])
def test_steps_agree_with_scipy(mean: float, shape: float) -> None:
    counts = np.array([0.0, 1.0, 5.0, 40.0, 300.0])
    below, mass = count_step(counts, mean, shape)
    assert below == pytest.approx(law(mean, shape).cdf(counts - 1), abs=1e-12)
    assert mass == pytest.approx(law(mean, shape).pmf(counts), rel=1e-9, abs=1e-300)


@given(
    mean=st.floats(1e-3, 500),
    shape=st.floats(0.05, 1e4),
    level=st.floats(0.001, 0.999),
)
def test_quantile_of_count_plus_uniform(mean: float, shape: float, level: float) -> None:
    value = count_quantiles([[level]], [mean], [shape])[0, 0]
    whole = np.floor(value)
    below, mass = law(mean, shape).cdf(whole - 1), law(mean, shape).pmf(whole)
    assert below + (value - whole) * mass == pytest.approx(level, abs=1e-7)


def test_rows_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(0)
    mean, shape = rng.gamma(1, 30, size=300), rng.gamma(2, 3, size=300) + 0.1
    levels = np.sort(rng.uniform(size=(300, 3)), axis=1)
    together = count_quantiles(levels, mean, shape)
    assert (np.diff(together, axis=1) >= 0).all()
    for row in (0, 17, 299):
        alone = count_quantiles(levels[row : row + 1], mean[row : row + 1], shape[row : row + 1])[0]
        assert alone == pytest.approx(together[row], abs=1e-6)


def test_levels_that_are_not_identified_stay_so() -> None:
    found = count_quantiles([[0.5, np.inf], [np.inf, np.inf]], [1.0, 200.0], [4.0, 4.0])
    assert np.isfinite(found).tolist() == [[True, False], [False, False]]


def test_levels_near_one_end() -> None:
    assert np.isfinite(count_quantiles([[1.0, 1 - 1e-12]], [3.0], [4.0])).all()
