"""Coverage is told only of intervals that have two ends."""

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import fit_demand
from unmet.forecasting._backtest import Backtest
from unmet.forecasting._calibrate import calibrate
from unmet.forecasting._counts import count_step
from unmet.forecasting._grid import Grid, make_grid
from unmet.mobility import Panel

LEVELS = (0.05, 0.5, 0.95)


def backtest_of(counts: np.ndarray, censored: np.ndarray) -> tuple[Grid, Backtest]:
    """A forecast that is right: Poisson 6 at every place and hour of the last three weeks."""
    grid = make_grid(make_toy(places=4, days=28).panel)
    first, shape = grid.y.shape[1] - counts.shape[1], counts.shape
    flags = np.zeros(grid.censored.shape, bool)
    flags[:, first:] = censored
    object.__setattr__(grid, "censored", flags & grid.known)
    mean, form = np.full(shape, 6.0), np.full(shape, 1e9)
    below, mass = count_step(counts, mean, form)
    uniform = np.random.default_rng(3).uniform(size=shape)
    test = Backtest(first, counts, mean, form, below, mass, uniform, np.zeros(shape[1]), {})
    return grid, test


@pytest.fixture
def demand() -> np.ndarray:
    return np.random.default_rng(2).poisson(6.0, size=(4, 21 * 24)).astype(float)


def test_everything_is_seen(demand):
    found = calibrate(*backtest_of(demand, np.zeros(demand.shape, bool)), None, LEVELS).account["coverage"]
    assert found["randomised"] == pytest.approx(0.9, abs=0.02)
    assert found["uncensored_rows"] == pytest.approx(0.9, abs=0.02)


def test_without_upper_ends_no_coverage_is_told(demand):
    """Whatever exceeds 3 was cut off there: the median is not identified, still less the upper end."""
    found = calibrate(*backtest_of(np.minimum(demand, 3.0), demand >= 3), None, LEVELS)
    assert np.isinf(found.used[:, 1:]).all()
    account = found.account["coverage"]
    for name in ("randomised", "plain", "lower_tail", "upper_tail", "uncensored_rows"):
        assert account[name] is None
    assert account["weeks"] == [None, None, None]
    low, middle, high = (one["after"] for one in account["levels"])
    assert low == pytest.approx(0.05, abs=0.02)
    assert middle is None
    assert high is None


def test_a_panel_whose_every_row_ran_out_is_fitted():
    """No upper end is identified, and there is no model that drops all rows to compare with."""
    panel = make_toy(places=2, days=15).panel
    columns = {**panel.columns, "censored": np.ones(len(panel), bool)}
    model = fit_demand(Panel(columns, panel.about), networks=("linear",))
    assert [row["model"] for row in model.measures if "dropped" in row["model"]] == []
    assert np.isfinite(model.lost_total()["lost"]["mean"])
    assert model.calibration["coverage"]["randomised"] is None
    assert np.isinf(model.forecast(24)["q95"]).all()
