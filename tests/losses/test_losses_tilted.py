"""Tilted losses: hand-computed values, limits, mirror images and gradients."""

import doctest
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmet.losses as losses
from unmet.losses import censored_tilted_loss, smooth_tilted_loss, tilted_loss

values = st.integers(-40, 40).map(lambda k: k / 8)
levels = st.sampled_from([0.05, 0.25, 0.5, 0.9])
widths = st.sampled_from([0.0, 0.25, 1.0])


@pytest.mark.parametrize("name", ["_tilted", "_portnoy", "_laplace", "_tobit"])
def test_documented_examples(name):
    result = doctest.testmod(getattr(losses, name))
    assert result.failed == 0
    assert result.attempted > 0


def test_tilted_by_hand():
    y, q = np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    assert tilted_loss(y, q, 0.9).tolist() == pytest.approx([1.8, 0.2, 0.0])
    assert tilted_loss(y, q, 0.1).tolist() == pytest.approx([0.2, 1.8, 0.0])


def test_smooth_by_hand():
    # θ = 0.8, w = 2: r = 1 → 0.8·1/4; r = −1 → 0.2·1/4; r = 5 → 0.8·4; r = −5 → 0.2·4; r = 2 → 0.8·1.
    residual = np.array([1.0, -1.0, 5.0, -5.0, 2.0, 0.0])
    assert smooth_tilted_loss(residual, 0.0, 0.8, 2.0).tolist() == pytest.approx(
        [0.2, 0.05, 3.2, 0.8, 0.8, 0.0]
    )


def test_censored_by_hand():
    # Right: q = 5 is held at cap 3, r = 2 − 3. Left: q = 0 is held at cap 1, r = 2 − 1.
    assert censored_tilted_loss(2.0, 5.0, 0.25, 3.0) == pytest.approx(0.75)
    assert censored_tilted_loss(2.0, 0.0, 0.25, 1.0, side="left") == pytest.approx(0.25)
    assert censored_tilted_loss(2.0, 0.0, 0.25, 1.0, side="left", width=4.0) == pytest.approx(0.25 / 8)


@settings(deadline=None)
@given(values, values, levels)
def test_it_is_not_negative_and_zero_only_at_the_observation(y, q, theta):
    loss = tilted_loss(y, q, theta)
    assert loss >= 0
    assert (loss == 0) == (y == q)


@settings(deadline=None)
@given(values, values, levels, st.sampled_from([0.01, 0.5, 3.0]))
def test_smooth_lies_below_tilted_by_at_most_half_the_width(y, q, theta, width):
    gap = tilted_loss(y, q, theta) - smooth_tilted_loss(y, q, theta, width)
    assert -1e-12 <= gap <= max(theta, 1 - theta) * width / 2 + 1e-12


@settings(deadline=None)
@given(values, values, levels, values, widths)
def test_left_is_the_mirror_image_of_right(y, q, theta, cap, width):
    right = censored_tilted_loss(y, q, theta, cap, side="right", width=width)
    left = censored_tilted_loss(-y, -q, 1 - theta, -cap, side="left", width=width)
    assert left == pytest.approx(right, abs=1e-12)


@settings(deadline=None)
@given(values, values, levels, widths)
def test_without_a_finite_cap_it_is_the_plain_loss_exactly(y, q, theta, width):
    plain = tilted_loss(y, q, theta) if width == 0 else smooth_tilted_loss(y, q, theta, width)
    assert censored_tilted_loss(y, q, theta, np.inf, side="right", width=width) == plain
    assert censored_tilted_loss(y, q, theta, -np.inf, side="left", width=width) == plain


slopes_of_all_arguments = jax.jit(jax.grad(censored_tilted_loss, argnums=(0, 1, 2, 3)), static_argnums=(4, 5))


@settings(deadline=None)
@given(values, values, levels, st.one_of(values, st.just(np.inf)), widths)
def test_gradients_are_finite_everywhere_also_at_ties(y, q, theta, cap, width):
    for side, bound in (("right", cap), ("left", -cap)):
        slopes = slopes_of_all_arguments(*np.float32([y, q, theta, bound]), side, width)
        assert np.isfinite(slopes).all()


@pytest.mark.parametrize("width", [0.0, 0.5])
@pytest.mark.parametrize("side", ["right", "left"])
def test_gradients_equal_finite_differences(side, width):
    random = np.random.default_rng(3)
    y, q, cap = random.normal(size=(3, 50))
    theta = random.uniform(0.05, 0.95, 50)

    def loss(shift, xp=np):
        return censored_tilted_loss(xp.asarray(y), xp.asarray(q) + shift, theta, cap, side, width)

    step = 1e-6
    slopes = (loss(step) - loss(-step)) / (2 * step)
    gradients = jax.jit(jax.jacfwd(lambda shift: loss(shift, jnp)))(0.0)
    # Rows within a step of a kink have no derivative to compare with.
    smooth = (np.abs(q - cap) > 1e-4) & (np.abs(y - q) > 1e-4) & (np.abs(y - cap) > 1e-4)
    assert smooth.sum() > 40
    assert np.allclose(gradients[smooth], slopes[smooth], atol=1e-4)


def test_a_quantile_beyond_its_cap_gets_no_gradient():
    gradient = jax.grad(lambda q: censored_tilted_loss(1.0, q, 0.3, jnp.float32(2.0)))(jnp.float32(5.0))
    assert gradient == 0


def test_smooth_gradient_is_continuous_through_zero():
    slope = jax.vmap(jax.grad(lambda q: smooth_tilted_loss(0.0, q, 0.3, 0.5)))(jnp.array([-1e-4, 0.0, 1e-4]))
    assert np.allclose(slope, [-0.3e-4 / 0.5, 0.0, 0.7e-4 / 0.5], atol=1e-7)


def test_float32_stays_float32_and_types_are_not_weak():
    small = np.ones(3, np.float32)
    assert tilted_loss(small, small, 0.5).dtype == np.float32
    assert smooth_tilted_loss(small, small, 0.5, 0.1).dtype == np.float32
    assert censored_tilted_loss(small, small, 0.5, small, width=0.1).dtype == np.float32
    result = censored_tilted_loss(jnp.ones(3), jnp.ones(3), 0.5, jnp.ones(3), width=0.1)
    assert (result.dtype, result.weak_type) == (jnp.float32, False)


def test_arguments_broadcast_and_misfits_are_refused():
    assert tilted_loss(np.ones((4, 1)), np.ones((4, 3)), np.full(3, 0.5)).shape == (4, 3)
    with pytest.raises(ValueError, match=r"y \(2,\), quantile \(3,\)"):
        tilted_loss(np.ones(2), np.ones(3), 0.5)
    with pytest.raises(ValueError, match=r"cap \(2,\)"):
        censored_tilted_loss(jnp.ones(3), jnp.ones(3), 0.5, jnp.ones(2))
    with pytest.raises(ValueError, match="width"):
        smooth_tilted_loss(1.0, 1.0, 0.5, 0.0)
    with pytest.raises(ValueError, match="width"):
        censored_tilted_loss(1.0, 1.0, 0.5, 1.0, width=-1.0)
    with pytest.raises(ValueError, match="side"):
        censored_tilted_loss(1.0, 1.0, 0.5, 1.0, side="up")


def test_numpy_use_imports_no_jax():
    code = (
        "import sys, numpy as np, unmet.losses as l, unmet.metrics as m;"
        "l.tobit_loss(np.ones(2), 0.0, 1.0, np.array([True, False]), skew=0.1, tail=1.0);"
        "l.portnoy_loss(np.ones(2), np.ones((3, 2)), np.array([.1, .5, .9]), np.array([True, False]), 9.0);"
        "m.tilted_loss(np.ones(2), np.ones(2), 0.5);"
        "assert not {'jax', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
