"""Thanksgiving and Christmas of the Bay Area in 2014, each forecast from the days before it."""

import os
from pathlib import Path

import numpy as np
import pytest

from unmet import pipeline
from unmet.forecasting import fit_demand
from unmet.mobility import Panel, read_panel

DATA = Path(os.environ.get("UNMET_DATA", "/nowhere")) / "bay_area_2014"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="UNMET_DATA has no bay_area_2014"),
]


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Panel:
    path = tmp_path_factory.mktemp("bay") / "panel.parquet"
    options = {"stations": DATA / "stations.csv", "zone": "America/Los_Angeles", "times": "utc"}
    pipeline.panel(trips=DATA / "trips.csv.gz", **options, holidays="US-CA", output=path, progress=False)
    return read_panel(path)


@pytest.mark.parametrize("day", ["2014-11-27", "2014-12-25"])
@pytest.mark.filterwarnings("ignore:stock-outs seem to depend")
def test_a_holiday_lies_in_its_daily_intervals(panel: Panel, day: str):
    start = np.datetime64(f"{day}T08:00", "us")  # midnight in San Francisco
    past = panel["ds"] < start
    model = fit_demand(
        Panel({name: values[past] for name, values in panel.columns.items()}, panel.about),
        networks=("linear",),
        baselines=False,
        never_available="keep",
        progress=False,
    )
    by_hand = model.forecast(24, covariates={"holiday": np.ones(24)})
    np.testing.assert_array_equal(by_hand["q95"], model.forecast(24)["q95"])
    found, total = model.forecast_days(1), model.forecast_total(1)
    here = (panel["ds"] >= start) & (panel["ds"] < start + np.timedelta64(24, "h"))
    seen = panel["y"][here].reshape(len(found["mean"]), 24).sum(axis=1)
    inside = (seen >= np.floor(found["q05"])) & (seen <= np.floor(found["q95"]))
    ordinary = model.rates(24, covariates={"holiday": np.zeros(24)})["rate"].sum()
    print(
        f"{day}: {seen.sum()} rides; as an ordinary day {ordinary:.0f}, as a holiday {total['mean'][0]:.0f} "
        f"({total['q05'][0]:.0f}–{total['q95'][0]:.0f}); {inside.mean():.0%} of the places inside"
    )
    assert total["mean"][0] < 0.6 * ordinary
    assert inside.mean() >= 0.85
    if day == "2014-12-25":  # no other holiday of that year was nearly as quiet as Thanksgiving
        assert total["q05"][0] <= seen.sum() <= total["q95"][0]
