"""What a fleet of another size, or other costs, would mean: vehicles placed by what each one saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from unmet.planning import allocate, best_stock, newsvendor_level, value_of_vehicles
from unmet.serve._encode import number


@dataclass(frozen=True)
class Curves:
    """Expected lost rides of each place by its starting stock 0, 1, 2 …, for one window of time.

    `lost` has one row per place; beyond the docks of a place its row stays flat.
    """

    places: tuple[str, ...]
    lost: np.ndarray
    docks: np.ndarray
    usual: np.ndarray  # NaN where nobody knows
    identified: np.ndarray
    day: date | None = None

    def only(self, chosen: tuple[str, ...]) -> Curves:
        """The curves of some of the places, in their order."""
        index = [self.places.index(place) for place in chosen]
        parts = (self.lost, self.docks, self.usual, self.identified)
        return Curves(chosen, *(values[index] for values in parts), self.day)

    @property
    def usual_fleet(self) -> int | None:
        """Vehicles that usually stand at these places."""
        return None if np.isnan(self.usual).any() else round(float(self.usual.sum()))

    def lost_at(self, stock: np.ndarray) -> np.ndarray:
        """Expected lost rides of each place; between whole stocks along the line, NaN where it is unknown."""
        steps = np.arange(self.lost.shape[1])
        return np.array([np.interp(at, steps, row) for at, row in zip(stock, self.lost)])


def read_curves(found: Any, rows: Mapping[str, Mapping[str, str]], path: Path) -> Curves | None:
    """Curves from what curves.json holds and the rows of plan.csv; None if there are none."""
    if found is None:
        return None
    given = found.get("places", found) if isinstance(found, dict) else None
    if not isinstance(given, dict) or not given:
        raise ValueError(f"{path} is not a table of places: run `unmet plan` again")
    curves = []
    for place, curve in given.items():
        try:
            values = np.asarray(curve["expected_lost"] if isinstance(curve, dict) else curve, dtype=float)
        except (ValueError, TypeError, KeyError):
            values = np.zeros(0)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(
                f"curve of place {place!r} in {path} is not a row of numbers: run `unmet plan` again"
            )
        curves.append(values)
    width = max(map(len, curves))
    own = [rows.get(place, {}) for place in given]
    lost = np.array([np.append(row, np.full(width - len(row), row[-1])) for row in curves])
    try:
        value_of_vehicles(lost)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; run `unmet plan` again") from None
    return Curves(
        places=tuple(given),
        lost=lost,
        docks=np.array([len(row) - 1 for row in curves]),
        usual=np.array([_number(row.get("usual_stock")) for row in own]),
        identified=np.array([row.get("identified", "").strip().lower() not in ("false", "0") for row in own]),
    )


def plan_answer(curves: Curves, fleet: int | None, cost_lost: float, cost_idle: float) -> dict[str, Any]:
    """Place `fleet` vehicles so that as few rides as possible are lost, and keep back those that cost more.

    A vehicle that saves no more than c_idle / (c_lost + c_idle) rides, the newsvendor's bound, costs more
    than it earns. Without a `fleet` it is the usual one.
    """
    most = int(best_stock(curves.lost, cost_lost=cost_lost, cost_idle=cost_idle, capacity=curves.docks).sum())
    if fleet is None:
        fleet = most if curves.usual_fleet is None else curves.usual_fleet
    target = allocate(min(fleet, most), curves.lost, capacity=curves.docks)
    lost, before = curves.lost_at(target), curves.lost_at(curves.usual)
    worth = np.column_stack([value_of_vehicles(curves.lost), np.zeros(len(target))])
    following = np.where(target < curves.docks, worth[np.arange(len(target)), target], 0.0)
    return {
        "fleet": fleet,
        "cost_lost": cost_lost,
        "cost_idle": cost_idle,
        "date": None if curves.day is None else curves.day.isoformat(),
        "level": number(newsvendor_level(cost_lost, cost_idle)),
        "placed": int(target.sum()),
        "kept_back": fleet - int(target.sum()),
        "expected_lost": number(lost.sum()),
        "expected_lost_usual": number(before.sum()),
        "places": [
            {
                "unique_id": place,
                "capacity": int(curves.docks[row]),
                "usual_stock": number(curves.usual[row]),
                "target": int(target[row]),
                "expected_lost": number(lost[row]),
                "expected_lost_usual": number(before[row]),
                "value_of_next_vehicle": number(following[row]),
                "identified": bool(curves.identified[row]),
            }
            for row, place in enumerate(curves.places)
        ],
    }


def _number(text: str | None) -> float:
    try:
        return float(text) if text else np.nan
    except ValueError:
        return np.nan
