"""Stock between two visits of a van as a birth–death process: the chance that each vehicle saves a ride.

Within a period, requests are a Poisson process of rate λ·g and returns one of rate μ. A request at an empty
place is lost; a return at a full place goes elsewhere. V(s), the expected lost rides from stock s until the
end of the window, obeys backwards in time

    V'(s) = λ (V(s − 1) − V(s)) + μ (V(s + 1) − V(s)),      V(−1) := V(0) + 1,  V(C + 1) := V(C).

Its differences D(s) = V(s − 1) − V(s), the worth of the s-th vehicle, obey the same equation with ends
D(0) = 1 and D(C + 1) = 0: D(s) is the chance that s more vehicles leave than come before C + 1 − s more come
than leave. With V(C)' = λ D(C), the uniformised system has no negative term,

    exp(M t) u = Σₙ Poisson(n; Λt) Aⁿ u,      A = I + M/Λ ≥ 0,  Λ = λ + μ,

so nothing cancels, and every step keeps 1 ≥ D(1) ≥ D(2) ≥ … ≥ 0: the curve V is exactly falling and convex.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln, xlogy

from unmet.planning._arrays import Floats, Ints
from unmet.planning._mixing import gamma_nodes

_COLUMNS, _CELLS = 128, 1 << 12  # streams worked on together, and their stocks: these stay in a core's cache
_REACH = 32.0  # expected events per sub-step, at most
_TAIL = 1e-11  # weight of the terms left out of each sub-step
_FAINT = 1e-8  # expected rides of a stream that is left out
_COUNTS = (3, 4, 5, 7, 10, 14, 20, 28, 40)  # Gauss points to choose from


def vehicle_values(
    rate: Floats, shape: Floats, returns_rate: Floats, capacity: Ints, nodes: int | None
) -> tuple[Floats, Floats]:
    """Return the worth D of each vehicle, and the lost rides of a full place, over the whole window.

    Parameters
    ----------
    rate, shape, returns_rate : array (P, H)
        Mean requests, shape r of their negative binomial (``inf``: Poisson), mean returns in each period.
    capacity : array (P,)
    nodes : int or None
        Gauss points for the gamma mixing of each period; by default :func:`nodes_needed`.

    Returns
    -------
    values : array (P, C)
        D(1) … D(C) for the largest capacity C; 0 beyond a place's own capacity.
    at_capacity : array (P,)
        V(capacity).
    """
    places, periods = rate.shape
    values = np.zeros((int(capacity.max(initial=0)), places))
    full = np.zeros(places)
    for period in reversed(range(periods)):
        streams = _streams(rate[:, period], shape[:, period], nodes)
        values, full = _back(values, full, *streams, returns_rate[:, period], capacity)
    return np.ascontiguousarray(values.T), full


def nodes_needed(rate: Floats, shape: Floats) -> Ints:
    """Return Gauss points that keep the error of one period near 0.001 rides: 3 + 2 λ/r, rounded up.

    Measured on negative-binomial shortfalls with r from 0.3 to 50 and λ from 0.2 to 20. Poisson needs one.
    """
    ratio = rate / shape
    needed = np.where(ratio > 0.05, 3.0 + 2.0 * ratio, 3.0)
    step = np.array(_COUNTS)[np.minimum(np.searchsorted(_COUNTS, needed), len(_COUNTS) - 1)]
    return np.where(np.isinf(shape) | (rate == 0), 1, step)


def _streams(rate: Floats, shape: Floats, nodes: int | None) -> tuple[Ints, Floats, Floats]:
    """Return the mixture of Poisson processes of each place: place, requests and weight, by place."""
    wanted = nodes_needed(rate, shape)
    if nodes is not None:
        wanted = np.where(wanted == 1, 1, nodes)
    parts = []
    for count in np.unique(wanted).tolist():
        chosen = np.flatnonzero(wanted == count)
        factors, weights = gamma_nodes(shape[chosen], count)
        if count == 1:
            factors = np.ones_like(factors)
        requests = rate[chosen, None] * factors
        # The outermost points take longest to compute and weigh next to nothing.
        weights = np.where(weights * (1.0 + requests) > _FAINT, weights, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        kept = weights > 0
        parts.append((np.repeat(chosen, kept.sum(axis=1)), requests[kept], weights[kept]))
    place, stream, weight = (np.concatenate(part) for part in zip(*parts))
    order = np.argsort(place, kind="stable")
    return place[order], stream[order], weight[order]


def _back(
    values: Floats,
    full: Floats,
    place: Ints,
    requests: Floats,
    weight: Floats,
    returns_rate: Floats,
    capacity: Ints,
) -> tuple[Floats, Floats]:
    """Go one period back in time, averaged over each place's processes, grouped by docks and by rates."""
    returns, docks = returns_rate[place], capacity[place]
    before = np.zeros((len(place), len(values) + 1))
    for chosen in _alike(docks, requests + returns):
        at, rows = place[chosen], int(docks[chosen].max())  # vehicles beyond the docks are worth nothing
        given = values[:rows, at], full[at], requests[chosen], returns[chosen], docks[chosen]
        moved, moved_full = _flow(*given)
        before[chosen, :rows] = (moved * weight[chosen]).T
        before[chosen, -1] = moved_full * weight[chosen]
    mixed = np.add.reduceat(before, np.flatnonzero(np.diff(place, prepend=-1)), axis=0)
    return np.ascontiguousarray(mixed[:, :-1].T), mixed[:, -1]


def _alike(docks: Ints, speed: Floats) -> Iterator[Ints]:
    """Yield streams to work on together: up to twice the docks of each other, and similar speeds."""
    band = np.ceil(np.log2(np.maximum(docks, 1)))
    order = np.lexsort((speed, band))
    for same in np.split(order, np.flatnonzero(np.diff(band[order])) + 1):
        columns = max(_COLUMNS, _CELLS // (int(docks[same].max()) + 1))
        for start in range(0, len(same), columns):
            yield same[start : start + columns]


def _flow(
    values: Floats, full: Floats, requests: Floats, returns: Floats, capacity: Ints
) -> tuple[Floats, Floats]:
    """Return exp(M) u per column, each with its own Λ = λ + μ (so A has no diagonal), in equal sub-steps.

    Each term of the sum comes from the one before: pₙ Aⁿ u = (1/n) ΛA · pₙ₋₁ Aⁿ⁻¹ u with pₙ = Poisson(n; Λ).
    A term adds λ D(C) to V(C) for as long as it lasts, which is P(N > n) / Λ of the sub-step.
    """
    speed = requests + returns
    steps = max(1, int(np.ceil(speed.max() / _REACH)))
    leave, speed = requests / steps, speed / steps
    chances = _poisson(speed)
    lasts, scale = np.cumsum(chances[:0:-1], axis=0)[::-1], chances[:-1] * speed
    lost = leave * np.divide(lasts, scale, out=np.zeros_like(scale), where=scale > 0)
    count, columns = values.shape
    # A vehicle beyond the docks is worth nothing, so nothing flows into its row.
    down = np.where(np.arange(1, count + 1)[:, None] <= capacity, leave, 0.0)
    up = np.tile(returns / steps, (count, 1))
    worst = capacity * columns + np.arange(columns)  # row 0 is 1: without docks every request is lost
    found, product = np.empty_like(lost), np.empty_like(values)
    state, ahead = np.zeros((2, count + 2, columns))
    mixed = values
    for _ in range(steps):
        state[0], state[1:-1] = chances[0], mixed * chances[0]
        mixed = state[1:-1].copy()
        for n, chance in enumerate(chances[1:], start=1):
            found[n - 1] = state.reshape(-1)[worst]
            inner = ahead[1:-1]
            np.multiply(state[:-2], down, out=inner)
            np.multiply(state[2:], up, out=product)
            inner += product
            inner *= 1.0 / n
            mixed += inner
            ahead[0] = chance
            state, ahead = ahead, state
        full = full + (lost * found).sum(axis=0)
    return mixed, full


def _poisson(mean: Floats) -> Floats:
    """Return Poisson probabilities (terms, columns) down to ``_TAIL`` of the largest mean."""
    most = float(mean.max())
    n = np.arange(int(most + 12.0 * np.sqrt(most) + 30.0))
    enough = np.cumsum(np.exp(xlogy(n, most) - most - gammaln(n + 1.0))) >= 1.0 - _TAIL
    factors = mean / np.maximum(n[: int(np.argmax(enough)) + 1, None], 1)
    factors[0] = np.exp(-mean)
    return np.asarray(np.cumprod(factors, axis=0), np.float64)
