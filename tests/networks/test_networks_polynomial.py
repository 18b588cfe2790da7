"""Functions by polynomials against NumPy's in double precision."""

import jax
import jax.numpy as jnp
import numpy as np

from unmet.networks._polynomial import fast_tanh, polynomial


def test_a_polynomial_has_its_constant_first():
    assert polynomial((1.0, 2.0, 3.0), jnp.array([2.0])) == 1 + 2 * 2 + 3 * 4


def test_tanh_is_right_to_half_a_millionth_and_stays_within_one():
    magnitudes = np.concatenate([np.geomspace(1e-30, 1e30, 20_001), np.linspace(0, 10, 100_001)])
    x = np.concatenate([-magnitudes, magnitudes]).astype(np.float32)
    found, right = np.asarray(jax.jit(fast_tanh)(x), float), np.tanh(x.astype(float))
    assert (np.abs(found - right) <= 5e-7 * np.abs(right)).all()
    assert (np.abs(found) <= 1).all()
    assert np.isnan(fast_tanh(jnp.nan))
