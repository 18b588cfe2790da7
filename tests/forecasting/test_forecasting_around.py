"""Networks that look around in the demand model: neighbours, cells, nothing of the future, a moving crowd."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import fit_demand, load_demand
from unmet.forecasting._around import make_around, make_site
from unmet.forecasting._grid import make_grid
from unmet.forecasting._inputs import make_ahead
from unmet.forecasting._parametric import fit_parametric
from unmet.forecasting._views import make_view
from unmet.mobility import Panel

HOURS = make_ahead("period", 24, 168)


def line(places=9, metres=400.0):
    """Places on a line from west to east."""
    ids = np.array([f"p{k:02d}" for k in range(places)], object)
    return {"unique_id": ids, "lat": np.full(places, 40.0), "lng": -74 + np.arange(places) * metres / 85_180}


def site(places=9, neighbours="distance"):
    stations = line(places)
    return make_site(stations["unique_id"], stations, neighbours)


@pytest.fixture(scope="module")
def crowd():
    """A crowd of six times the demand walks along a line of places, one place an hour, thrice a day."""
    places, days = 9, 28
    rng = np.random.default_rng(3)
    hours = np.arange(days * 24)
    begin = np.sort(rng.choice(hours[::3], 3 * days, replace=False))
    factor = np.ones((places, len(hours)))
    for hour in begin:
        for place in range(places):
            if hour + place < len(hours):
                factor[place, hour + place] = 6.0
    toy = make_toy(places=places, days=days, seed=1, variance=0.05, short=0.1)
    latent = rng.poisson(3.0 * factor)
    stock = np.where(rng.uniform(size=latent.shape) < 0.1, 2, 60)
    out = latent >= stock
    columns = dict(toy.panel.columns)
    columns.pop("warmth")
    columns |= {
        "y": np.minimum(latent, stock).reshape(-1),
        "censored": out.reshape(-1),
        "exposure": np.where(out, stock / np.maximum(latent, 1), 1.0).reshape(-1),
        "threshold": stock.reshape(-1),
    }
    return Panel(columns, toy.panel.about)


@pytest.fixture(scope="module")
def fitted(crowd):
    networks = ("graph", "grid")
    settings = {"ahead": "period", "backtest_days": 7, "baselines": False, "seed": 2}
    return fit_demand(crowd, stations=line(), networks=networks, **settings)


def test_networks_that_look_around_see_the_crowd_come(fitted):
    loss = {entry["model"]: entry["pinball"] for entry in fitted.measures}
    own = loss["negative binomial"]
    assert loss["censored quantile network (graph)"] < 0.97 * own
    assert loss["censored quantile network (grid)"] < 0.97 * own
    assert fitted.network_name in ("graph", "grid")


def test_a_saved_model_forecasts_the_same_bits(fitted, tmp_path):
    fitted.save(tmp_path)
    loaded = load_demand(tmp_path)
    first, again = fitted.forecast(1), loaded.forecast(1)
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])
    some = fitted.forecast(1, places=["p04", "p01"])
    np.testing.assert_array_equal(some["q95"], first["q95"][[4, 1]])


def test_a_model_of_the_next_hour_refuses_more(fitted):
    with pytest.raises(ValueError, match="horizon must be 1"):
        fitted.forecast(2)
    with pytest.raises(ValueError, match="ahead='day'"):
        fitted.forecast_days(1)


def test_nothing_of_the_hour_or_later_enters_its_columns(crowd):
    grid = make_grid(crowd).until(21 * 24)
    model = fit_parametric(grid)
    at = 20 * 24 + 9
    y = grid.y.copy()
    y[:, at:] += 5

    def seen(grid):
        view = make_view(model, grid, None, 0, ahead=HOURS)
        X = view.inputs(at, at + 1, view.scores(0, len(grid.ds)), 0)
        around = make_around("graph", site(), view.signal(0, at))
        period = np.full(9, at)
        return around.columns(X, view.signal(), np.arange(9), period, HOURS.lags), view

    (before, _), (after, _) = seen(grid), seen(replace(grid, y=y))
    np.testing.assert_array_equal(before, after)
    y = grid.y.copy()
    y[:, at - 1] += 5  # the hour before does
    assert (seen(replace(grid, y=y))[0] != before).any(axis=1).all()


@pytest.mark.parametrize("kind", ["graph", "grid"])
def test_places_in_another_order_have_the_same_columns(kind):
    rng = np.random.default_rng(0)
    stations = {"unique_id": np.arange(12), "lat": 40 + 0.01 * rng.random(12), "lng": 0.01 * rng.random(12)}
    here = make_site(stations["unique_id"], stations, "distance")
    signal, X = rng.normal(size=(13, 200)), rng.normal(size=(12, 15))
    period, turned = np.full(12, 190), np.append(rng.permutation(12), 12)
    columns = make_around(kind, here, signal).columns(X, signal, np.arange(12), period, HOURS.lags)
    places = turned[:-1]
    other = make_around(kind, here.of_places(places), signal[turned])
    again = other.columns(X[places], signal[turned], np.arange(12), period, HOURS.lags)
    np.testing.assert_allclose(again, columns[places], rtol=1e-12, atol=1e-12)
    assert columns.shape[1] == 16 + len(HOURS.lags) * (1 + other.shape[0]) + np.prod(other.shape)


def test_neighbours_by_distance_are_the_nearest_and_know_their_direction():
    around = make_around("graph", site(), np.zeros((10, 50)))
    assert around.index[4, 0] == 4
    assert set(around.index[4, 1:3]) == {3, 5}
    east = dict(zip(around.index[4].tolist(), around.attributes[4, :, 1]))
    assert east[5] > 0 > east[3]
    assert east[6] == pytest.approx(2 * east[5], rel=0.01)


def test_neighbours_by_flows_are_those_with_most_rides():
    flows = {"origin": ["p00", "p07", "p00"], "destination": ["p08", "p00", "p03"], "rides": [5, 3, 1]}
    around = make_around("graph", site(neighbours=flows), np.zeros((10, 50)))
    assert around.index[0, :5].tolist() == [0, 8, 7, 3, -1]
    np.testing.assert_allclose(around.attributes[0, :5, 0], [1, 5 / 9, 3 / 9, 1 / 9, 0])


def test_learned_neighbours_are_those_that_lead():
    signal = np.random.default_rng(0).normal(size=(10, 400))
    signal[2, 1:] = signal[7, :-1]
    around = make_around("graph", site(neighbours="learned"), signal)
    assert around.index[2, 1] == 7
    assert around.attributes[2, 1, 0] > 0.9
    assert around.attributes[7, 1, 0] < 0.2  # who leads follows nobody


def test_cells_hold_the_mean_of_their_places():
    stations = line() | {"lng": -74 + np.array([0, 0, 1, 2, 3, 4, 5, 6, 7]) * 1e-2}
    here = make_site(stations["unique_id"], stations, "distance")
    around = make_around("grid", here, np.zeros((10, 1)))
    assert around.node[0] == around.node[1] == around.node[2] != around.node[3]
    signal = np.arange(10.0)[:, None] * np.ones(300)
    columns = around.columns(np.zeros((1, 14)), signal, np.array([0]), np.array([250]), HOURS.lags)
    series = columns[0, 18 : 18 + 25 * 6].reshape(25, 6)
    np.testing.assert_allclose(series[12], 1.0)  # the middle of the square
    assert around.attributes[0, :, 0].sum() == (around.index[0] >= 0).sum() < 25


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"networks": ("graph",)}, "needs stations"),
        ({"networks": ("grid",), "neighbours": "learned"}, "needs stations"),
        ({"networks": ("graph",), "neighbours": "far"}, "neighbours must be"),
        ({"networks": ("graph",), "neighbours": {"origin": ["a"]}}, "no column destination, rides"),
        ({"ahead": "minute"}, "ahead must be"),
        ({"networks": ("tree",)}, "networks must be among"),
    ],
)
def test_settings_that_cannot_work_say_why(crowd, settings, words):
    with pytest.raises(ValueError, match=words):
        fit_demand(crowd, **settings)


def test_a_panel_by_day_is_forecast_by_day():
    with pytest.raises(ValueError, match="several periods a day"):
        fit_demand(make_toy(by="day").panel, ahead="period")
