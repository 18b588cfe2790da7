"""Blocks, threads and stages change no bit of a fit."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import _fit, _fit_plan, _nearby, _parametric, _rates, _shocks, _spill, fit_demand
from unmet.forecasting._fit_plan import FitPlan
from unmet.forecasting._grid import make_grid
from unmet.forecasting._past_draws import draw_past
from unmet.runs import Stages


@pytest.fixture(scope="module")
def city():
    grid = make_grid(make_toy(places=7, days=15, persistence=0.6).panel)
    near = _nearby.find_nearby(40.7 + 0.002 * np.arange(7), -74.0 + 0.001 * np.arange(7))
    return grid, near


@pytest.fixture(scope="module")
def usual(city):
    return fitted(city)


def fitted(city):
    grid, near = city
    model = _parametric.fit_parametric(grid, near)
    walking = replace(model, spill=_spill.Spill(0.4, 200.0, 0.1))
    return model, _parametric.look_back(walking, grid, near)


def test_any_size_of_blocks_gives_the_same_bits(city, usual, monkeypatch):
    model, past = usual
    for module, size in ((_rates, 700), (_shocks, 3), (_spill, 200)):
        monkeypatch.setattr(module, "_AT_ONCE", size)
    other, again = fitted(city)
    for name, values in vars(model.rates).items():
        assert np.array_equal(values, getattr(other.rates, name)), name
    assert (model.shocks, model.city, model.spill) == (other.shocks, other.city, other.spill)
    for name in ("rate", "own", "came", "unserved", "went", "shape"):
        assert np.array_equal(getattr(past, name), getattr(again, name)), name


def test_a_large_grid_decides_how_people_walk_by_some_days(city, monkeypatch):
    grid, _ = city
    assert _parametric._some_periods(grid) == slice(None)
    monkeypatch.setattr(_parametric, "_MOST_ROWS", 7 * 24 * 5)
    monkeypatch.setattr(_parametric, "_LEAST_DAYS", 3)
    some = _parametric._some_periods(grid)
    assert len(some) == 5 * 24
    assert (some[0], some[-1]) == (0, 15 * 24 - 1)
    assert (some.reshape(5, 24)[:, 0] % 24 == 0).all()


def test_threads_draw_the_same_past(city, usual):
    grid, near = city
    model, past = usual
    one, two = (list(draw_past(model, grid, past, 20, 0, near, jobs)) for jobs in (1, 2))
    assert [found.place for found in two] == list(range(7))
    for here, there in zip(one, two):
        assert np.array_equal(here.unserved, there.unserved)


def test_a_fit_that_was_stopped_goes_on_with_the_next_stage(tmp_path, monkeypatch):
    toy, done = make_toy(places=4, days=21), []

    def fit():
        stages = Stages(tmp_path / "kept", "toy", lambda stage="", **_: stage and done.append(stage))
        return fit_demand(toy.panel, networks=["linear"], baselines=False, stages=stages)

    whole, stopped = _fit._finish, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    monkeypatch.setattr(_fit, "_finish", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit()
    assert done == ["aware", "rates"]
    monkeypatch.setattr(_fit, "_finish", whole)
    model = fit()
    assert done == ["aware", "rates", "lost"]  # no stage twice
    plain = fit_demand(toy.panel, networks=["linear"], jobs=2)
    assert model.lost_total() == plain.lost_total()
    assert np.array_equal(model.forecast(24)["q95"], plain.forecast(24)["q95"])
    # Stages of something else are not taken.
    assert Stages(tmp_path / "kept", "other")._load("aware") is None


def test_many_places_are_compared_on_some_of_them(monkeypatch):
    toy = make_toy(places=6, days=21)
    monkeypatch.setattr(_fit_plan, "_JUDGED", 3)
    grid = make_grid(toy.panel)
    judged, some = FitPlan(grid, None, None, ("linear",), 7, 0, baselines=True).judged
    assert some is not None
    assert len(judged.places) == 3
    assert np.array_equal(judged.y, grid.y[some])
    model = fit_demand(toy.panel, networks=["linear"])
    assert {row["model"] for row in model.measures} >= {"negative binomial", "seasonal naive"}
    assert len(model.places) == 6
