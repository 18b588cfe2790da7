"""Cities whose riders follow other laws than the model's: unserved requests are right, intervals hold."""

import numpy as np
import pytest
from other_city import LAWS, OtherCity, make_other_city

from unmet.forecasting import fit_demand
from unmet.mobility import Panel


def held(interval: dict[str, float], truth: float) -> bool:
    return interval["q05"] <= truth <= interval["q95"]


def measure(city: OtherCity) -> dict[str, float]:
    """Estimate over truth, and which 90% intervals hold."""
    panel = Panel(city.columns, {"zone": "UTC", "by": "hour"})
    options = {"networks": ("linear",), "baselines": False, "backtest_days": 7, "progress": False}
    found = fit_demand(panel, stations=city.stations, **options).lost_total()
    places = list(found["places"].values())
    return {
        "unserved": found["unserved"]["mean"] / city.unserved.sum(),
        "lost": found["lost"]["mean"] / city.lost.sum(),
        "unserved_held": held(found["unserved"], city.unserved.sum()),
        "lost_held": held(found["lost"], city.lost.sum()),
        "places_held": np.mean([held(p["lost"], t.sum()) for p, t in zip(places, city.lost)]),
    }


def test_the_other_city_adds_up():
    city = make_other_city("logit", 1, places=8, days=4)
    assert (city.lost <= city.unserved).all()
    assert 0 < city.lost.sum() < city.unserved.sum()
    exposure = city.columns["exposure"].reshape(8, -1)
    assert not city.unserved[exposure == 1].any()
    again = make_other_city("logit", 1, places=8, days=4)
    assert (again.columns["y"] == city.columns["y"]).all()


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.filterwarnings("ignore:stock-outs seem to depend on demand:UserWarning")  # in some, they do
def test_forty_cities_with_other_laws(capsys):
    rows = []
    for law in LAWS:
        for seed in range(1, 11):
            row = measure(make_other_city(law, seed))
            rows.append(row)
            with capsys.disabled():
                print(law, seed, *(f"{name} {float(value):.2f}" for name, value in row.items()), flush=True)
    assert sum(0.85 <= row["unserved"] <= 1.15 for row in rows) >= 36
    assert sum(row["unserved_held"] for row in rows) >= 33
    assert sum(row["lost_held"] for row in rows) >= 33
    assert np.mean([row["places_held"] for row in rows]) >= 0.8
