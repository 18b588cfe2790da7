"""Noise distributions of the synthetic data, each with its exact conditional quantiles."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# (random state, x2) → one draw per row.
Draw = Callable[[np.random.RandomState, Floats], Floats]
# (level, x2) → the conditional quantile of the noise, one per row.
Quantile = Callable[[float, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Noise:
    """How to draw a noise, and its quantiles. `published` are the paper's own, partly wrong, quantiles."""

    draw: Draw
    quantile: Quantile
    published: Quantile | None = None


def _normal(theta: float, scale: Floats) -> Floats:
    from scipy.special import ndtri

    return scale * ndtri(theta)


def _gaussian(scale: Callable[[Floats], Floats]) -> Quantile:
    return lambda theta, x2: _normal(theta, scale(x2))


def _draw_mixture(random: np.random.RandomState, x2: Floats) -> Floats:
    first = 0.75 * random.normal(0, 1, x2.size)
    return first + 0.25 * random.normal(0, 2, x2.size)


# Gamma noise is shifted and scaled to mean 0 and standard deviation 1. Its skewness is 2 / √shape.
def _draw_gamma(random: np.random.RandomState, shape: Floats) -> Floats:
    return (random.gamma(shape) - shape) / np.sqrt(shape)


def _gamma_quantile(theta: float, shape: Floats) -> Floats:
    from scipy.special import gammaincinv

    return (gammaincinv(shape, theta) - shape) / np.sqrt(shape)


def _two(x2: Floats) -> Floats:
    return np.full(x2.size, 2.0)


def _spread(x2: Floats) -> Floats:
    """Return a scale with root mean square 1, zero at x2 = −1 as in the paper's heteroskedastic noise."""
    return np.abs(1 + x2) / np.sqrt(2)


def _shape(x2: Floats) -> Floats:
    """Return a gamma shape from strongly skewed (low x2) to nearly Gaussian (high x2)."""
    return np.clip(np.exp(1 + x2), 0.5, 20.0)


def _laplace_quantile(theta: float, x2: Floats) -> Floats:
    """Return quantiles of scale 1/√2, which has standard deviation 1."""
    beyond = np.log(2 * min(theta, 1 - theta)) / np.sqrt(2)
    return np.full(x2.size, beyond if theta < 0.5 else -beyond)


def _student_quantile(theta: float, x2: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.full(x2.size, stdtrit(3, theta) / np.sqrt(3))


NOISES = {
    "gaussian": Noise(
        draw=lambda random, x2: random.normal(0, 1, x2.size),
        quantile=_gaussian(np.ones_like),
        published=_gaussian(np.ones_like),
    ),
    "heteroskedastic": Noise(
        draw=lambda random, x2: (1 + x2) * random.normal(0, 1, x2.size),
        quantile=_gaussian(lambda x2: np.abs(1 + x2)),
        published=_gaussian(lambda x2: np.abs(1 + x2)),
    ),
    # A weighted sum of two independent normals with variance 0.75² + 0.25²·2². The paper omits the 2².
    "mixture": Noise(
        draw=_draw_mixture,
        quantile=_gaussian(lambda x2: np.full(x2.size, np.hypot(0.75, 0.5))),
        published=_gaussian(lambda x2: np.full(x2.size, np.hypot(0.75, 0.25))),
    ),
    "skewed-right": Noise(
        draw=lambda random, x2: _draw_gamma(random, _two(x2)),
        quantile=lambda theta, x2: _gamma_quantile(theta, _two(x2)),
    ),
    "skewed-left": Noise(
        draw=lambda random, x2: -_draw_gamma(random, _two(x2)),
        quantile=lambda theta, x2: -_gamma_quantile(1 - theta, _two(x2)),
    ),
    "student": Noise(
        draw=lambda random, x2: random.standard_t(3, x2.size) / np.sqrt(3),
        quantile=_student_quantile,
    ),
    "laplace": Noise(
        draw=lambda random, x2: random.laplace(0, 1 / np.sqrt(2), x2.size),
        quantile=_laplace_quantile,
    ),
    "skewed-heteroskedastic": Noise(
        draw=lambda random, x2: _spread(x2) * _draw_gamma(random, _two(x2)),
        quantile=lambda theta, x2: _spread(x2) * _gamma_quantile(theta, _two(x2)),
    ),
    "varying-shape": Noise(
        draw=lambda random, x2: _draw_gamma(random, _shape(x2)),
        quantile=lambda theta, x2: _gamma_quantile(theta, _shape(x2)),
    ),
}
