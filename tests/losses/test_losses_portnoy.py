"""Portnoy's weights: levels, edge cases, and the property that makes the loss consistent."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.losses import crossing_level, portnoy_loss, portnoy_weights, tilted_loss

GRID = np.array([0.2, 0.4, 0.6, 0.8])
CURVE = np.array([1.0, 2.0, 4.0, 8.0])


def level(y, curve=CURVE, grid=GRID):
    return float(crossing_level(np.array([y]), np.asarray(curve, float)[:, None], np.asarray(grid))[0])


@pytest.mark.parametrize(
    ("y", "expected"),
    [(1.0, 0.2), (1.5, 0.3), (2.0, 0.4), (3.0, 0.5), (6.0, 0.7), (8.0, 0.8), (9.0, 0.8), (1e9, 0.8)],
)
def test_interpolates_between_grid_levels_and_stops_at_the_last(y, expected):
    assert level(y) == pytest.approx(expected)


def test_below_the_grid_an_exponential_tail_continues_the_first_piece():
    # Slope 0.2 per unit at q₁ = 1: level 0.2·exp(y − 1).
    assert level(0.0) == pytest.approx(0.2 * np.exp(-1))
    assert level(1 - 1e-6) == pytest.approx(0.2 - 0.2e-6, abs=1e-10)
    assert level(-1e9) == 0.0


def test_without_a_slope_rows_below_drop_out():
    assert level(0.0, [1.0], [0.5]) == 0.0
    assert level(2.0, [1.0], [0.5]) == 0.5
    assert level(0.0, [1.0, 1.0], [0.3, 0.6]) == 0.0
    assert level(1.0, [1.0, 1.0], [0.3, 0.6]) == 0.6


def test_a_vanishing_gap_does_not_overflow():
    assert level(-1e300, [0.0, 5e-324], [0.3, 0.6]) == 0.0


@settings(deadline=None)
@given(st.permutations(CURVE.tolist()), st.floats(-3, 12))
def test_crossing_curves_are_rearranged(curve, y):
    assert level(y, curve) == pytest.approx(level(y), abs=1e-12)


@settings(deadline=None)
@given(
    st.lists(st.integers(-8, 8).map(float), min_size=4, max_size=4), st.floats(-20, 20), st.floats(0.001, 9)
)
def test_level_stays_in_range_and_grows_with_y(curve, y, more):
    assert 0 <= level(y, curve) <= 0.8
    assert level(y + more, curve) >= level(y, curve) - 1e-12


def test_any_number_of_trailing_axes_and_both_libraries():
    random = np.random.default_rng(0)
    y, curves = random.normal(size=(6, 3)), random.normal(size=(4, 6, 3))
    both = crossing_level(y, curves, GRID)
    assert both.shape == (6, 3)
    assert np.allclose(both[:, 1], crossing_level(y[:, 1], curves[..., 1], GRID))
    assert np.allclose(both, crossing_level(y, curves, GRID[:, None, None]))
    # A float64 y may sit on the other side of a float32 quantile only by rounding, so levels agree closely.
    assert np.allclose(both, jax.jit(crossing_level)(y, curves, GRID), atol=1e-4)
    assert portnoy_loss(y, curves, GRID, y > 0, 9.0).shape == (4, 6, 3)


def test_weights_by_hand():
    # Level 0.5: θ = 0.6 → 0.1/0.5, θ = 0.8 → 0.3/0.5.
    assert portnoy_weights(0.5, GRID).tolist() == pytest.approx([1.0, 1.0, 0.2, 0.6])


def test_weights_at_the_edges():
    assert portnoy_weights(0.0, GRID).tolist() == pytest.approx(GRID.tolist())
    assert portnoy_weights(0.4, 0.4) == 1.0
    assert portnoy_weights(0.8, GRID).tolist() == [1.0] * 4
    assert portnoy_weights(1.0, 0.9) == 1.0
    assert np.isfinite(jax.grad(lambda level: portnoy_weights(level, jnp.asarray(GRID)).sum())(1.0))


def test_loss_by_hand():
    # A censored row at 3 has level 0.5, so θ = 0.6 (q = 4) has weight 0.2:
    # 0.2·ρ(3 − 4) + 0.8·ρ(100 − 4) = 0.2·0.4 + 0.8·57.6.
    loss = portnoy_loss(np.array([3.0, 3.0]), np.stack([CURVE] * 2, 1), GRID, np.array([True, False]), 100.0)
    assert loss.shape == (4, 2)
    assert loss[2, 0] == pytest.approx(0.2 * 0.4 + 0.8 * 57.6)
    assert loss[0, 0] == pytest.approx(0.2 * 2)
    assert loss[:, 1].tolist() == pytest.approx(tilted_loss(3.0, CURVE, GRID).tolist())


def test_nothing_censored_is_the_plain_loss_exactly():
    random = np.random.default_rng(1)
    y, curves = random.normal(size=20), random.normal(size=(4, 20))
    plain = tilted_loss(y, curves, GRID[:, None])
    assert np.array_equal(portnoy_loss(y, curves, GRID, np.zeros(20, bool), 50.0), plain)


def test_a_row_far_below_the_grid_pulls_at_no_quantile():
    def loss(curves):
        return portnoy_loss(jnp.array([-50.0]), curves, jnp.asarray(GRID), jnp.array([True]), 60.0).sum()

    assert np.allclose(jax.jit(jax.grad(loss))(jnp.asarray(CURVE)[:, None]), 0, atol=1e-6)


def test_no_gradient_flows_through_the_weights():
    random = np.random.default_rng(2)
    y, curves = random.normal(size=15), np.sort(random.normal(size=(4, 15)), axis=0)
    weight = np.asarray(portnoy_weights(crossing_level(y, curves, GRID), GRID[:, None]))

    def held(q):
        seen, moved = tilted_loss(y, q, GRID[:, None]), tilted_loss(30.0, q, GRID[:, None])
        return (weight * seen + (1 - weight) * moved).sum()

    def loss(q):
        return portnoy_loss(y, q, GRID, np.ones(15, bool), 30.0).sum()

    slopes = [jax.jit(jax.grad(function))(jnp.asarray(curves)) for function in (loss, held)]
    assert np.allclose(*slopes, atol=1e-6)


def test_gradients_are_finite_at_ties_and_between_equal_quantiles():
    curves = jnp.array([[1.0, 1.0], [1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])

    def loss(q, y):
        return portnoy_loss(y, q, jnp.asarray(GRID), jnp.array([True, True]), 10.0).sum()

    slopes = jax.jit(jax.grad(loss, argnums=(0, 1)))
    for y in (0.0, 1.0, 2.0, 3.0, 9.0):
        gradients = slopes(curves, jnp.full(2, y))
        assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_true_quantiles_are_stationary_where_treating_bounds_as_exact_is_biased():
    """Latent exponential, random thresholds known by flags only: the mean gradient vanishes at the truth."""
    random = np.random.default_rng(5)
    n = 200_000
    latent, threshold = random.exponential(1.0, n), random.exponential(2.0, n)
    y, censored = np.minimum(latent, threshold), latent > threshold
    grid = np.arange(1, 10) / 10
    fine = np.arange(1, 100) / 100
    true = -np.log1p(-grid)
    # Levels from the true distribution on a fine grid, weights at the coarse one.
    reached = crossing_level(y, np.repeat(-np.log1p(-fine)[:, None], n, axis=1), fine)
    weight = portnoy_weights(reached, grid[:, None])
    below = (y <= true[:, None]).astype(float)
    share = np.where(censored, weight, 1.0)
    # d/dq of the loss: below·w − θ·w − θ·(1 − w) = below·w − θ.
    gradient = (below * share - grid[:, None]).mean(axis=1)
    assert np.abs(gradient[:-1]).max() < 0.005
    naive = (below - grid[:, None]).mean(axis=1)
    assert naive.min() > 0.02


def test_smoothing_uses_the_smoothed_loss():
    loss = portnoy_loss(np.array([3.0]), CURVE[:, None], GRID, np.array([False]), 100.0, width=2.0)
    assert loss[1, 0] == pytest.approx(0.4 * 0.25)


@pytest.mark.parametrize("xp", [np, jnp])
def test_float32_stays_float32(xp):
    small, curves, grid = xp.ones(3, "float32"), xp.ones((4, 3), "float32"), xp.asarray(GRID, "float32")

    def results():
        level = crossing_level(small, curves, grid)
        loss = portnoy_loss(small, curves, grid, small > 0, 9.0, width=0.1)
        return level, portnoy_weights(level, grid[:, None]), loss

    for result in results() if xp is np else jax.eval_shape(results):
        assert (result.dtype, getattr(result, "weak_type", False)) == (np.float32, False)


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="thetas"):
        crossing_level(np.ones(3), np.ones((4, 3)), GRID[:3])
    with pytest.raises(ValueError, match="one level of quantiles"):
        crossing_level(np.ones(2), np.ones((4, 3)), GRID)
    with pytest.raises(ValueError, match="quantiles"):
        portnoy_loss(np.ones((5, 3)), np.ones((4, 3)), GRID, np.ones(3, bool), 9.0)
