"""What is known ahead: holidays by the calendar, given covariates, the usual effect of the others."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import Toy, make_toy

from unmet.calendar import is_holiday
from unmet.forecasting import DemandModel, fit_demand, load_demand
from unmet.forecasting._ahead import RecentEffects
from unmet.mobility import Panel

WASHINGTON = np.datetime64("2024-02-19T00:00", "us")  # a Monday, 15 days after the toy ends


@pytest.fixture(scope="module")
def toy() -> Toy:
    """On 1 and 15 January only three in ten wanted rides."""
    made = make_toy(places=16, days=35)
    columns = dict(made.panel.columns)
    off = is_holiday(columns["ds"], "UTC", "US")
    assert off.sum() == 16 * 48
    kept = np.random.default_rng(1).binomial(columns["y"].astype(int), 0.3)
    columns["y"] = np.where(off, kept, columns["y"])
    columns["holiday"] = off
    return replace(made, panel=Panel(columns, {**made.panel.about, "zone": "UTC", "holidays": "US"}))


@pytest.fixture(scope="module")
def model(toy: Toy) -> DemandModel:
    return fit_demand(toy.panel, networks=("linear",), baselines=False, backtest_days=7, progress=False)


def test_a_holiday_ahead_is_forecast_as_if_the_column_were_set_by_hand(model: DemandModel, tmp_path):
    told = model.forecast(24, start=WASHINGTON)
    by_hand = model.forecast(24, start=WASHINGTON, covariates={"holiday": np.ones(24)})
    for name, values in told.items():
        np.testing.assert_array_equal(values, by_hand[name], err_msg=name)
    ordinary = model.forecast(24, start=WASHINGTON, covariates={"holiday": np.zeros(24)})
    assert told["mean"].sum() < 0.6 * ordinary["mean"].sum()
    model.save(tmp_path / "model")
    again = load_demand(tmp_path / "model").forecast(24, start=WASHINGTON)
    np.testing.assert_array_equal(again["q95"], told["q95"])


def test_a_holiday_is_less_sure_than_the_day_after_it(model: DemandModel):
    """Two holidays were seen; nobody knows how the next one differs."""
    assert model.days.seen == 2
    total = model.forecast_total(2, start=WASHINGTON)
    width = (total["q95"] - total["q05"]) / total["mean"]
    assert width[0] > 2 * width[1]
    shape = model.rates(48, start=WASHINGTON)["shape"].reshape(16, 48)
    assert (shape[:, :24] < shape[:, 24:]).all()


def test_given_periods_are_found_by_their_time(model: DemandModel):
    ds = model.forecast(48, places=["p00"])["ds"]
    late = {"ds": ds[::-1][:24], "warmth": np.arange(24.0)}  # the second day alone, in reverse
    known = model.known_ahead(48, covariates=late)
    assert np.isnan(known["warmth"][:24]).all()
    assert known["warmth"][24:].tolist() == np.arange(24.0)[::-1].tolist()
    assert not known["holiday"].any()
    part = model.rates(48, covariates=late)["rate"].reshape(16, 48)
    np.testing.assert_array_equal(part[:, :24], model.rates(48)["rate"].reshape(16, 48)[:, :24])
    with pytest.raises(ValueError, match="all distinct"):
        model.forecast(2, covariates={"ds": ds[[0, 0]], "warmth": [1.0, 2.0]})


def test_the_usual_effect_is_that_of_the_covariates_not_given():
    recent = RecentEffects(np.array([0, 0, 1]), np.log([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    missing = np.array([[True, False], [True, True], [False, True], [False, False], [True, False]])
    found = recent.mean(np.array([0, 0, 1, 1, 7]), missing)
    assert np.exp(found).tolist() == pytest.approx([2.0, 7.0, 6.0, 1.0, 1.0])  # no recent hour is 7
