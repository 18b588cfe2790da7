"""The steps of the processes: more rows, smaller steps, the same reported levels."""

import numpy as np
import pytest

from unmet import LinearCensoredQuantiles
from unmet.censoring import kaplan_meier
from unmet.estimators.linear._steps import refine_levels

COARSE = tuple(step / 100 for step in range(1, 100))


@pytest.mark.parametrize(
    ("method", "rows", "lowest", "widest", "last"),
    [
        ("portnoy", 100, 0.01, 0.01, 0.01),
        ("portnoy", 300, 0.005, 0.01, 0.01 / 3),
        ("portnoy", 10_000, 0.01 / 64, 0.01, 0.01 / 25),
        ("peng-huang", 300, 0.005, 0.01, 0.01),
        ("peng-huang", 1_000, 1 / 600, 1 / 300, 1 / 300),
        ("peng-huang", 1_000_000, 0.001 / 512, 0.001, 0.001),
    ],
)
def test_steps_by_hand(method, rows, lowest, widest, last):
    found = refine_levels((*COARSE, 0.995), method, rows)
    assert set(COARSE) < set(found)
    assert found[0] == lowest
    inside = np.diff([level for level in found if level <= 0.99])
    assert inside.max() == pytest.approx(widest)
    assert np.diff([level for level in found if 0.97 <= level <= 0.98]) == pytest.approx(
        last if method == "peng-huang" or rows < 10_000 else 0.01 / 13
    )
    assert np.diff([level for level in found if 0.98 <= level <= 0.99]) == pytest.approx(last)
    assert inside.min() >= min(last, lowest) * 0.999


def many(rows=4_000, seed=0):
    """Return values of which a quarter is cut off before the level .01, and as many again later."""
    random = np.random.default_rng(seed)
    latent = random.exponential(size=rows)
    cap = np.where(random.uniform(size=rows) < 0.25, 0.005, random.exponential(3.0, size=rows))
    return np.zeros((rows, 1)), np.minimum(latent, cap), latent > cap


@pytest.mark.parametrize(("method", "level"), [("portnoy", 0.02), ("peng-huang", 0.02), ("peng-huang", 0.9)])
def test_small_steps_follow_kaplan_and_meiers_estimate(method, level):
    X, y, censored = many()
    truth = kaplan_meier(y, censored).level(level)
    settings = {"method": method, "quantiles": (level,)}
    fine, coarse = (
        LinearCensoredQuantiles(grid=grid, **settings).fit(X, y, censored=censored).intercept_[0]
        for grid in (None, COARSE)
    )
    assert abs(fine - truth) < 0.015 * truth
    assert abs(fine - truth) < 0.5 * abs(coarse - truth)


@pytest.mark.parametrize("method", ["portnoy", "peng-huang"])
def test_inner_steps_are_not_reported_and_a_grid_of_your_own_has_none(method):
    random = np.random.default_rng(1)
    X = random.normal(size=(1_000, 1))
    latent, cap = X[:, 0] + random.normal(size=1_000), 1.0 + random.normal(size=1_000)
    seen = {"y": np.minimum(latent, cap), "censored": latent > cap}
    model = LinearCensoredQuantiles(method=method, quantiles=(0.25, 0.333), n_bootstrap=3, random_state=0)
    model.fit(X, **seen)
    assert set(model.levels_) <= {*COARSE, 0.333}
    inner = refine_levels((*COARSE, 0.333), method, 1_000)
    same = LinearCensoredQuantiles(method=method, quantiles=(0.25, 0.333), grid=inner).fit(X, **seen)
    assert np.array_equal(same.coef_, model.coef_)
    assert same.levels_[0] == inner[0]
    assert np.isfinite(model.bootstrap_).all()
    own = LinearCensoredQuantiles(method=method, quantiles=(0.25,), grid=COARSE).fit(X, **seen)
    assert own.levels_[0] == 0.01
