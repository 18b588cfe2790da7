"""Rank moves of vehicles between places by the rides they are expected to save."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.planning._arrays import Floats, Ints, amounts, counts_for, curves_of, docks_of


def rank_moves(
    stock: ArrayLike,
    curves: ArrayLike,
    *,
    capacity: ArrayLike | None = None,
    target: ArrayLike | None = None,
    van: int = 12,
    moves: int = 50,
    least_saved: float = 0.05,
    distance: ArrayLike | None = None,
    cost_of_distance: float = 0.0,
    max_distance: float = np.inf,
) -> dict[str, Floats | Ints]:
    """Return the best moves from the present stock, in order.

    A move of n vehicles from i to j saves

        (Vⱼ(sⱼ) − Vⱼ(sⱼ + n)) − (Vᵢ(sᵢ − n) − Vᵢ(sᵢ))

    rides. Each step takes the move (i, j, n ≤ ``van``) that saves most, net of ``cost_of_distance`` ·
    distance(i, j), given the moves before it. The list ends when the best move saves less than
    ``least_saved`` net. The savings add up to the difference in expected lost rides.

    Parameters
    ----------
    stock : array of int (P,)
    curves : array (P, C + 1)
        From :func:`expected_lost`.
    target : array of int (P,), optional
        Stock to move towards. No place gives below its target or receives above it, so no move undoes
        another.
    van : int
        Most vehicles in one move.
    moves : int
        Most moves in the list.
    least_saved : float
        Rides that a move must save, net of distance. Above 0.
    distance : array (P, P), optional
        Between places, in any unit.
    cost_of_distance : float
        Rides that one unit of distance must be worth.
    max_distance : float
        No move goes further. NaN in `distance` is unknown and allowed.

    Returns
    -------
    dict of arrays
        ``from``, ``to`` (indices of places), ``vehicles``, ``rides_saved`` (without the cost of distance).
    """
    table = curves_of(curves)
    places, states = table.shape
    docks = docks_of(capacity, places, states)
    here = counts_for(stock, (places,), "stock")
    if (here > docks).any():
        raise ValueError("stock must not exceed capacity")
    if van < 1 or moves < 0:
        raise ValueError(f"van must be at least 1 and moves at least 0, got {van} and {moves}")
    if not least_saved > 0:
        raise ValueError(f"least_saved must be above 0, got {least_saved}")
    if cost_of_distance and distance is None:
        raise ValueError("cost_of_distance needs distance: pass distance=")
    if np.isfinite(max_distance) and distance is None:
        raise ValueError("max_distance needs distance: pass distance=")
    if not max_distance >= 0:
        raise ValueError(f"max_distance must be at least 0, got {max_distance}")
    toll = np.zeros((places, places))
    if distance is not None:
        far = amounts(np.nan_to_num(np.asarray(distance, dtype=np.float64), nan=0.0), "distance")
        if far.shape != (places, places):
            raise ValueError(f"distance must have the shape ({places}, {places}), got {far.shape}")
        toll = float(amounts(cost_of_distance, "cost_of_distance")) * far
        toll[far > max_distance] = np.inf
    least, most = np.zeros_like(here), docks
    if target is not None:
        aim = counts_for(target, (places,), "target")
        least, most = aim, np.minimum(docks, aim)
    gain, give = _gains(table, here, most, van), _gives(table, here, least, van)
    found: list[tuple[int, int, int, float]] = []
    net, load = _best_loads(gain, give, toll)
    while len(found) < moves:
        source, sink = np.unravel_index(int(np.argmax(net)), net.shape)
        if not net[source, sink] >= least_saved:
            break
        many = int(load[source, sink])
        found.append((int(source), int(sink), many, float(gain[sink, many] - give[source, many])))
        here[source] -= many
        here[sink] += many
        both = np.array([source, sink])
        gain[both] = _gains(table[both], here[both], most[both], van)
        give[both] = _gives(table[both], here[both], least[both], van)
        # Only pairs with one of the two places have changed.
        net[both], load[both] = _best_loads(gain, give[both], toll[both])
        net[:, both], load[:, both] = _best_loads(gain[both], give, toll[:, both])
    return {
        "from": np.array([move[0] for move in found], dtype=np.int64),
        "to": np.array([move[1] for move in found], dtype=np.int64),
        "vehicles": np.array([move[2] for move in found], dtype=np.int64),
        "rides_saved": np.array([move[3] for move in found], dtype=np.float64),
    }


def _gains(table: Floats, here: Ints, most: Ints, van: int) -> Floats:
    """Return rides saved by bringing 0 … van vehicles (P, van + 1), −inf where there is no room."""
    after = here[:, None] + np.arange(van + 1)
    rows = np.arange(len(table))[:, None]
    saved = table[rows, here[:, None]] - table[rows, np.minimum(after, table.shape[1] - 1)]
    return np.where(after <= most[:, None], saved, -np.inf)


def _gives(table: Floats, here: Ints, least: Ints, van: int) -> Floats:
    """Return rides lost by taking 0 … van vehicles away (P, van + 1), inf where there are too few."""
    after = here[:, None] - np.arange(van + 1)
    rows = np.arange(len(table))[:, None]
    lost = table[rows, np.maximum(after, 0)] - table[rows, here[:, None]]
    return np.where(after >= least[:, None], lost, np.inf)


def _best_loads(gain: Floats, give: Floats, toll: Floats) -> tuple[Floats, Ints]:
    """Return, for every pair (from, to), the best net saving and the smallest load that gives it."""
    best = np.full(toll.shape, -np.inf)
    load = np.zeros(toll.shape, dtype=np.int64)
    for many in range(1, gain.shape[1]):
        saved = gain[None, :, many] - give[:, None, many]
        better = saved > best + 1e-12
        best, load = np.where(better, saved, best), np.where(better, many, load)
    return best - toll, load
