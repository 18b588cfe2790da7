"""Draws of the past: what they add up to, with and without people who walk next door."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting._exposure_draws import chain
from unmet.forecasting._grid import Grid, make_grid
from unmet.forecasting._lost_rides import estimate_lost, summary
from unmet.forecasting._nearby import NearbyPlaces, find_nearby
from unmet.forecasting._parametric import Parametric, Past, fit_parametric, look_back
from unmet.forecasting._past_draws import _gamma, draw_past, foreign_share
from unmet.forecasting._spill import Spill


@pytest.fixture(scope="module")
def fitted() -> tuple[Grid, Parametric, NearbyPlaces]:
    grid = make_grid(make_toy(places=6, days=15, seed=2).panel)
    near = find_nearby(40 + np.arange(6) * 0.002, np.full(6, -74.0))
    return grid, fit_parametric(grid), near


def past_of(grid: Grid, model: Parametric, near: NearbyPlaces | None) -> Past:
    return look_back(model, grid, near)


def test_draws_have_the_mean_of_the_formula(fitted: tuple[Grid, Parametric, NearbyPlaces]) -> None:
    grid, model, _ = fitted
    past = past_of(grid, model, None)
    drawn = sum(found.unserved.mean(axis=0).sum() for found in draw_past(model, grid, past, 400, 0))
    assert drawn == pytest.approx(past.unserved.sum(), rel=0.02)


def test_totals_doubt_what_rests_on_the_distribution_of_shocks(
    fitted: tuple[Grid, Parametric, NearbyPlaces],
) -> None:
    grid, model, _ = fitted
    past = past_of(grid, model, None)
    missed = (past.rate * (1 - grid.exposure) * grid.known).sum()
    added = np.log(past.unserved.sum() / missed)
    assert added > 0.02  # places run out when shocks are high
    total = np.sum([found.unserved.sum(axis=1) for found in draw_past(model, grid, past, 400, 0)], axis=0)
    assert total.std() / total.mean() > 0.2 * added


def test_nothing_is_drawn_where_nothing_was_cut_off(fitted: tuple[Grid, Parametric, NearbyPlaces]) -> None:
    grid, model, _ = fitted
    for found in draw_past(model, grid, past_of(grid, model, None), 10, 0):
        assert grid.censored[found.place, found.at].all()
        assert (found.next_door == 0).all()


def test_walkers_are_told_apart_and_counted_once(fitted: tuple[Grid, Parametric, NearbyPlaces]) -> None:
    grid, model, near = fitted
    walking = replace(model, spill=Spill(1.0, 300.0))
    past = past_of(grid, walking, near)
    assert past.came.sum() == pytest.approx(past.went.sum())
    found = estimate_lost(walking, grid, past, np.ones(grid.y.shape, bool), seed=0)
    total = found.total
    assert total["next_door"]["mean"] == pytest.approx(past.went.sum())
    assert total["next_door"]["q05"] < past.went.sum() < total["next_door"]["q95"]
    assert total["lost"]["mean"] + total["next_door"]["mean"] == pytest.approx(total["unserved"]["mean"])
    assert total["demand"]["mean"] == pytest.approx(total["observed"] + total["lost"]["mean"])
    rows = found.columns
    assert (rows["demand_q05"] <= rows["demand_q95"]).all()
    assert rows["lost_mean"].sum() == pytest.approx((past.unserved - past.went).sum())
    assert (found.completed == np.floor(found.completed)).all()


def test_rows_places_days_and_the_whole_add_up(fitted: tuple[Grid, Parametric, NearbyPlaces]) -> None:
    grid, model, near = fitted
    walking = replace(model, spill=Spill(0.8, 300.0))
    past = past_of(grid, walking, near)
    # Pickups explained by walkers are as many as the walkers, which they are not by themselves.
    expected = past.rate * grid.exposure * past.shape / past.inverse_scale
    plain = (grid.y * past.came / np.maximum(expected + past.came, 1e-12)).sum()
    assert abs(plain / past.went.sum() - 1) > 0.001
    share = foreign_share(grid, past)
    assert (share[past.came == 0] == 0).all()
    assert ((share >= 0) & (share < 1)).all()
    assert (grid.y * share).sum() == pytest.approx(past.went.sum())
    found = estimate_lost(walking, grid, past, np.ones(grid.y.shape, bool), seed=0)
    total, rows = found.total, found.columns
    for name in ("demand", "lost"):
        whole = total[name]["mean"]
        assert whole == pytest.approx(rows[f"{name}_mean"].sum())
        assert whole == pytest.approx(sum(one[name]["mean"] for one in total["places"].values()))
        assert whole == pytest.approx(sum(one[name] for one in total["days"]))
        assert total[name]["q05"] < whole < total[name]["q95"]
    for one in total["days"]:
        assert one["lo"] <= one["demand"] <= one["hi"]


def test_the_same_seed_draws_the_same(fitted: tuple[Grid, Parametric, NearbyPlaces]) -> None:
    grid, model, _ = fitted
    past = past_of(grid, model, None)
    sure = np.ones(grid.y.shape, bool)
    one, two = (estimate_lost(model, grid, past, sure, seed=3, draws=20) for _ in range(2))
    assert one.total == two.total


def test_noise_is_tied_by_distance_in_time() -> None:
    noise = chain(np.random.default_rng(0), 40_000, np.array([0, 1, 4]), 0.8)
    assert noise.std(axis=0) == pytest.approx(np.ones(3), abs=0.02)
    assert np.corrcoef(noise.T)[0, 1] == pytest.approx(0.8, abs=0.02)
    assert np.corrcoef(noise.T)[1, 2] == pytest.approx(0.8**3, abs=0.02)


@pytest.mark.parametrize("shape", [2.0, 10.0])
def test_gamma_draws_have_mean_and_variance_of_their_shape(shape: float) -> None:
    values = _gamma(np.random.default_rng(0).standard_normal(200_000), np.array(shape))
    assert values.mean() == pytest.approx(shape, rel=0.01)
    assert values.var() == pytest.approx(shape, rel=0.03)


def test_summary_by_hand() -> None:
    assert summary(np.arange(101.0), 49.5) == {"mean": 49.5, "q05": 5.0, "q95": 95.0}


@pytest.mark.parametrize("error", [0.0, 5.0])
def test_an_estimate_lies_in_its_own_interval(error: float):
    for mean in (50.0, 250.0):
        found = summary(np.arange(100.0, 200.0), mean, error)
        assert found["q05"] <= mean <= found["q95"]
        assert found["q05"] <= 105  # the draws stay inside
        assert found["q95"] >= 194
