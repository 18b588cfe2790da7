"""Losses of rows known by bounds: hand values, scipy's distributions, one-sided limits, gradients."""

import doctest

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from unmet import losses
from unmet.losses import (
    censored_tilted_loss,
    doubly_censored_tilted_loss,
    interval_tilted_loss,
    interval_tobit_loss,
    level_at,
    portnoy_loss,
    self_consistent_loss,
    tobit_loss,
)

INF = np.inf


def test_interval_likelihood_by_scipy():
    lower, upper = np.array([-1.0, 0.5, -3.0]), np.array([1.0, 2.0, -1.5])
    location, scale = np.array([0.0, 1.0, -1.0]), np.array([1.0, 2.0, 0.5])
    law = stats.norm(location, scale)
    found = interval_tobit_loss(lower, upper, location, scale)
    assert np.allclose(found, -np.log(law.cdf(upper) - law.cdf(lower)))


@pytest.mark.parametrize("shape", [(None, None), (0.4, 0.8)])
def test_one_sided_and_exact_limits_are_the_tobit_loss(shape):
    y = np.linspace(-30, 30, 41)
    for side, lower, upper in (("right", y, np.full(41, INF)), ("left", np.full(41, -INF), y)):
        assert np.allclose(
            interval_tobit_loss(lower, upper, 0.3, 2.0, *shape),
            tobit_loss(y, 0.3, 2.0, True, side, *shape),
            rtol=1e-12,
        )
    assert np.array_equal(
        interval_tobit_loss(y, y, 0.3, 2.0, *shape), tobit_loss(y, 0.3, 2.0, False, "right", *shape)
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_narrow_intervals_tend_to_the_density_times_the_width(kind):
    """From one series to the other: no jump, no cancellation, in the middle and in the tails."""
    for width in (1e-6, 1e-4, 1.9e-4, 2.1e-4, 1e-2, 0.099, 0.101)[2 if kind is np.float32 else 0 :]:
        middle = np.linspace(-12, 12, 25)
        exact = -stats.norm.logpdf(middle) - np.log(width)
        # the second-order term of the integral over the interval
        exact -= np.log1p((middle**2 - 1) * width**2 / 24)
        if kind is np.float32:
            found = np.asarray(
                interval_tobit_loss(0.0, jnp.float32(width), jnp.float32(width / 2 - middle), 1.0)
            )
        else:
            found = interval_tobit_loss(middle - width / 2, middle + width / 2, 0.0, 1.0)
        assert np.allclose(
            found, exact, rtol=2e-3 if width > 0.05 else (2e-4 if kind is np.float32 else 1e-6)
        )


def test_gradients_of_the_interval_likelihood_are_finite_and_right():
    bounds = [(-1.0, 2.0), (-INF, 1.0), (1.0, INF), (2.0, 2.0), (8.0, 9.0), (-1e9, 1e9), (40.0, 41.0)]
    for lower, upper in bounds:

        def loss(parts, lower=lower, upper=upper):
            return interval_tobit_loss(jnp.float32(lower), jnp.float32(upper), *parts)

        for parts in ([0.2, 1.5], [0.2, 1.5, 0.3, 0.8]):
            at = jnp.array(parts, jnp.float32)
            slope = np.asarray(jax.jit(jax.grad(loss))(at))
            assert np.isfinite(slope).all()
            for number in range(len(parts)):
                step = np.zeros(len(parts))
                step[number] = 1e-5
                by_hand = interval_tobit_loss(lower, upper, *(np.array(parts) + step))
                by_hand = (by_hand - interval_tobit_loss(lower, upper, *(np.array(parts) - step))) / 2e-5
                assert slope[number] == pytest.approx(float(by_hand), rel=2e-3, abs=1e-4)


def test_a_floor_and_a_cap_by_hand():
    q = np.array([-2.0, 0.5, 2.0, 9.0])
    found = doubly_censored_tilted_loss(1.0, q, 0.25, 0.0, 4.0)
    assert found.tolist() == [0.25, 0.125, 0.75, 2.25]
    assert np.array_equal(
        doubly_censored_tilted_loss(1.0, q, 0.25, -INF, 4.0), censored_tilted_loss(1.0, q, 0.25, 4.0)
    )
    assert np.array_equal(
        doubly_censored_tilted_loss(1.0, q, 0.25, 0.0, INF), censored_tilted_loss(1.0, q, 0.25, 0.0, "left")
    )


def curves():
    random = np.random.default_rng(0)
    thetas = np.linspace(0.1, 0.9, 9)
    quantiles = stats.norm.ppf(thetas)[:, None] + random.normal(size=6)
    return thetas, quantiles, random.normal(size=6), np.array([0, 1, 0, 1, 1, 0])


def test_open_rows_have_portnoys_loss_on_either_side():
    thetas, quantiles, y, flags = curves()
    far = 50.0
    ours = self_consistent_loss(y, np.where(flags, far, y), flags, quantiles, thetas)
    assert np.allclose(ours, portnoy_loss(y, quantiles, thetas, flags == 1, far))
    mirrored = self_consistent_loss(
        np.where(flags, -far, -y), -y, -flags, -quantiles[::-1], (1 - thetas)[::-1]
    )
    assert np.allclose(mirrored[::-1], ours)


def test_the_mass_of_an_interval_lies_as_the_quantiles_say():
    """Quantiles 1 … 9 at .1 … .9; (2, 6) holds .2 to .6: half of it lies below the .4 quantile."""
    thetas, quantiles = np.arange(1, 10) / 10, np.arange(1.0, 10.0)[:, None]
    found = self_consistent_loss(np.array([2.0]), np.array([6.0]), np.array([2]), quantiles, thetas)[:, 0]
    assert found[3] == pytest.approx(0.5 * 0.6 * 2 + 0.5 * 0.4 * 2)
    assert found[0] == pytest.approx(0.1 * 1)  # all mass at 2, above the quantile
    assert found[8] == pytest.approx(0.1 * 3)  # all mass at 6, below it
    assert level_at(np.array([-30.0, 40.0]), np.repeat(quantiles, 2, axis=1), thetas) == pytest.approx(
        [0, 1], abs=1e-9
    )


def test_the_distance_to_an_interval():
    assert interval_tilted_loss(1.0, INF, np.array([0.0, 5.0]), 0.75).tolist() == [0.75, 0.0]
    assert interval_tilted_loss(1.0, 1.0, np.array([0.0, 5.0]), 0.75).tolist() == [0.75, 1.0]


def test_documented_examples():
    for name in ("_intervals", "_tilted"):
        found = doctest.testmod(getattr(losses, name))
        assert found.failed == 0
        assert found.attempted > 0
