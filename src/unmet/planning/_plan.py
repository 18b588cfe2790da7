"""The plan: target of every place, rides it saves, and the value of one more vehicle."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmet.planning._allocation import allocate, fleet_curve
from unmet.planning._arrays import Floats, Ints, amounts, counts, stretched
from unmet.planning._moves import rank_moves
from unmet.planning._stock_value import best_stock, expected_lost, value_of_vehicles

# Curves hold a number per place and dock. More docks than this are an error in the feed.
MOST_DOCKS = 100_000


@dataclass(frozen=True)
class Plan:
    """Stock targets, moves and fleet sizes.

    Attributes
    ----------
    table : dict of arrays (P,)
        ``capacity``, ``usual_stock``, ``target``, ``expected_lost_usual``, ``expected_lost_target``,
        ``rides_saved``, ``value_of_next_vehicle``, ``identified``.
    moves : dict of arrays
        ``from``, ``to``, ``vehicles``, ``rides_saved``, best first (:func:`rank_moves`).
    fleet : dict of arrays
        ``fleet``, ``service_level``, ``expected_lost`` (:func:`fleet_curve`).
    curves : array (P, C + 1)
        Expected lost rides by starting stock (:func:`expected_lost`).
    """

    table: dict[str, np.ndarray]
    moves: dict[str, Floats | Ints]
    fleet: dict[str, Floats | Ints]
    curves: Floats


def plan_stock(
    rate: ArrayLike,
    shape: ArrayLike = np.inf,
    returns_rate: ArrayLike = 0.0,
    *,
    capacity: ArrayLike,
    usual_stock: ArrayLike,
    fleet: int | None = None,
    cost_lost: float = 1.0,
    cost_idle: float = 0.1,
    identified: ArrayLike | None = None,
    van: int = 12,
    moves: int = 50,
    distance: ArrayLike | None = None,
    cost_of_distance: float = 0.0,
    max_distance: float = np.inf,
    nodes: int | None = None,
    lost_share: float = 1.0,
) -> Plan:
    """Plan the starting stock of every place for one window.

    With ``fleet``, that many vehicles are allocated to lose the fewest rides (:func:`allocate`) and costs are
    not used. Without it, fleet size is ignored: each place gets vehicles while each saves more than it
    costs (:func:`best_stock`).

    Parameters
    ----------
    rate, shape, returns_rate, nodes
        As for :func:`expected_lost`, ``rate`` of shape (P, H).
    capacity : array (P,)
        Docks. NaN if unknown: the place then has room enough that it is hardly ever full (:func:`roomy`).
    usual_stock : array (P,)
        Stock now or usually at the start of the window. A mean that is not whole is interpolated on the
        curve. Moves start from whole numbers near it with the same sum, and lead towards the targets.
    identified : array of bool (P,), optional
        Whether the data identify the rates; copied to the table. True by default.
    van, moves, distance, cost_of_distance, max_distance
        As for :func:`rank_moves`.
    lost_share : float
        Share of requests at an empty place that are lost, not served by a neighbour (:func:`lost_share`).
    """
    means = amounts(rate, "rate")
    if means.ndim != 2:
        raise ValueError(f"rate must have the shape (places, periods), got {means.shape}")
    places = len(means)
    usual = stretched(amounts(usual_stock, "usual_stock"), (places,), "usual_stock")
    docks = np.array(np.broadcast_to(np.asarray(capacity, dtype=np.float64), (places,)))
    unknown = np.isnan(docks)
    if unknown.any():
        back = stretched(amounts(returns_rate, "returns_rate"), means.shape, "returns_rate")
        docks[unknown] = roomy(means, back, usual)[unknown]
    room = counts(docks, "capacity")
    if (room > MOST_DOCKS).any():
        raise ValueError(
            f"capacity must be at most {MOST_DOCKS:,} docks a place, got {room.max():,}: correct it in the "
            "stations, or leave it out (NaN)"
        )
    if (usual > room).any():
        raise ValueError("usual_stock must not exceed capacity")
    known = np.ones(places, dtype=bool) if identified is None else np.asarray(identified)
    if known.dtype != np.bool_ or known.shape != (places,):
        raise ValueError(f"identified must be a boolean array of length {places}")
    if not 0 < lost_share <= 1:
        raise ValueError(f"lost_share must be above 0 and at most 1, got {lost_share!r}")
    curves = lost_share * expected_lost(means, shape, returns_rate, capacity=room, nodes=nodes)
    if fleet is None:
        target = best_stock(curves, cost_lost=cost_lost, cost_idle=cost_idle, capacity=room)
    else:
        target = allocate(fleet, curves, capacity=room)
    rows = np.arange(places)
    whole = np.floor(usual).astype(np.int64)
    above = np.minimum(whole + 1, curves.shape[1] - 1)
    now = curves[rows, whole] + (usual - whole) * (curves[rows, above] - curves[rows, whole])
    then = curves[rows, target]
    worth = np.column_stack([value_of_vehicles(curves), np.zeros(places)])
    ranked = rank_moves(
        whole_vehicles(usual, room),
        curves,
        capacity=room,
        target=target,
        van=van,
        moves=moves,
        distance=distance,
        cost_of_distance=cost_of_distance,
        max_distance=max_distance,
    )
    table = {
        "capacity": docks,
        "usual_stock": np.array(usual),
        "target": target,
        "expected_lost_usual": now,
        "expected_lost_target": then,
        "rides_saved": now - then,
        "value_of_next_vehicle": worth[rows, target],
        "identified": known,
    }
    return Plan(table, ranked, fleet_curve(curves, float(means.sum()), capacity=room), curves)


def whole_vehicles(usual: Floats, room: Ints) -> Ints:
    """Return whole numbers next to `usual` that add up to its rounded sum. The largest fractions go up.

    Examples
    --------
    >>> whole_vehicles(np.array([1.6, 2.6, 0.6]), np.array([9, 9, 9])).tolist()
    [2, 3, 0]
    """
    whole = np.floor(usual).astype(np.int64)
    part = np.where(whole < room, usual - whole, -1.0)
    missing = round(float(usual.sum())) - int(whole.sum())
    whole[np.argsort(-part, kind="stable")[:missing]] += 1
    return np.minimum(whole, room)


def roomy(rate: Floats, returns_rate: Floats, usual_stock: Floats) -> Floats:
    """Return room (P,) that is hardly ever used up, for places with unknown docks or none.

    It is the usual stock or the largest expected net outflow, plus the largest expected net inflow, each
    with four standard deviations of the flows.
    """
    net = np.cumsum(returns_rate - rate, axis=1)
    spread = 4.0 * np.sqrt((rate + returns_rate).sum(axis=1))
    out, into = np.maximum(-net.min(axis=1), 0.0) + spread, np.maximum(net.max(axis=1), 0.0) + spread
    return np.ceil(np.maximum(usual_stock, out) + into)
