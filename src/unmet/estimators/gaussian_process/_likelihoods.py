"""Expected log-likelihoods under normal latent values: closed forms for exact rows, quadrature for bounds."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.gaussian_process._counts import log_between, log_mass
from unmet.losses import interval_tobit_loss, tobit_loss

Floats = NDArray[np.float64]
HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))
NODES, SCALE_NODES = 12, 6


class Entries(NamedTuple):
    """What was seen, one entry per row and output that has a value: where it belongs, bounds and weight.

    Exact entries and those that are only bounded are apart, because the second cost far more.
    """

    exact: Any  # (n,): the position, row × outputs + output
    y: Any
    exact_weight: Any
    bounded: Any
    lower: Any
    upper: Any
    bounded_weight: Any


@cache
def nodes(count: int) -> tuple[Floats, Floats]:
    """Return places and weights of Gauss–Hermite quadrature for a standard normal variable.

    Examples
    --------
    >>> places, weights = nodes(5)
    >>> round(float(weights @ places**4), 12)
    3.0
    """
    places, weights = np.polynomial.hermite_e.hermegauss(count)
    return places, weights / weights.sum()


def expected_log_likelihood(
    likelihood: str,
    moments: list[tuple[Any, Any]],
    noise: Mapping[str, Any],
    seen: Entries,
    intervals: bool = True,
) -> Any:
    """Return Σ weight E[log p(what was seen | f)] over all entries.

    Parameters
    ----------
    likelihood : {"gaussian", "poisson", "negative-binomial"}
    moments
        Mean and variance of the latent values, shape (rows, outputs) each; and those of the log-scale if it
        has a process of its own.
    noise
        Logarithm of the scale ("gaussian") or of the shape ("negative-binomial") of each output.
    intervals
        Whether any entry has a bound on both sides.
    """
    outputs = moments[0][0].shape[1]
    total = 0.0
    for position, weight, part in (
        (seen.exact, seen.exact_weight, _exact(likelihood, seen.y)),
        (seen.bounded, seen.bounded_weight, _bounded(likelihood, seen.lower, seen.upper, intervals)),
    ):
        if position.shape[0]:
            there = [(m.ravel()[position], v.ravel()[position]) for m, v in moments]
            level = noise["level"][position % outputs] if "level" in noise else None
            total = total + (weight * part(there, level)).sum()
    return total


def _exact(likelihood: str, y: Any) -> Any:
    """Return the function that gives E[log p(y | f)] of each entry."""
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    def gaussian(moments: Any, level: Any) -> Any:
        m, v = moments[0]
        if len(moments) == 1:
            center, precision = level, jnp.exp(-2 * level)
        else:
            center, spread = moments[1]
            precision = jnp.exp(-2 * center + 2 * spread)
        return -HALF_LOG_2PI - center - 0.5 * ((y - m) ** 2 + v) * precision

    def poisson(moments: Any, level: Any) -> Any:
        m, v = moments[0]
        return y * m - jnp.exp(m + 0.5 * v) - gammaln(y + 1)

    def negative_binomial(moments: Any, level: Any) -> Any:
        places, weights = nodes(NODES)
        return log_mass(y[:, None], _at(moments[0], places), level[:, None]) @ weights

    return {"gaussian": gaussian, "poisson": poisson, "negative-binomial": negative_binomial}[likelihood]


def _bounded(likelihood: str, lower: Any, upper: Any, intervals: bool) -> Any:
    """Return the function that gives E[log P(lower ≤ Y ≤ upper | f)] of each entry."""
    import jax.numpy as jnp

    places, weights = nodes(NODES)
    low, high = lower[:, None], upper[:, None]

    def gaussian(moments: Any, level: Any) -> Any:
        f = _at(moments[0], places)
        if len(moments) == 1:
            return between(low, high, f, jnp.exp(level)[:, None]) @ weights
        others, shares = nodes(SCALE_NODES)
        scale = jnp.exp(_at(moments[1], others))[:, None, :]
        return (between(low[..., None], high[..., None], f[..., None], scale) @ shares) @ weights

    def between(low: Any, high: Any, f: Any, scale: Any) -> Any:
        if intervals:
            return -interval_tobit_loss(low, high, f, scale)
        sign = jnp.where(jnp.isinf(high), 1.0, -1.0)  # rows that are open below are mirrored
        bound = jnp.where(jnp.isinf(high), low, high)
        return -tobit_loss(sign * bound, sign * f, scale, True)

    def count(moments: Any, level: Any) -> Any:
        shape = None if level is None else level[:, None]
        return log_between(low, high, _at(moments[0], places), shape, intervals=intervals) @ weights

    return gaussian if likelihood == "gaussian" else count


def _at(moments: tuple[Any, Any], places: Floats) -> Any:
    """Return latent values at the nodes, shape (n, nodes)."""
    import jax.numpy as jnp

    m, v = moments
    return m[:, None] + jnp.sqrt(v + 1e-12)[:, None] * places
