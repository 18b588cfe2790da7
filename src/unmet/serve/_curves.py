"""Expected lost rides of each place by its starting stock, for one day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from unmet.calendar import day_start, local_date
from unmet.planning import value_of_vehicles

_ROUNDING = 1e-4  # of the curves of a run


@dataclass(frozen=True)
class Window:
    """A day to plan: its local date, its start in UTC, its number of periods."""

    day: date
    start: np.datetime64
    periods: int

    @staticmethod
    def of(day: date, zone: str, by: str) -> Window:
        """Return the planned day of a local date."""
        return Window(day, day_start(day, zone, by), 24 if by == "hour" else 1)

    @staticmethod
    def first(ahead: np.datetime64, zone: str, by: str) -> Window:
        """Return the first whole day of a forecast that begins at `ahead`."""
        day = local_date(ahead, zone)
        found = Window.of(day, zone, by)
        return found if found.start >= ahead else Window.of(day + timedelta(days=1), zone, by)


@dataclass(frozen=True)
class Curves:
    """Curves of all places. Beyond the docks of a place, its row of `lost` stays flat."""

    places: tuple[str, ...]
    lost: np.ndarray
    docks: np.ndarray
    usual: np.ndarray  # NaN where unknown
    identified: np.ndarray
    window: Window | None = None

    def only(self, chosen: tuple[str, ...]) -> Curves:
        """Return the curves of the chosen places, in that order."""
        index = [self.places.index(place) for place in chosen]
        lost, docks, usual, known = (
            part[index] for part in (self.lost, self.docks, self.usual, self.identified)
        )
        return Curves(chosen, lost, docks, usual, known, self.window)

    @property
    def usual_fleet(self) -> int | None:
        """Vehicles usually standing at these places; None if unknown for some."""
        return None if np.isnan(self.usual).any() else round(float(self.usual.sum()))

    def lost_at(self, stock: np.ndarray) -> np.ndarray:
        """Return expected lost rides of each place, interpolated between whole stocks; NaN if unknown."""
        steps = np.arange(self.lost.shape[1])
        return np.array([np.interp(at, steps, row) for at, row in zip(stock, self.lost)])


def make_curves(
    lost: Mapping[str, Sequence[float]], plan: Mapping[str, Mapping[str, Any]], window: Window | None = None
) -> Curves:
    """Build curves from lost rides by starting stock and the rows of the plan, both by place."""
    rows = [_convex(np.asarray(curve, dtype=float)) for curve in lost.values()]
    width = max(map(len, rows))
    table = np.array([np.append(row, np.full(width - len(row), row[-1])) for row in rows])
    value_of_vehicles(table)  # refuses curves that rise or are not convex
    known = [plan.get(place, {}) for place in lost]
    usual = [row.get("usual_stock") for row in known]
    return Curves(
        places=tuple(lost),
        lost=table,
        docks=np.array([len(row) - 1 for row in rows]),
        usual=np.array([np.nan if stock is None else stock for stock in usual], dtype=float),
        identified=np.array([bool(row.get("identified", True)) for row in known]),
        window=window,
    )


def _convex(values: np.ndarray) -> np.ndarray:
    """Smooth the dents that rounding leaves in a convex curve. Larger dents stay, to be refused."""
    saved = np.minimum.accumulate(np.clip(values[:-1] - values[1:], 0.0, None))
    smooth = values[-1] + np.append(np.cumsum(saved[::-1])[::-1], 0.0)
    return smooth if np.abs(smooth - values).max() < _ROUNDING * (1.0 + values.max()) else values
