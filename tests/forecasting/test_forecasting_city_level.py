"""The level that all places share: found where it lasts, not invented where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting._city_level import STEADY, day_of, estimate_city, follow_city
from unmet.forecasting._grid import make_grid
from unmet.forecasting._parametric import fit_parametric, look_ahead, look_back
from unmet.forecasting._shocks import Shocks


def test_days_begin_at_the_origin() -> None:
    assert day_of(6, 3, 3).tolist() == [0, 0, 0, 1, 1, 1]
    assert day_of(6, 5, 3).tolist() == [0, 0, 1, 1, 1, 2]
    assert day_of(4, 4, 1).tolist() == [0, 1, 2, 3]


def test_a_level_is_foreseen_from_the_days_before_only() -> None:
    own, expected, day = np.full((2, 6), 10.0), np.full((2, 6), 5.0), day_of(6, 6, 2)
    found = follow_city(Shocks(0.04, 0.9), own, expected, day)
    assert found.mean[:2] == pytest.approx([1.0, 1.0])
    # A day of 40 where 20 were expected: gamma(25, 25) becomes gamma(65, 45).
    assert found.after[0] == pytest.approx(65 / 45)
    assert found.mean[2] == pytest.approx(1 + 0.9 * (65 / 45 - 1))
    assert found.last[0] > found.mean[-1]


def levels(seed: int, memory: float, width: float, days: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    z = np.zeros(days)
    for day in range(1, days):
        z[day] = memory * z[day - 1] + np.sqrt(1 - memory**2) * rng.standard_normal()
    return np.exp(width * z)


@pytest.mark.parametrize(("memory", "width"), [(0.0, 0.0), (0.85, 0.4)])
def test_memory_is_found_or_not_invented(memory: float, width: float) -> None:
    rng = np.random.default_rng(1)
    level = levels(0, memory, width)
    day = day_of(60 * 24, 60 * 24, 24)
    expected = np.full((10, 60 * 24), 1.5)
    own = rng.poisson(expected * level[day] * rng.gamma(4, 0.25, size=expected.shape)).astype(float)
    found = estimate_city(own, expected, day)
    if memory:
        assert 0.5 < found.persistence < 0.98
        assert 0.04 < found.variance < 0.6
    else:
        assert found == STEADY


def test_forecasts_follow_a_level_that_lasts() -> None:
    toy = make_toy(places=10, days=42, seed=4, short=0.2)
    grid = make_grid(toy.panel)
    level = np.repeat(np.where(np.arange(42) < 28, 1, 2), 24)
    doubled = replace(grid, y=np.where(level == 2, 2 * grid.y, grid.y))
    model = fit_parametric(grid.until(28 * 24))
    lasting = replace(model, city=Shocks(0.1, 0.9))
    mean, shape = look_ahead(lasting, look_back(lasting, doubled), 35 * 24, 42 * 24, 24)
    plain, _ = look_ahead(model, look_back(model, grid), 35 * 24, 42 * 24, 24)
    assert 1.7 < mean.sum() / plain.sum() < 2.1
    assert (shape > 0).all()
