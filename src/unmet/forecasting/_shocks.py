"""Shocks to demand that may persist: a gamma filter with estimated persistence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
_PLACES = 32
# Sizes of groups that are tried in turn, and the gain in log-likelihood that the best must bring.
_GROUPS = (1.1, 1.2, 1.3, 1.45, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.2, 3.6, 4.0)
_CLEAR_GAIN = 10.0


@dataclass(frozen=True)
class Shocks:
    """Multiplicative shocks G with mean 1, a variance, and a correlation from one period to the next.

    With persistence 0, demand is negative binomial with shape 1/variance in each period. `groups` is the
    variance of a count over its mean, given the shock: 1 if people come one by one, more if they come
    together. Who came in a group says nothing about who comes next.
    """

    variance: float
    persistence: float
    groups: float = 1.0

    def shape(self, count: Floats, mean: Floats, variance: Floats) -> Floats:
        """Return the shape of a negative binomial of mean `count` for a shock of this mean and variance."""
        spread = variance / mean**2
        if self.groups == 1:
            return 1 / spread
        return 1 / ((self.groups - 1) / np.maximum(count, 1e-9) + spread)

    def ahead(self, mean: Floats, variance: Floats, steps: NDArray[Any] | int) -> tuple[Floats, Floats]:
        """Return mean and variance of the shock this many periods later. It reverts to 1."""
        memory = np.power(self.persistence, steps)
        return 1 + memory * (mean - 1), memory**2 * variance + (1 - memory**2) * self.variance


@dataclass(frozen=True)
class Followed:
    """Mean and variance of the shock of each period, before and after its count; shape (P, T)."""

    mean: Floats
    variance: Floats
    mean_after: Floats
    variance_after: Floats


def follow(shocks: Shocks, y: Floats, expected: Floats) -> Followed:
    """Filter the shock of each period from the counts up to it.

    Given G, the count of a period is Poisson with mean G·μ, μ = rate × exposure. The likelihood G^y exp(−Gμ)
    holds although exposure depends on demand, because the open time is a stopping time. A gamma distribution
    of G with mean m and variance v (shape a = m²/v, rate b = m/v) becomes gamma with a + y and b + μ. Until
    the next period it reverts towards mean 1 and the stationary variance, by matching moments. People who
    come in groups say less: y and μ count 1/groups.
    """
    if shocks.groups != 1:
        y, expected = y / shocks.groups, expected / shocks.groups
    if shocks.persistence == 0:
        shape, rate = 1 / shocks.variance + y, 1 / shocks.variance + expected
        plain = np.ones_like(expected), np.full_like(expected, shocks.variance)
        return Followed(*plain, shape / rate, shape / (rate * rate))
    memory, square = shocks.persistence, shocks.persistence**2
    back, fresh = 1 - memory, (1 - square) * shocks.variance
    counts, means = np.ascontiguousarray(y.T), np.ascontiguousarray(expected.T)
    mean, variance = np.ones(len(y)), np.full(len(y), shocks.variance)
    out = np.empty((4, *counts.shape))
    for t in range(len(counts)):
        out[0, t], out[1, t] = mean, variance
        rate = mean / variance + means[t]
        after = (mean * mean / variance + counts[t]) / rate
        spread = after / rate
        out[2, t], out[3, t] = after, spread
        mean, variance = back + memory * after, square * spread + fresh
    return Followed(*(np.ascontiguousarray(part.T) for part in out))


def smooth(shocks: Shocks, y: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Return shape and rate of the gamma distribution of each shock given all periods.

    Combines a forward and a backward filter: a = a→ + a← − r + y, b = b→ + b← − r + μ with r = 1/variance.
    With persistence 0 this is a = r + y, b = r + μ.
    """
    r = 1 / shocks.variance
    both = follow(shocks, np.vstack([y, y[:, ::-1]]), np.vstack([expected, expected[:, ::-1]]))
    rates = both.mean / both.variance
    shapes = rates * both.mean
    ahead, back = slice(None, len(y)), slice(len(y), None)
    shape = np.maximum(shapes[ahead] + shapes[back, ::-1] - r, 0.5 * r) + y / shocks.groups
    rate = np.maximum(rates[ahead] + rates[back, ::-1] - r, 0.25 * r) + expected / shocks.groups
    return shape, rate


def estimate_shocks(
    y: Floats,
    expected: Floats,
    known: NDArray[np.bool_],
    stayed: NDArray[np.bool_],
    start: Shocks | None = None,
) -> Shocks:
    """Estimate variance, persistence and groups by the likelihood of each count given those before it.

    A count is negative binomial with mean mμ and variance gmμ + vμ², for a shock of mean m and variance v and
    groups g. The search refines a wide grid, or one around `start`. Groups must bring a clear gain in periods
    that `stayed` open: where vehicles ran out, groups were cut short. If there are many places, an even
    choice of 32 decides.
    """
    order = np.argsort(expected.sum(axis=1), kind="stable")
    some = order[np.unique(np.linspace(0, len(order) - 1, min(_PLACES, len(order))).round().astype(int))]
    y, expected, known, stayed = y[some], expected[some], known[some], stayed[some]
    if start is None:
        spread, memory = np.geomspace(0.01, 2.0, 6), np.array([0.0, 0.4, 0.7, 0.9, 0.97])
        best, ratio, gap, passes = best_shocks(y, expected, known, spread, memory)[0], 2.0, 0.15, 3
    else:
        best, ratio, gap, passes = replace(start, groups=1.0), 1.4, 0.06, 2
    alone, _ = _refined(y, expected, known, best, ratio, gap, passes)
    found, top = _refined(y, expected, stayed, alone, 1.6, 0.1, 2)
    least = top + _CLEAR_GAIN
    for groups in _GROUPS:
        other, value = _refined(y, expected, stayed, replace(found, groups=groups), 1.6, 0.1, 2)
        if value < top:
            break
        found, top = other, value
    return found if top > least else alone


def _refined(
    y: Floats,
    expected: Floats,
    known: NDArray[np.bool_],
    best: Shocks,
    ratio: float,
    gap: float,
    passes: int,
) -> tuple[Shocks, float]:
    """Return better variance and persistence near `best`, and their log-likelihood."""
    groups = best.groups
    for _ in range(passes):
        spread = np.clip(best.variance * ratio ** np.array([-1.0, 0.0, 1.0]), 1e-3, 10.0)
        memory = np.unique(np.clip(best.persistence + gap * np.array([-1.0, 0.0, 1.0]), 0.0, 0.995))
        best, _ = best_shocks(y, expected, known, spread, memory, groups)
        ratio, gap = np.sqrt(ratio), gap / 2
    around = best.variance * ratio ** np.array([-1.0, 0.0, 1.0])
    pairs = np.column_stack([around, np.full(3, best.persistence)])
    fit = _likelihood(y, expected, known, pairs, groups)
    return Shocks(float(best.variance * ratio ** _peak(fit)), best.persistence, groups), float(fit.max())


def _peak(values: Floats) -> float:
    """Return the peak of the parabola through values at −1, 0, 1, clipped, or the best end if none."""
    bend = values[0] - 2 * values[1] + values[2]
    if bend >= 0:
        return float(np.argmax(values) - 1)
    return float(np.clip((values[0] - values[2]) / (2 * bend), -1.0, 1.0))


def best_shocks(
    y: Floats,
    expected: Floats,
    known: NDArray[np.bool_],
    spread: Floats,
    memory: Floats,
    groups: float = 1.0,
) -> tuple[Shocks, float]:
    """Return the variance and persistence with the highest log-likelihood, and that log-likelihood."""
    pairs = np.array([(v, p) for v in spread for p in memory])
    fit = _likelihood(y, expected, known, pairs, groups)
    index = int(np.argmax(fit))
    return Shocks(float(pairs[index, 0]), float(pairs[index, 1]), groups), float(fit[index])


def _likelihood(
    y: Floats, expected: Floats, known: NDArray[np.bool_], pairs: Floats, groups: float = 1.0
) -> Floats:
    """Return the log-likelihood of each pair (variance, persistence), all filtered at once."""
    spread, memory = pairs[:, :1], pairs[:, 1:]
    mean, variance = np.ones((len(pairs), len(y))), np.broadcast_to(spread, (len(pairs), len(y)))
    total = np.zeros(len(pairs))
    rows: list[tuple[Floats, Floats, int]] = []
    for t in range(y.shape[1]):
        a, b = mean * mean / variance, mean / variance
        rows.append((a, b, t))
        if len(rows) == 64 or t == y.shape[1] - 1:
            total += _block(rows, y, expected, known, groups)
            rows = []
        shape, rate = a + y[:, t] / groups, b + expected[:, t] / groups
        mean, variance = shape / rate, shape / (rate * rate)
        mean, variance = 1 + memory * (mean - 1), memory**2 * variance + (1 - memory**2) * spread
    return total


def _block(
    rows: list[tuple[Floats, Floats, int]],
    y: Floats,
    expected: Floats,
    known: NDArray[np.bool_],
    groups: float,
) -> Floats:
    first, last = rows[0][2], rows[-1][2] + 1
    a = np.stack([row[0] for row in rows], axis=-1)
    b = np.stack([row[1] for row in rows], axis=-1)
    seen, mu = y[:, first:last], expected[:, first:last]
    used = known[:, first:last] & (mu > 0)
    mu = np.where(used, mu, 1.0)
    if groups != 1:
        count = np.maximum(a / b * mu, 1e-9)
        a = 1 / ((groups - 1) / count + 1 / a)
        b = a * mu / count
    one = special.gammaln(a + seen) - special.gammaln(a) + a * np.log(b) - (a + seen) * np.log(b + mu)
    return np.where(used, one, 0.0).sum(axis=(1, 2))
