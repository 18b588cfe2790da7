"""A fit survives time in which nothing is known, and does not learn from it."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import fit_demand
from unmet.forecasting._grid import make_grid
from unmet.mobility import Panel


def blank(panel: Panel, first_day: int, last_day: int) -> Panel:
    """Forget everything from one day to another, as if the trips of these days were missing."""
    columns = dict(panel.columns)
    day = (columns["ds"] - columns["ds"].min()) // np.timedelta64(1, "D")
    gone = (day >= first_day) & (day < last_day)
    columns["y"] = np.where(gone, 0, columns["y"])
    columns["exposure"] = np.where(gone, np.nan, columns["exposure"])
    columns["observed"] = np.where(gone, 0.0, columns.get("observed", 1.0))
    columns["censored"] = columns["censored"] & ~gone
    return replace(panel, columns=columns)


def test_days_without_knowledge_change_no_rate_and_no_total():
    whole = make_toy(places=10, days=42).panel
    settings = {"networks": ("linear",), "baselines": False, "backtest_days": 14, "progress": False}
    clean = fit_demand(whole, **settings)
    gone = (*range(10, 14), 33, 40, 41)  # before the backtest, within it, and at the end
    panel = blank(blank(blank(whole, 10, 14), 33, 34), 40, 42)
    model = fit_demand(panel, **settings)
    rows, clean_rows = model.lost(), clean.lost()
    known = np.isfinite(rows["exposure"])
    assert not rows["lost_mean"][~known].any()
    ratio = rows["lost_mean"][known].sum() / clean_rows["lost_mean"][known].sum()
    assert ratio == pytest.approx(1, abs=0.05)
    days = model.lost_total()["days"]
    assert [one["known"] for one in days] == [float(n not in gone) for n in range(42)]
    assert model.calibration is not None
    assert model.calibration["coverage"]["randomised"] == pytest.approx(0.9, abs=0.06)
    assert model.rates(24)["rate"].sum() == pytest.approx(clean.rates(24)["rate"].sum(), rel=0.1)


def test_a_panel_that_knows_too_little_is_refused():
    with pytest.raises(ValueError, match=r"knows something of only 12\.0 days of 35\.0"):
        make_grid(blank(make_toy(places=3, days=35).panel, 5, 28))
