"""From a small panel to a model: forecasts, coverage of known demand, lost rides, saving, bad requests."""

import json

import numpy as np
import pytest
from forecasting_toys import Toy, make_toy

from unmet.forecasting import LEVELS, DemandModel, fit_demand, load_demand
from unmet.forecasting._inputs import make_ahead
from unmet.forecasting._network import fit_network
from unmet.metrics import icp
from unmet.runs import ModelFileError, save_model


@pytest.fixture(scope="module")
def toy() -> Toy:
    return make_toy(places=16, days=42, seed=7)


@pytest.fixture(scope="module")
def model(toy: Toy) -> DemandModel:
    return fit_demand(toy.panel, networks=("linear",), backtest_days=21)


def test_forecast_has_its_columns_in_order(model: DemandModel) -> None:
    found = model.forecast(30)
    assert list(found)[:3] == ["unique_id", "ds", "mean"]
    names = [f"q{round(100 * level):02d}" for level in LEVELS]
    assert set(names) <= set(found)
    assert len(found["ds"]) == 480
    assert found["unique_id"].tolist() == sorted(found["unique_id"].tolist())
    assert found["ds"][0] == np.datetime64("2024-02-12T00:00:00")
    quantiles = np.stack([found[name] for name in names])
    assert (np.diff(quantiles, axis=0)[np.isfinite(np.diff(quantiles, axis=0))] >= 0).all()
    assert (found["unmet"] == np.floor(found["q50"])).all()
    assert (found["unmet-hi-90"] == np.floor(found["q95"])).all()
    assert (found["identified_up_to"] == 0.95).mean() > 0.9


def test_backtest_covers_known_demand(toy: Toy, model: DemandModel) -> None:
    rows = model.backtest
    assert rows is not None
    latent = toy.latent[:, -21 * 24 :].reshape(-1)
    covered = icp(latent, rows["q05"], rows["q95"], randomised=True)
    assert covered == pytest.approx(0.9, abs=0.025)
    assert ((rows["pit"] >= 0) & (rows["pit"] <= 1)).all()
    assert (rows["pit_censored"] == rows["censored"]).all()


def test_lost_rides_and_their_total(toy: Toy, model: DemandModel) -> None:
    rows, total = model.lost(), model.lost_total()
    truth = (toy.latent.reshape(-1) - rows["y"]).sum()
    assert total["lost"]["mean"] == pytest.approx(truth, rel=0.12)
    assert total["lost"]["q05"] < total["lost"]["mean"] < total["lost"]["q95"]
    assert total["demand"]["mean"] == pytest.approx(total["observed"] + total["lost"]["mean"])
    assert rows["lost_mean"].sum() == pytest.approx(total["lost"]["mean"], rel=0.03)
    assert sum(place["observed"] for place in total["places"].values()) == total["observed"]
    assert sum(day["observed"] for day in total["days"]) == total["observed"]
    sure = ~rows["censored"]
    assert (rows["demand_q05"] == rows["y"])[sure].all()
    assert (rows["demand_mean"] == rows["y"])[sure].all()
    cut = rows["censored"]
    covered = icp(
        toy.latent.reshape(-1)[cut], rows["demand_q05"][cut], rows["demand_q95"][cut], randomised=True
    )
    assert covered == pytest.approx(0.9, abs=0.03)


def test_account_and_measures(model: DemandModel) -> None:
    assert model.calibration is not None
    assert model.measures is not None
    json.dumps([model.calibration, model.measures, model.lost_total()], allow_nan=False)
    assert model.calibration["coverage"]["randomised"] == pytest.approx(0.9, abs=0.02)
    assert len(model.calibration["coverage"]["weeks"]) == 3
    assert model.calibration["coverage"]["plain"] > model.calibration["coverage"]["randomised"]
    # Thresholds of the toy are fixed before demand is known, as independence asks.
    levels = model.calibration["coverage"]["levels"]
    assert [one["nominal"] for one in levels] == list(model.levels)
    assert [one["after"] for one in levels] == pytest.approx(model.levels, abs=0.03)
    assert model.calibration["assumption"]["warn"] is False
    assert model.calibration["daily"]["coverage"]["randomised"] == pytest.approx(0.9, abs=0.06)
    names = [row["model"] for row in model.measures]
    assert sum(row["chosen"] for row in model.measures) == 1
    assert {"negative binomial", "seasonal naive", "unaware quantile network"} <= set(names)
    loss = {row["model"]: row["pinball"] for row in model.measures}
    assert loss["censored quantile network (linear)"] < loss["unaware quantile network"]
    assert loss["censored quantile network (linear)"] < loss["seasonal naive"]


def test_saved_and_loaded_it_forecasts_the_same(model: DemandModel, tmp_path) -> None:
    model.save(tmp_path / "model")
    again = load_demand(tmp_path / "model")
    for horizon in (1, 200):
        one, two = model.forecast(horizon), again.forecast(horizon)
        assert all((one[name] == two[name]).all() for name in one)
    one, two = model.rates(5, places=["p03"]), again.rates(5, places=["p03"])
    assert (one["rate"] == two["rate"]).all()
    assert len(one["rate"]) == 5
    assert not list((tmp_path / "model").rglob("*.pkl"))
    with pytest.raises(ValueError, match="does not hold the past"):
        again.lost()


def test_other_folders_are_refused(tmp_path) -> None:
    save_model(tmp_path / "other", {"kind": "something"}, {"a": np.zeros(1)})
    with pytest.raises(ModelFileError, match="holds no demand model"):
        load_demand(tmp_path / "other")
    save_model(tmp_path / "later", {"kind": "demand", "version": 99}, {"a": np.zeros(1)})
    with pytest.raises(ModelFileError, match=r"version 99.*fit again with"):
        load_demand(tmp_path / "later")


def test_a_part_of_the_forecast_is_the_same_as_in_the_whole(model: DemandModel) -> None:
    whole = model.forecast(48)
    part = model.forecast(24, places=["p04"], start=whole["ds"][24])
    rows = (whole["unique_id"] == "p04") & (whole["ds"] >= whole["ds"][24])
    assert part["q95"] == pytest.approx(whole["q95"][rows], rel=1e-6)


def test_warm_weather_raises_demand(model: DemandModel) -> None:
    cold, warm = (
        model.rates(24, covariates={"warmth": np.full(24, value)})["rate"].sum() for value in (-1.0, 1.0)
    )
    assert np.log(warm / cold) == pytest.approx(0.4, abs=0.1)


def test_without_weather_the_mean_effect_of_recent_weather_is_taken(toy: Toy, model: DemandModel) -> None:
    warm = toy.panel["warmth"][: 42 * 24][-28 * 24 :].reshape(28, 24)
    slope = 0.2  # of the toy
    wanted = np.log(np.exp(slope * warm).mean(axis=0))
    plain = model.rates(24)["rate"].reshape(16, 24)
    cold = model.rates(24, covariates={"warmth": np.zeros(24)})["rate"].reshape(16, 24)
    assert np.log(plain / cold)[0] == pytest.approx(wanted, abs=0.06)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number of periods from 1 to 8784"),
        ({"horizon": 10**6}, "horizon must be"),
        ({"horizon": 2, "places": ["nowhere"]}, "no place 'nowhere'"),
        ({"horizon": 2, "start": "2020-01-01"}, "within a year after"),
        ({"horizon": 2, "covariates": {"rain": [0, 0]}}, "'rain', but the panel has no such covariate"),
        ({"horizon": 2, "covariates": {"warmth": [0.0]}}, "one value per period"),
    ],
)
def test_requests_that_cannot_be_answered(model: DemandModel, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.forecast(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"levels": (0.1, 0.9)}, "levels must increase"),
        ({"networks": ()}, "at least one"),
        ({"networks": ("tree",)}, "networks must be among"),
        ({"backtest_days": 3}, "at least 7"),
        ({"stations": {"unique_id": []}}, "no column lat, lng"),
    ],
)
def test_settings_that_cannot_be_used(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_demand(make_toy(places=2, days=15).panel, **arguments)


def test_a_network_is_asked_only_for_what_it_has_seen() -> None:
    """A column that is all but constant in training must not blow up when it moves by a percent."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(4096), 1.4 + 1e-6 * rng.standard_normal(4096)])
    network = fit_network("linear", X, rng.standard_normal(4096), 0, make_ahead("day", 24, 168))
    before = network.predict_quantiles(X[:50])
    moved = network.predict_quantiles(X[:50] + [0.0, 0.05])
    assert np.abs(moved - before).max() < 0.5
    assert np.abs(before[:, 4]).max() < 0.5
