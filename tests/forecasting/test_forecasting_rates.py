"""Rates are right although the open time depends on demand; taking pickups for demand is not."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting._grid import make_grid
from unmet.forecasting._nearby import find_nearby
from unmet.forecasting._parametric import fit_parametric, look_ahead, look_back
from unmet.forecasting._spill import Spill


@pytest.mark.parametrize("persistence", [0.0, 0.8])
def test_unserved_requests_are_found(persistence: float) -> None:
    toy = make_toy(places=16, days=35, persistence=persistence, seed=5)
    grid = make_grid(toy.panel)
    model = fit_parametric(grid)
    past = look_back(model, grid)
    assert past.rate.sum() == pytest.approx(toy.rate.sum(), rel=0.05)
    unserved = (toy.latent - grid.y).sum()
    assert past.unserved.sum() == pytest.approx(unserved, rel=0.1)
    assert model.shocks.persistence == pytest.approx(persistence, abs=0.1)
    # The same fit without exposure misses them.
    blind = replace(grid, exposure=np.ones_like(grid.exposure))
    assert look_back(fit_parametric(blind), blind).rate.sum() < 0.9 * toy.rate.sum()


def test_a_fit_is_the_same_every_time() -> None:
    grid = make_grid(make_toy(places=4, days=15).panel)
    one, two = fit_parametric(grid), fit_parametric(grid)
    assert (one.rates.level == two.rates.level).all()
    assert (one.rates.factor == two.rates.factor).all()
    assert one.shocks == two.shocks


@pytest.mark.parametrize("walk", [None, 300.0])
def test_forecasts_do_not_see_what_comes_after_their_origin(walk: float | None) -> None:
    toy = make_toy(places=4, days=20, persistence=0.8)
    grid = make_grid(toy.panel)
    model = fit_parametric(grid)
    near = None
    if walk is not None:
        near = find_nearby(40 + np.arange(4) * 0.002, np.full(4, -74.0))
        model = replace(model, spill=Spill(1.0, walk))
    first = 19 * 24
    y = grid.y.copy()
    y[:, first:] += 50
    changed = replace(grid, y=y)
    before = look_ahead(model, look_back(model, grid, near), first, first + 24, 24)
    after = look_ahead(model, look_back(model, changed, near), first, first + 24, 24)
    assert (before[0] == after[0]).all()
    y[:, first - 1] += 50
    later = look_ahead(model, look_back(model, replace(grid, y=y), near), first, first + 24, 24)
    assert (later[0][:, 0] > before[0][:, 0]).all()


def test_panels_by_day() -> None:
    toy = make_toy(places=6, days=60, by="day")
    grid = make_grid(toy.panel)
    past = look_back(fit_parametric(grid), grid)
    assert past.rate.sum() == pytest.approx(toy.rate.sum(), rel=0.15)


@pytest.mark.parametrize(("places", "days", "by"), [(1, 15, "hour"), (1, 14, "day"), (2, 20, "day")])
def test_few_places_and_few_days(places: int, days: int, by: str) -> None:
    grid = make_grid(make_toy(places=places, days=days, by=by).panel)
    near = find_nearby(40 + np.arange(places) * 0.002, np.full(places, -74.0))
    past = look_back(fit_parametric(grid, near), grid, near)
    assert np.isfinite(past.rate).all()
    assert 0.5 < past.rate.mean() / grid.y.mean() < 2.5
