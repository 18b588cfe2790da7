"""Stock between two visits of a van, as a birth–death process: the chance that each vehicle saves a ride.

Within a period requests come as a Poisson stream of rate λ·g, returns as one of rate μ; a request at an empty
place is lost, a return at a full one goes elsewhere. V(s), the expected lost rides from a stock s until the
end of the window, obeys backwards in time

    V'(s) = λ (V(s − 1) − V(s)) + μ (V(s + 1) − V(s)),      V(−1) := V(0) + 1,  V(C + 1) := V(C).

Its differences D(s) = V(s − 1) − V(s), the worth of the s-th vehicle, obey the same equation with ends
D(0) = 1 and D(C + 1) = 0: D(s) is the chance that s vehicles more leave than come, before C + 1 − s more come
than leave. With V(C)' = λ D(C) this is a system without a single negative term once it is uniformised,

    exp(M t) u = Σₙ Poisson(n; Λt) Aⁿ u,      A = I + M/Λ ≥ 0,  Λ ≥ λ + μ,

so nothing cancels, and every step keeps 1 ≥ D(1) ≥ D(2) ≥ … ≥ 0: the curve V is falling and convex, exactly.
"""

import numpy as np
from scipy.special import gammaln

from unmet.planning._arrays import Floats, Ints
from unmet.planning._mixing import gamma_nodes

_COLUMNS = 384  # (place, node) pairs worked on together: 61 stocks of them stay in a core's cache
_REACH = 32.0  # expected events per sub-step, at most
_TAIL = 1e-11  # weight of the terms left out of each sub-step


def vehicle_values(
    rate: Floats, shape: Floats, returns_rate: Floats, capacity: Ints, nodes: int
) -> tuple[Floats, Floats]:
    """Worth D of each vehicle, and lost rides of a full place, over all periods of the window.

    Parameters
    ----------
    rate, shape, returns_rate : array (P, H)
        Mean requests, shape r of their negative binomial (``inf``: Poisson), mean returns in each period.
    capacity : array (P,)
    nodes : int
        Points that stand for the gamma mixing of each period; periods are independent of each other.

    Returns
    -------
    values : array (P, C)
        D(1) … D(C), C the largest capacity; 0 beyond a place's own.
    at_capacity : array (P,)
        V(capacity).
    """
    places, periods = rate.shape
    # Poisson demand needs one node; gamma_nodes would give several equal ones.
    nodes = 1 if np.isinf(shape).all() else nodes
    factors, weights = gamma_nodes(shape, nodes)
    values = np.zeros((int(capacity.max(initial=0)), places))
    full = np.zeros(places)
    for period in reversed(range(periods)):
        requests = rate[:, period, None] * factors[:, period]
        returns = np.repeat(returns_rate[:, period, None], nodes, axis=1)
        values, full = _back(values, full, requests, returns, weights[:, period], capacity)
    return np.ascontiguousarray(values.T), full


def _back(
    values: Floats, full: Floats, requests: Floats, returns: Floats, weights: Floats, capacity: Ints
) -> tuple[Floats, Floats]:
    """One period back in time, averaged over the nodes. Pairs of like speed are worked on together."""
    places, nodes = requests.shape
    total = (requests + returns).ravel()
    order = np.argsort(total, kind="stable")
    later = np.empty((places * nodes, len(values)))
    later_full = np.empty(places * nodes)
    for start in range(0, len(order), _COLUMNS):
        chosen = order[start : start + _COLUMNS]
        place = chosen // nodes
        moved, moved_full = _flow(
            values[:, place],
            full[place],
            requests.ravel()[chosen],
            returns.ravel()[chosen],
            capacity[place],
            float(total[chosen[-1]]),
        )
        later[chosen] = moved.T
        later_full[chosen] = moved_full
    share = weights[:, :, None]
    mixed = (later.reshape(places, nodes, -1) * share).sum(axis=1)
    return np.ascontiguousarray(mixed.T), (later_full.reshape(places, nodes) * weights).sum(axis=1)


def _flow(
    values: Floats, full: Floats, requests: Floats, returns: Floats, capacity: Ints, speed: float
) -> tuple[Floats, Floats]:
    """exp(M) u for every column by uniformisation with a common Λ = ``speed``, in sub-steps."""
    if speed == 0.0 or len(values) == 0:
        return values, full + requests * (capacity == 0)
    steps = int(np.ceil(speed / _REACH))
    chances = _poisson(speed / steps)
    count, columns = values.shape
    leave, come = requests / speed, returns / speed
    stay = 1.0 - leave - come
    # A vehicle beyond the docks has no worth: nothing flows into its row.
    inside = np.arange(1, count + 1)[:, None] <= capacity
    down = np.where(inside, leave, 0.0)
    last, column = capacity, np.arange(columns)
    state = np.zeros((count + 2, columns))
    state[0], state[1:-1] = 1.0, values
    mixed, spare, product = np.empty_like(values), np.empty_like(values), np.empty_like(values)
    for _ in range(steps):
        middle = state[1:-1]
        np.multiply(middle, chances[0], out=mixed)
        mixed_full = chances[0] * full
        for chance in chances[1:]:
            full = full + leave * state[last, column]  # row 0 is 1: a place without docks loses every request
            np.multiply(state[:-2], down, out=spare)
            np.multiply(state[2:], come, out=product)
            spare += product
            middle *= stay
            middle += spare
            np.multiply(middle, chance, out=product)
            mixed += product
            mixed_full += chance * full
        state[1:-1], full = mixed, mixed_full
    return mixed, full


def _poisson(mean: float) -> Floats:
    """Poisson chances up to where less than ``_TAIL`` is left; the rest is added to the last."""
    n = np.arange(int(mean + 12.0 * np.sqrt(mean) + 30.0))
    chance = np.exp(n * np.log(mean) - mean - gammaln(n + 1.0))
    enough = int(np.argmax(np.cumsum(chance) >= 1.0 - _TAIL))
    chance = chance[: enough + 1]
    chance[-1] += 1.0 - chance.sum()
    return chance
