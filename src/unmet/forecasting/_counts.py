"""Negative-binomial counts: probabilities, and quantiles of count + U."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
# Above this mean, running sums take longer than bisection and would underflow.
_LARGE_MEAN = 60.0
_BLOCK = 1 << 12  # rows whose sums fit a cache


def count_step(y: ArrayLike, mean: ArrayLike, shape: ArrayLike) -> tuple[Floats, Floats]:
    """Return F(y−1) and f(y) of the negative binomial with variance mean + mean²/shape.

    Examples
    --------
    >>> below, mass = count_step([0.0, 1.0], [1.0, 1.0], [1.0, 1.0])
    >>> below.tolist(), mass.tolist()
    ([0.0, 0.5], [0.5, 0.25])
    """
    counts, means, shapes = np.broadcast_arrays(
        *(np.asarray(values, np.float64) for values in (y, mean, shape))
    )
    some = counts != 0  # below a count of 0 there is nothing
    seen, m, a = counts[some], means[some], shapes[some]
    below = np.zeros(counts.shape)
    below[some] = special.betainc(a, seen, a / (a + m))
    mass = np.asarray(-shapes * np.log1p(means / shapes))
    mass[some] = log_mass(seen, m, a)
    return below, np.exp(mass)


def log_mass(y: Floats, mean: Floats, shape: Floats) -> Floats:
    """Return log f(y)."""
    return (
        special.gammaln(y + shape)
        - special.gammaln(shape)
        - special.gammaln(y + 1)
        + special.xlogy(y, mean / (shape + mean))
        - shape * np.log1p(mean / shape)
    )


def draw_counts(rng: np.random.Generator, mean: Floats, groups: float) -> NDArray[np.int64]:
    """Draw counts with this mean and a variance of `groups` times it; 1: people who come one by one."""
    if groups != 1:
        mean = (groups - 1) * rng.standard_gamma(mean / (groups - 1))
    return rng.poisson(mean)


def count_quantiles(levels: ArrayLike, mean: ArrayLike, shape: ArrayLike) -> Floats:
    """Return quantiles of N + U for negative-binomial N and uniform U.

    They are k + (θ − F(k−1)) / f(k) with F(k−1) ≤ θ < F(k); the whole part is the quantile of N. Levels that
    are not finite give inf.

    Parameters
    ----------
    levels
        Shape (n, K).
    mean, shape
        Shape (n,).

    Examples
    --------
    >>> count_quantiles([[0.25, 0.75]], [1.0], [1.0]).tolist()
    [[0.5, 2.0]]
    """
    wanted = np.asarray(levels, np.float64)
    means, shapes = np.asarray(mean, np.float64), np.asarray(shape, np.float64)
    out = np.full(wanted.shape, np.inf)
    order = np.argsort(means, kind="stable")  # equal means finish together
    for start in range(0, len(order), _BLOCK):
        rows = order[start : start + _BLOCK]
        search = _by_sums if means[rows[-1]] <= _LARGE_MEAN else _by_bisection
        out[rows] = search(wanted[rows], means[rows], shapes[rows])
    return out


def _by_sums(levels: Floats, mean: Floats, shape: Floats) -> Floats:
    """Sum f(0), f(1), … until every level is passed, then look the levels up."""
    finite = np.isfinite(levels)
    # Levels so close to 1 that rounding would keep the sum below them.
    target = np.ascontiguousarray(np.where(finite, np.minimum(levels, 1 - 1e-9), 0.0).T)
    highest = target.max(axis=0)
    odds = mean / (shape + mean)
    mass = np.exp(-shape * np.log1p(mean / shape))
    sums = [np.zeros_like(mean), mass]
    count = 0
    while (sums[-1] <= highest).any():
        mass = mass * (odds * ((shape + count) / (count + 1)))
        count += 1
        sums.append(sums[-1] + mass)
    table = np.stack(sums)
    out, rows = np.empty_like(target), np.arange(len(mean))
    for index, level in enumerate(target):
        whole = (table[1:] <= level).sum(axis=0)
        below = table[whole, rows]
        out[index] = whole + (level - below) / (table[whole + 1, rows] - below)
    return np.where(finite, out.T, np.inf)


def _by_bisection(levels: Floats, mean: Floats, shape: Floats) -> Floats:
    finite = np.isfinite(levels)
    target = np.where(finite, np.clip(levels, 0.0, 1 - 1e-9), 0.5)
    m, a = np.broadcast_to(mean[:, None], levels.shape), np.broadcast_to(shape[:, None], levels.shape)
    share = a / (a + m)
    low, high = np.full(levels.shape, -1.0), np.ceil(m + 60 * np.sqrt(m + m * m / a) + 60)
    while (high - low > 1).any():  # F(low) ≤ θ < F(high)
        middle = np.floor((low + high) / 2)
        passed = special.betainc(a, middle + 1, share) > target
        high, low = np.where(passed, middle, high), np.where(passed, low, middle)
    below, mass = count_step(high, m, a)
    return np.where(finite, high + np.clip((target - below) / np.maximum(mass, 1e-300), 0, 1), np.inf)
