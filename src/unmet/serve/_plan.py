"""Where the vehicles of a fleet save most rides, and which of them cost more than they save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from unmet.planning import allocate, best_stock, newsvendor_level, value_of_vehicles
from unmet.serve._curves import Curves
from unmet.serve._documents import Plan
from unmet.serve._encode import column, number


def plan_fleet(
    curves: Curves, names: Mapping[str, str], fleet: int | None, cost_lost: float, cost_idle: float
) -> Plan:
    """Place `fleet` vehicles so that as few rides as possible are lost; keep back those that do not pay.

    A vehicle that saves no more than cost_idle / (cost_lost + cost_idle) rides, the newsvendor's bound, costs
    more than it earns. Without a `fleet`, place the usual number.
    """
    most = int(best_stock(curves.lost, cost_lost=cost_lost, cost_idle=cost_idle, capacity=curves.docks).sum())
    if fleet is None:
        fleet = most if curves.usual_fleet is None else curves.usual_fleet
    target = allocate(min(fleet, most), curves.lost, capacity=curves.docks)
    lost, before = curves.lost_at(target), curves.lost_at(curves.usual)
    worth = np.column_stack([value_of_vehicles(curves.lost), np.zeros(len(target))])
    following = np.where(target < curves.docks, worth[np.arange(len(target)), target], 0.0)
    window = curves.window
    rows = [
        {
            "unique_id": place,
            "name": names[place],
            "capacity": int(curves.docks[row]),
            "usual_stock": number(curves.usual[row]),
            "target": int(target[row]),
            "expected_lost": number(lost[row]),
            "expected_lost_usual": number(before[row]),
            "value_of_next_vehicle": number(following[row]),
            "identified": bool(curves.identified[row]),
        }
        for row, place in enumerate(curves.places)
    ]
    return {
        "fleet": fleet,
        "cost_lost": cost_lost,
        "cost_idle": cost_idle,
        "date": None if window is None else window.day.isoformat(),
        "start": None if window is None else column(np.array([window.start]))[0],
        "periods": None if window is None else window.periods,
        "level": number(newsvendor_level(cost_lost, cost_idle)),
        "placed": int(target.sum()),
        "kept_back": fleet - int(target.sum()),
        "expected_lost": number(lost.sum()),
        "expected_lost_usual": number(before.sum()),
        "places": cast(Any, rows),
    }
