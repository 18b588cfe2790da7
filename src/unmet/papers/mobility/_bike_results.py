"""From many starts to one figure per cell: the paper's rules of exclusion and choice, then averages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._bikes import INTENSITIES
from unmet.papers.mobility._grid_models import AS_PUBLISHED, COVERAGE
from unmet.papers.mobility._protocols import read_rows
from unmet.tables import Columns

_WIDEST = 2.0  # times the mean of train y: a wider validation interval excludes a start
_KEYS = ("hub", "intensity", "gamma", "block", "model", "censoring", "start")
MEASURES = ("icp", "mil", "icp_exact", "mil_exact", "crossing_loss")
ERRORS = ("error_low_calendar", "error_high_calendar", "error_low_weather", "error_high_weather")


@dataclass(frozen=True)
class BikeCell:
    """A model at one hub, intensity and γ: one value for each censoring that was not excluded.

    `values` holds the measures by name; `excluded` counts censorings without a start that the rule allows.
    """

    hub: str
    intensity: str
    gamma: float
    block: str
    model: str
    values: dict[str, NDArray[np.float64]]
    excluded: int

    def mean(self, measure: str) -> float:
        """Return the mean over censorings, NaN where nothing was left."""
        return _finite_mean(self.values[measure])


def read_cells(paths: Sequence[Path]) -> list[BikeCell]:
    """Return the cells of a finished grid, in the order of hubs, intensities, γ; models as they come."""
    return choose(read_rows(paths, _KEYS))


def choose(table: Columns) -> list[BikeCell]:
    """Apply the paper's rules to the starts of each censoring, and gather the censorings of each cell.

    A start counts if its validation MIL is at most twice the mean of train y. Of those that count, the first
    whose validation ICP is closest to 0.9 is taken. Models with one start are exempt.
    """
    measures = [name for name in (*MEASURES, *ERRORS) if name in table]
    groups: dict[tuple[str, str, float, str, str], dict[int, list[int]]] = {}
    for index, key in enumerate(zip(*(table[name] for name in _KEYS))):
        hub, intensity, gamma, block, model, censoring, _ = key
        cell = (str(hub), str(intensity), float(gamma), str(block), str(model))
        groups.setdefault(cell, {}).setdefault(int(censoring), []).append(index)
    cells = []
    for cell, censorings in groups.items():
        chosen = [_choose_start(table, np.array(rows), cell[3]) for rows in censorings.values()]
        kept = np.array([row for row in chosen if row is not None], int)
        values = {name: table[name][kept].astype(float) for name in measures}
        cells.append(BikeCell(*cell, values, excluded=len(chosen) - len(kept)))
    return cells


def _choose_start(table: Columns, rows: NDArray[np.intp], block: str) -> int | None:
    if block != AS_PUBLISHED:
        return int(rows[0])
    allowed = rows[table["validation_mil"][rows] / table["train_mean"][rows] <= _WIDEST]
    if not len(allowed):
        return None
    distance = np.abs(table["validation_icp"][allowed] - COVERAGE)
    return int(allowed[np.argmin(np.round(distance, 12))])


def names(cells: Sequence[BikeCell], field: str) -> list:
    """Return the values of a field in the order in which they first appear."""
    return list(dict.fromkeys(getattr(cell, field) for cell in cells))


def intensities(cells: Sequence[BikeCell]) -> list[str]:
    """Return the intensities of the cells, the lowest first."""
    return [name for name in INTENSITIES if name in names(cells, "intensity")]


def distance(cells: Sequence[BikeCell], measure: str = "icp") -> float:
    """Return the mean over cells of how far their coverage is from 0.9; a cell without a result covers 0."""
    found = [
        abs((0.0 if np.isnan(value) else value) - COVERAGE) for value in (c.mean(measure) for c in cells)
    ]
    return float(np.mean(found))


def spread_distance(cells: Sequence[BikeCell]) -> float:
    """Return the same with every censoring on its own, so that errors do not cancel within a cell."""
    return float(np.mean(np.concatenate([np.abs(cell.values["icp"] - COVERAGE) for cell in cells])))


def overall(cells: Sequence[BikeCell], measure: str) -> float:
    """Return the mean of a measure over all cells that have it."""
    return _finite_mean(np.array([cell.mean(measure) for cell in cells]))


def _finite_mean(values: NDArray[np.float64]) -> float:
    found = values[np.isfinite(values)]
    return float(found.mean()) if len(found) else float("nan")
