"""Shocks to demand that may persist: a gamma filter with estimated persistence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
_PLACES = 32
_AT_ONCE = 512  # places that are filtered together
_PERIODS = 128  # periods whose likelihood is computed together
_FEW = 16  # factors whose product neither overflows nor takes longer than a gamma function
_RAREST = 1e-12  # mean of a count whose product of factors stays within what a float can hold
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
    if shocks.persistence == 0:
        shape, rate = 1 / shocks.variance + y / shocks.groups, 1 / shocks.variance + expected / shocks.groups
        mean, variance = (np.broadcast_to(value, expected.shape) for value in (1.0, shocks.variance))
        return Followed(mean, variance, shape / rate, shape / (rate * rate))
    found = Followed(*(np.empty_like(expected) for _ in range(4)))
    for part in _blocks(len(y)):
        for whole, some in zip(vars(found).values(), _follow(shocks, y[part], expected[part])):
            whole[part] = some
    return found


def _blocks(places: int) -> Iterator[slice]:
    """Yield some places at a time. Places do not depend on each other, so the result does not either."""
    for begin in range(0, places, _AT_ONCE):
        yield slice(begin, begin + _AT_ONCE)


def _follow(shocks: Shocks, y: Floats, expected: Floats) -> tuple[Floats, ...]:
    """Return mean and variance of the shock before and after each count."""
    if shocks.groups != 1:
        y, expected = y / shocks.groups, expected / shocks.groups
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
    return tuple(part.T for part in out)


def smooth(shocks: Shocks, y: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Return shape and rate of the gamma distribution of each shock given all periods.

    Combines a forward and a backward filter: a = a→ + a← − r + y, b = b→ + b← − r + μ with r = 1/variance.
    With persistence 0 this is a = r + y, b = r + μ.
    """
    r = 1 / shocks.variance
    if shocks.persistence == 0:
        return r + y / shocks.groups, r + expected / shocks.groups
    shape, rate = np.empty_like(expected), np.empty_like(expected)
    for part in _blocks(len(y)):
        counts, means = y[part], expected[part]
        both = np.vstack([counts, counts[:, ::-1]]), np.vstack([means, means[:, ::-1]])
        mean, variance, *_ = _follow(shocks, *both)
        rates = mean / variance
        shapes = rates * mean
        ahead, back = slice(None, len(counts)), slice(len(counts), None)
        shape[part] = np.maximum(shapes[ahead] + shapes[back, ::-1] - r, 0.5 * r) + counts / shocks.groups
        rate[part] = np.maximum(rates[ahead] + rates[back, ::-1] - r, 0.25 * r) + means / shocks.groups
    return shape, rate


@dataclass(frozen=True)
class _Part:
    """Counts of some periods, as their likelihood needs them.

    Attributes
    ----------
    mean, used : (n, places)
    period, place : where there is a count above 0; those that a product of factors explains come first,
        larger ones before smaller ones.
    around : the means of these, as a column.
    above : how many of those that come first are above 0, 1, 2, …
    many : the other counts, as a column.
    """

    mean: Floats
    used: NDArray[np.bool_]
    period: NDArray[np.int64]
    place: NDArray[np.int64]
    around: Floats
    above: tuple[int, ...]
    many: Floats

    @classmethod
    def of(cls, seen: Floats, mean: Floats, used: NDArray[np.bool_]) -> _Part:
        period, place = np.nonzero(used & (seen > 0))
        counts, around = seen[period, place], mean[period, place]
        few = (counts <= _FEW) & (counts == np.floor(counts))
        few &= (around > _RAREST) & (around < 1 / _RAREST)
        order = np.argsort(np.where(few, -counts, 1), kind="stable")
        period, place, counts, around = period[order], place[order], counts[order], around[order]
        split = int(few.sum())
        largest = int(counts[:split].max(initial=1))
        above = tuple(int(rows) for rows in np.searchsorted(-counts[:split], -np.arange(largest)))
        return cls(mean, used, period, place, around[:, None], above, counts[split:, None])


@dataclass(frozen=True)
class Counts:
    """Counts and their means by period, (T, places), and what their likelihood needs, by some periods."""

    seen: Floats
    mean: Floats
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, y: Floats, expected: Floats, known: NDArray[np.bool_]) -> Counts:
        """Take counts and means (places, T); only those `known` with a mean above 0 have a likelihood."""
        seen, mean = np.ascontiguousarray(y.T), np.ascontiguousarray(expected.T)
        used = np.ascontiguousarray(known.T) & (mean > 0)
        starts = range(0, len(seen), _PERIODS)
        parts = [slice(first, first + _PERIODS) for first in starts]
        return cls(seen, mean, tuple(_Part.of(seen[part], mean[part], used[part]) for part in parts))


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
    y, expected = y[some], expected[some]
    every, open_all = Counts.of(y, expected, known[some]), Counts.of(y, expected, stayed[some])
    if start is None:
        spread, memory = np.geomspace(0.01, 2.0, 6), np.array([0.0, 0.4, 0.7, 0.9, 0.97])
        best, ratio, gap, passes = best_shocks(every, spread, memory)[0], 2.0, 0.15, 3
    else:
        best, ratio, gap, passes = replace(start, groups=1.0), 1.4, 0.06, 2
    alone, _ = _refined(every, best, ratio, gap, passes)
    found, top = _refined(open_all, alone, 1.6, 0.1, 2)
    least = top + _CLEAR_GAIN
    for groups in _GROUPS:
        other, value = _refined(open_all, replace(found, groups=groups), 1.6, 0.1, 2)
        if value < top:
            break
        found, top = other, value
    return found if top > least else alone


def _refined(counts: Counts, best: Shocks, ratio: float, gap: float, passes: int) -> tuple[Shocks, float]:
    """Return better variance and persistence near `best`, and their log-likelihood."""
    groups = best.groups
    for _ in range(passes):
        spread = np.clip(best.variance * ratio ** np.array([-1.0, 0.0, 1.0]), 1e-3, 10.0)
        memory = np.unique(np.clip(best.persistence + gap * np.array([-1.0, 0.0, 1.0]), 0.0, 0.995))
        best, _ = best_shocks(counts, spread, memory, groups)
        ratio, gap = np.sqrt(ratio), gap / 2
    around = best.variance * ratio ** np.array([-1.0, 0.0, 1.0])
    pairs = np.column_stack([around, np.full(3, best.persistence)])
    fit = _likelihood(counts, pairs, groups)
    return Shocks(float(best.variance * ratio ** _peak(fit)), best.persistence, groups), float(fit.max())


def _peak(values: Floats) -> float:
    """Return the peak of the parabola through values at −1, 0, 1, clipped, or the best end if none."""
    bend = values[0] - 2 * values[1] + values[2]
    if bend >= 0:
        return float(np.argmax(values) - 1)
    return float(np.clip((values[0] - values[2]) / (2 * bend), -1.0, 1.0))


def best_shocks(counts: Counts, spread: Floats, memory: Floats, groups: float = 1.0) -> tuple[Shocks, float]:
    """Return the variance and persistence with the highest log-likelihood, and that log-likelihood."""
    pairs = np.array([(v, p) for v in spread for p in memory])
    fit = _likelihood(counts, pairs, groups)
    index = int(np.argmax(fit))
    return Shocks(float(pairs[index, 0]), float(pairs[index, 1]), groups), float(fit[index])


def _likelihood(counts: Counts, pairs: Floats, groups: float = 1.0) -> Floats:
    """Return the log-likelihood of each pair (variance, persistence), all filtered at once."""
    total = np.zeros(len(pairs))
    for part, (a, b) in zip(counts.parts, _gammas(pairs, counts.seen, counts.mean, groups)):
        total += _block(a, b, part, groups)
    return total


def _gammas(pairs: Floats, counts: Floats, means: Floats, groups: float) -> Iterator[tuple[Floats, Floats]]:
    """Yield shape and rate of the shocks before each count, (n, pairs, places), by some periods at a time.

    The next ones overwrite those before.
    """
    size = (len(pairs), counts.shape[1])
    spread, memory = (np.repeat(pairs[:, k], size[1]) for k in (0, 1))
    found = np.empty((_PERIODS, 2, spread.size))
    found[:] = 1 / spread
    keep, back = np.stack([memory, memory**2]), np.stack([1 - memory, (1 - memory**2) * spread])
    moments, after = np.stack([np.ones_like(spread), spread]), np.empty_like(keep)
    mean, variance, shape, rate = *moments, *after
    # Arrays are so short that names, views and keywords would take as long as the numbers.
    add, multiply, divide = np.add, np.multiply, np.divide
    priors = [(prior, *prior) for prior in found]
    for first in range(0, len(counts), _PERIODS):
        part = slice(first, first + _PERIODS)
        news = np.tile(np.stack([counts[part], means[part]], axis=1) / groups, len(pairs))
        if memory.any():  # else nothing is learned for the next period
            for (prior, a, b), seen in zip(priors, news):
                divide(mean, variance, b)
                multiply(mean, b, a)
                add(prior, seen, after)
                divide(shape, rate, mean)
                divide(mean, rate, variance)
                multiply(moments, keep, moments)
                add(moments, back, moments)
        now = found[: len(news)].reshape(-1, 2, *size)
        yield now[:, 0], now[:, 1]


def _block(a: Floats, b: Floats, part: _Part, groups: float) -> Floats:
    """Return the log-likelihood of some periods for each pair; a, b of shape (n, pairs, places).

    It is −a log(1 + μ/b) + log Γ(a + y) − log Γ(a) − y log(b + μ), and for a whole y the last three are the
    logarithm of the product of (a + k) / (b + μ) over k < y.
    """
    ratio = part.mean[:, None] / b
    if groups != 1:
        count = np.maximum(a * ratio, 1e-9)
        a = 1 / ((groups - 1) / count + 1 / a)
        ratio = count / a
    one = np.log(1 + ratio)
    one *= a
    one *= part.used[:, None]
    total = -one.sum(axis=(0, 2))
    a, ratio = a[part.period, :, part.place], ratio[part.period, :, part.place]
    scale = ratio / (1 + ratio) / part.around  # 1 / (b + μ)
    split = part.above[0]
    product = a[:split] * scale[:split]
    for k, rows in enumerate(part.above[1:], start=1):
        product[:rows] *= (a[:rows] + k) * scale[:rows]
    total += np.log(product).sum(axis=0)
    many, a, scale = part.many, a[split:], scale[split:]
    total += (special.gammaln(a + many) - special.gammaln(a) + many * np.log(scale)).sum(axis=0)
    return total
