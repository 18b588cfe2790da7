"""Our cells beside the published ones, standardised by the Monte-Carlo error of the difference."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.koenker.designs import TRUTH

HERE = Path(__file__).parent
_RESAMPLES = 400


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    table: int
    estimator: str
    rows: int
    measure: str
    published: float
    ours: float
    error: float  # standard error of ours for a single draw: divide by √draws
    draws: int

    def z(self, published_draws: int) -> float:
        rounding = 0.00005 / np.sqrt(3)
        variance = self.error**2 * (1 / self.draws + 1 / published_draws) + rounding**2
        return (self.ours - self.published) / float(np.sqrt(variance))


def cells(folder: Path) -> list[Cell]:
    """All cells for which there are draws."""
    found = []
    with (HERE / "published.csv").open() as file:
        for line in csv.DictReader(file):
            table, rows, estimator = int(line["table"]), int(line["rows"]), line["estimator"]
            parts = sorted(folder.glob(f"table{table}-{rows}-*.npz"))
            parts = [path for path in parts if ".part" not in path.name]
            if not parts:
                continue
            estimates = np.concatenate([np.load(path)[estimator] for path in parts])
            errors = estimates - TRUTH
            for number, name in enumerate(("intercept", "slope")):
                for measure in ("bias", "mae", "rmse"):
                    key = f"{name}_{measure}"
                    value, error = _measure(measure, errors[:, number], table)
                    published = float(line[key])
                    found.append(Cell(table, estimator, rows, key, published, value, error, len(errors)))
    return found


def _measure(measure: str, errors: np.ndarray, table: int) -> tuple[float, float]:
    """The measure and its standard error for one draw, by the bootstrap."""
    picks = np.random.default_rng(0).integers(len(errors), size=(_RESAMPLES, len(errors)))

    def of(values: np.ndarray) -> np.ndarray:
        if measure == "bias":
            return values.mean(axis=-1)
        if measure == "rmse":
            return np.sqrt(np.square(values).mean(axis=-1))
        # The text says median; the ratio to the RMSE in Table 4, and only there, is that of a mean.
        return np.abs(values).mean(axis=-1) if table == 4 else np.median(np.abs(values), axis=-1)

    return float(of(errors)), float(of(errors[picks]).std() * np.sqrt(len(errors)))
