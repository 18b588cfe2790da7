"""Kernel features: a Gaussian kernel as a linear network over cosines and sines of fixed frequencies."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from unmet.networks._layers import Linear, drop
from unmet.networks._polynomial import polynomial


class Kernel(eqx.Module):
    """x → W [x, φ(x)] + b with φ(x) = (cos ωₖ'(x/h), sin ωₖ'(x/h)) and fixed normal frequencies ω.

    φ(x)'φ(x')/m is close to the Gaussian kernel exp(−‖(x − x')/h‖²/2), so that a ridge on W fits the
    function that a support vector machine with that kernel would, at a cost that is linear in the rows. The
    bandwidths h, one per column, start at the root of the number of columns, about the median distance of two
    standardised rows over √2, and are learnt with W.

    References
    ----------
    Rahimi & Recht (2007), Random features for large-scale kernel machines, NeurIPS. Shim & Hwang (2009),
    Support vector censored quantile regression under random censoring, Comput. Stat. Data Anal. 53.
    """

    log_bandwidth: Array
    layers: tuple[Linear, ...]
    count: int = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Array, key: Array | None = None) -> Array:
        x = drop(x, self.dropout, key)
        waves = frequencies(self.count, len(x)) @ (x * jnp.exp(-self.log_bandwidth)[:, None])
        share = np.float32(1 / np.sqrt(self.count))
        cosine, sine = circle(waves)
        return self.layers[-1](jnp.concatenate([x, share * cosine, share * sine]))


# Powers of r² in cos 2πr and (sin 2πr)/r, least worst on |r| ≤ 1/2.
_COSINE = (0.999999989, -19.7392045, 64.939119, -85.4501656, 60.1678317, -25.9683133, 6.52961037)
_SINE = (6.28318527, -41.3416971, 81.6050246, -76.701551, 42.0161649, -14.8686084, 3.19969071)


@jax.custom_jvp
def circle(angle: Array) -> tuple[Array, Array]:
    """Return cosine and sine, within 1e-5 for angles up to ten turns, by polynomials.

    XLA's own take a number at a time, and most of the time of a fit.
    """
    turns = angle * np.float32(0.5 / np.pi)
    turns -= jnp.round(turns)
    square = jnp.square(turns)
    return polynomial(_COSINE, square), turns * polynomial(_SINE, square)


@circle.defjvp
def _circle_jvp(angle: tuple[Array], change: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    cosine, sine = circle(*angle)
    return (cosine, sine), (-sine * change[0], cosine * change[0])


@cache
def frequencies(count: int, columns: int) -> NDArray[np.float32]:
    """Return normal numbers (count, columns): even quantiles in each column, in an order as good as random.

    They are the same on every machine, and a column's do not depend on how many there are.
    """
    from scipy.special import ndtri

    even = ndtri((np.arange(count) + 0.5) / count)
    orders = [np.argsort(_mixed(number * 2**32 + np.arange(count))) for number in range(columns)]
    return np.asarray(even[np.column_stack(orders)], np.float32)


def _mixed(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the numbers after the finaliser of SplitMix64, which NumPy's versions cannot change.

    References
    ----------
    Steele, Lea & Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
    """
    found = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
