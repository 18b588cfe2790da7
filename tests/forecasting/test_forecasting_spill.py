"""Spill: who walks where, by hand, and how far people walk from pickups next to empty places."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting._grid import make_grid
from unmet.forecasting._nearby import NearbyPlaces, find_nearby
from unmet.forecasting._parametric import fit_parametric, look_back
from unmet.forecasting._spill import NONE, Spill, estimate_spill, flows


def line(places: int, metres: float = 300.0) -> NearbyPlaces:
    lat = np.arange(places) * metres / 111_195.0
    return find_nearby(40.0 + lat, np.full(places, -74.0))


def test_neighbours_are_the_nearest_first() -> None:
    near = line(6)
    assert near.index[0].tolist() == [1, 2, 3, 4]
    assert near.metres[0] == pytest.approx([300, 600, 900, 1200], rel=1e-3)
    assert sorted(near.index[3][:2].tolist()) == [2, 4]


def test_places_without_coordinates_have_none() -> None:
    near = find_nearby([40.0, 40.001, np.nan], [-74.0, -74.0, -74.0])
    assert near.index.shape == (3, 1)
    assert near.metres[2, 0] == np.inf
    assert near.metres[0, 0] == pytest.approx(111.195, rel=1e-3)


def test_flows_by_hand() -> None:
    near = line(3)
    unserved = np.array([[10.0], [0.0], [0.0]])
    exposure = np.array([[0.0], [0.25], [1.0]])
    came, went = flows(Spill(1.0, 300.0), near, unserved, exposure)
    first, second = 10 * 0.25 * np.exp(-1), 10 * 0.75 * np.exp(-2)
    assert came[:, 0] == pytest.approx([0.0, first, second], rel=1e-3)
    assert went[0, 0] == pytest.approx(first + second, rel=1e-3)


def test_a_law_asked_for_alone_counts_in_full() -> None:
    """Draws follow one of several laws each, whatever its weight."""
    near = find_nearby([52.0, 52.001, 52.003], [13.0, 13.0, 13.0])
    rng = np.random.default_rng(0)
    unserved, exposure = rng.uniform(0, 3, (3, 48)), rng.uniform(size=(3, 48))
    logit = Spill(0.9, 200.0, law="logit", weight=0.25)
    both = Spill(0.5, 300.0, weight=0.75, others=(logit,))
    alone = [flows(law, near, unserved, exposure) for law in both.laws]
    for law, found in zip(both.laws, alone):
        np.testing.assert_array_equal(found, flows(replace(law, weight=1.0), near, unserved, exposure))
    mean = 0.75 * np.array(alone[0]) + 0.25 * np.array(alone[1])
    np.testing.assert_allclose(flows(both, near, unserved, exposure), mean)


def test_everybody_who_went_came() -> None:
    rng = np.random.default_rng(0)
    near = find_nearby(rng.uniform(40, 40.02, 20), rng.uniform(-74, -73.98, 20))
    came, went = flows(Spill(0.8, 400.0), near, rng.gamma(1, 1, (20, 50)), rng.uniform(size=(20, 50)))
    assert came.sum() == pytest.approx(went.sum())


@pytest.mark.parametrize("walk", [None, 300.0])
def test_the_walk_is_found(walk: float | None) -> None:
    rng = np.random.default_rng(1)
    near = line(30)
    mean = np.full((30, 1500), 1.5)
    exposure = (rng.uniform(size=mean.shape) > 0.2).astype(float)
    unserved = mean * (1 - exposure)
    truth = NONE if walk is None else Spill(1.0, walk)
    came, _ = flows(truth, near, unserved, exposure)
    y = rng.poisson(mean * exposure * rng.gamma(4, 0.25, size=mean.shape) + came).astype(float)
    found = estimate_spill(y, mean * exposure, np.full_like(mean, 4.0), unserved, exposure, near)
    if walk is None:
        assert found == NONE
    else:
        assert 0.01 < found.error < 0.1
        assert found.chance(np.array(300.0)) == pytest.approx(np.exp(-1), rel=0.2)


def test_a_model_that_is_fitted_on_finds_the_same_walkers() -> None:
    """Terms of time get other units with more data; walkers must not be taken for what rates then miss."""
    rng = np.random.default_rng(0)
    toy = make_toy(places=16, days=42, seed=5)
    grid, near = make_grid(toy.panel), line(16, 222.0)
    came, _ = flows(Spill(1.0, 300.0), near, toy.latent - grid.y, grid.exposure)
    warmer = grid.covariates["warmth"] + np.where(np.arange(42 * 24) < 21 * 24, 0.0, 3.0)
    grid = replace(grid, y=grid.y + rng.poisson(came), covariates={"warmth": warmer})
    from_start = fit_parametric(grid, near)
    fitted_on = fit_parametric(grid, near, start=fit_parametric(grid.until(21 * 24), near))
    assert fitted_on.spill.walk == pytest.approx(from_start.spill.walk, rel=0.15)
    for model in (from_start, fitted_on):
        assert look_back(model, grid, near).came.sum() == pytest.approx(came.sum(), rel=0.03)
