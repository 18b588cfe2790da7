"""Kernel features: a Gaussian kernel as a linear network over cosines and sines of fixed frequencies."""

from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from unmet.networks._layers import Linear, drop


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
        return self.layers[-1](jnp.concatenate([x, share * jnp.cos(waves), share * jnp.sin(waves)]))


@cache
def frequencies(count: int, columns: int) -> NDArray[np.float32]:
    """Return normal numbers (count, columns) that fill space evenly: multiples of roots of primes, modulo 1.

    They are the same on every machine, and a column's do not depend on how many there are.
    """
    from scipy.special import ndtri

    places = np.outer(np.arange(count) + 0.5, np.sqrt(_primes(columns))) % 1
    return np.asarray(ndtri(np.clip(places, 1e-6, 1 - 1e-6)), np.float32)


def _primes(count: int) -> NDArray[np.int64]:
    most = 16 + int(count * (np.log(count + 1) + np.log(np.log(count + 3) + 1) + 2))
    sieve = np.ones(most, bool)
    sieve[:2] = False
    for number in range(2, int(most**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return np.flatnonzero(sieve)[:count]
