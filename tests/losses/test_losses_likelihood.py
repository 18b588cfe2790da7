"""Asymmetric-Laplace and Tobit likelihoods: densities that integrate to one, hand values, gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from unmet.losses import (
    asymmetric_laplace_log_likelihood,
    multi_output_log_likelihood,
    sinh_arcsinh_quantile,
    tilted_loss,
    tobit_loss,
)

SHAPES = [(None, None), (0.0, 1.0), (0.4, 1.0), (-0.3, 0.7), (0.2, 1.6)]


def test_laplace_by_hand():
    assert asymmetric_laplace_log_likelihood(3.0, 1.0, 0.75) == pytest.approx(np.log(0.75 * 0.25) - 1.5)
    capped = asymmetric_laplace_log_likelihood(3.0, 9.0, 0.75, cap=4.0)
    assert capped == pytest.approx(np.log(0.75 * 0.25) - 0.25)
    capped = asymmetric_laplace_log_likelihood(3.0, -9.0, 0.75, cap=2.0, side="left")
    assert capped == pytest.approx(np.log(0.75 * 0.25) - 0.75)


@pytest.mark.parametrize("theta", [0.05, 0.5, 0.9])
def test_laplace_is_a_density_with_its_quantile_at_theta(theta):
    def density(y):
        return float(np.exp(asymmetric_laplace_log_likelihood(y, 1.0, theta)))

    below = integrate.quad(density, -np.inf, 1.0)[0]
    above = integrate.quad(density, 1.0, np.inf)[0]
    assert below == pytest.approx(theta, abs=1e-6)
    assert below + above == pytest.approx(1.0, abs=1e-6)


def test_multi_output_is_the_printed_sum_of_products():
    random = np.random.default_rng(0)
    y, quantiles, thetas = random.normal(size=4), random.normal(size=(3, 4)), np.array([0.1, 0.5, 0.9])
    total = 0.0
    for k, theta in enumerate(thetas):
        product = 1.0
        for i in range(4):
            product *= theta * (1 - theta) * np.exp(-tilted_loss(y[i], max(0.2, quantiles[k, i]), theta))
        total += product
    value = multi_output_log_likelihood(y, quantiles, thetas, cap=np.full(4, 0.2), side="left")
    assert value == pytest.approx(np.log(total))
    same = multi_output_log_likelihood(
        jnp.asarray(y), jnp.asarray(quantiles), thetas, np.full(4, 0.2), "left"
    )
    assert float(same) == pytest.approx(np.log(total), rel=1e-5)


def test_multi_output_does_not_underflow_and_one_level_is_the_single_likelihood():
    y, quantiles = np.zeros(5000), np.ones((1, 5000))
    single = asymmetric_laplace_log_likelihood(y, quantiles[0], 0.3).sum()
    assert multi_output_log_likelihood(y, quantiles, [0.3]) == pytest.approx(single)
    assert single < -5000


def test_multi_output_shapes_are_checked():
    with pytest.raises(ValueError, match=r"quantiles must have shape \(K, N\)"):
        multi_output_log_likelihood(np.zeros(3), np.zeros(3), [0.5])


def test_gaussian_tobit_by_scipy():
    y, location, scale = np.array([1.0, -2.0, 0.3]), np.array([0.5, 0.0, 0.3]), np.array([2.0, 1.0, 0.1])
    law = stats.norm(location, scale)
    none, every = np.zeros(3, bool), np.ones(3, bool)
    assert np.allclose(tobit_loss(y, location, scale, none), -law.logpdf(y))
    assert np.allclose(tobit_loss(y, location, scale, every), -law.logsf(y))
    assert np.allclose(tobit_loss(y, location, scale, every, side="left"), -law.logcdf(y))


def test_sinh_arcsinh_with_neutral_shape_is_the_gaussian():
    y, censored = np.linspace(-5, 5, 21), np.arange(21) % 2 == 0
    shaped = tobit_loss(y, 0.3, 1.2, censored, skew=0.0, tail=1.0)
    assert np.allclose(shaped, tobit_loss(y, 0.3, 1.2, censored))


@pytest.mark.parametrize(("skew", "tail"), SHAPES[1:])
def test_sinh_arcsinh_density_belongs_to_its_distribution_and_quantiles(skew, tail):
    def density(y):
        return float(np.exp(-tobit_loss(y, 0.5, 2.0, False, skew=skew, tail=tail)))

    assert integrate.quad(density, -np.inf, np.inf, limit=200)[0] == pytest.approx(1.0, abs=1e-6)
    for theta in (0.05, 0.5, 0.95):
        quantile = 0.5 + 2.0 * sinh_arcsinh_quantile(stats.norm.ppf(theta), skew, tail)
        left = np.exp(-tobit_loss(quantile, 0.5, 2.0, True, side="left", skew=skew, tail=tail))
        right = np.exp(-tobit_loss(quantile, 0.5, 2.0, True, side="right", skew=skew, tail=tail))
        assert (left, right) == (pytest.approx(theta), pytest.approx(1 - theta))
        assert integrate.quad(density, -np.inf, quantile, limit=200)[0] == pytest.approx(theta, abs=1e-6)


@settings(deadline=None)
@given(
    st.floats(-20, 20),
    st.floats(-5, 5),
    st.floats(0.1, 5),
    st.booleans(),
    st.floats(-1, 1),
    st.floats(0.4, 2),
)
def test_left_tobit_is_the_mirror_image_of_right(y, location, scale, censored, skew, tail):
    right = tobit_loss(y, location, scale, censored, side="right", skew=skew, tail=tail)
    left = tobit_loss(-y, -location, scale, censored, side="left", skew=-skew, tail=tail)
    assert left == pytest.approx(right, rel=1e-9, abs=1e-9)


FAR = jnp.array([-1e3, -1e2, -30.0, -16.0, -1.0, 0.0, 1.0, 16.0, 30.0, 1e2, 1e3], jnp.float32)


def total(side, y, location, scale, *shape):
    """Every value once as exact and once as censored."""
    censored = jnp.stack([jnp.zeros_like(y, bool), jnp.ones_like(y, bool)])
    return tobit_loss(y, location, scale, censored, side, *shape).sum()


slopes_of_gaussian = jax.jit(jax.value_and_grad(total, argnums=(1, 2, 3)), static_argnums=0)
slopes_of_shaped = jax.jit(jax.value_and_grad(total, argnums=(1, 2, 3, 4, 5)), static_argnums=0)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(("skew", "tail"), [*SHAPES, (1.0, 3.0)])
def test_gradients_are_finite_in_float32_far_out(side, skew, tail):
    arguments = (FAR, *np.float32([0.0, 1.0]))
    if skew is None:
        value, slopes = slopes_of_gaussian(side, *arguments)
    else:
        value, slopes = slopes_of_shaped(side, *arguments, *np.float32([skew, tail]))
    assert np.isfinite(value)
    assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.mark.parametrize(("side", "bound"), [("left", jnp.inf), ("right", -jnp.inf)])
def test_a_bound_that_says_nothing_costs_nothing_and_spoils_no_gradient(side, bound):
    def loss(location):
        y, censored = jnp.array([bound, 0.5]), jnp.array([True, False])
        return tobit_loss(y, location, 1.0, censored, side=side).sum()

    value, slope = jax.jit(jax.value_and_grad(loss))(jnp.float32(0.0))
    assert value == pytest.approx(0.125 + 0.5 * np.log(2 * np.pi))
    assert slope == pytest.approx(-0.5)


@pytest.mark.parametrize(("skew", "tail"), SHAPES)
@pytest.mark.parametrize("side", ["right", "left"])
def test_gradients_equal_finite_differences(side, skew, tail):
    random = np.random.default_rng(1)
    y, censored = random.normal(scale=3, size=40), random.random(40) < 0.5

    def loss(location):
        return tobit_loss(y, location, 1.3, censored, side, skew, tail)

    step = 1e-5
    slopes = (loss(0.2 + step) - loss(0.2 - step)) / (2 * step)
    gradients = jax.jit(jax.jacfwd(loss))(jnp.float32(0.2))
    assert np.allclose(gradients, slopes, rtol=2e-3, atol=2e-3)


def test_the_deep_tail_is_exact_in_float32():
    z = np.array([-15.9, -16.1, -40.0, -300.0, -1000.0])
    deep = jax.jit(jax.vmap(jax.value_and_grad(lambda y: tobit_loss(y, 0.0, 1.0, True, side="left"))))
    value, slope = deep(jnp.asarray(z, jnp.float32))
    assert np.allclose(value, -stats.norm.logcdf(z), rtol=1e-5)
    hazard = np.exp(stats.norm.logpdf(z) - stats.norm.logcdf(z))
    assert np.allclose(slope, -hazard, rtol=1e-4)


def described(function, xp):
    """The result, or for JAX its shape and type without compiling anything."""
    return function() if xp is np else jax.eval_shape(function)


@pytest.mark.parametrize("xp", [np, jnp])
def test_float32_stays_float32(xp):
    small = xp.ones(3, "float32")
    for scale, shape in (
        (small, {}),
        (2.0, {"skew": small, "tail": small}),
        (2.0, {"skew": 0.1, "tail": 1.1}),
    ):
        loss = described(
            lambda scale=scale, shape=shape: tobit_loss(small, small, scale, small > 0, **shape), xp
        )
        assert (loss.dtype, getattr(loss, "weak_type", False)) == (np.float32, False)
    assert described(lambda: sinh_arcsinh_quantile(small, small, small), xp).dtype == np.float32
    laplace = described(lambda: asymmetric_laplace_log_likelihood(small, small, 0.3, small), xp)
    assert laplace.dtype == np.float32


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="skew and tail"):
        tobit_loss(0.0, 0.0, 1.0, False, skew=0.1)
    with pytest.raises(ValueError, match="scale"):
        tobit_loss(0.0, 0.0, 0.0, False)
    with pytest.raises(ValueError, match="tail"):
        tobit_loss(0.0, 0.0, 1.0, False, skew=0.0, tail=-1.0)
    with pytest.raises(ValueError, match="side"):
        tobit_loss(0.0, 0.0, 1.0, False, side="upper")
    with pytest.raises(ValueError, match=r"censored \(3,\)"):
        tobit_loss(np.zeros(2), 0.0, 1.0, np.zeros(3, bool))
