"""Cells: one number of a table, with what was measured, of which model, on which rows, over how many runs."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

PUBLISHED = "published"
T = TypeVar("T")
Key = tuple[str, str, str, str, str, str, str, str]  # all fields of a cell up to its measure


@dataclass(frozen=True)
class Cell:
    """A mean over runs and its standard deviation (None for a single run, or where it is unknown).

    `truth` says which true quantiles an error is measured against: "paper" or "corrected", which differ only
    for the mixture. It is empty where no truth is needed.
    """

    table: str
    block: str
    data: str
    model: str
    theta: str
    rows: str
    truth: str
    measure: str
    mean: float
    sd: float | None = None
    runs: int | None = None


def read_published() -> list[Cell]:
    """Return the numbers printed in the paper; the file names their source."""
    text = files("unmet.papers").joinpath("published.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = []
    for row in csv.DictReader(lines):
        truth = "paper" if row["table"] in ("table1", "table2") else ""
        found.append(
            Cell(
                row["table"],
                PUBLISHED,
                row["data"],
                row["model"],
                row["theta"],
                row["rows"],
                truth,
                row["measure"],
                float(row["mean"]),
                float(row["sd"]) if row["sd"] else None,
            )
        )
    return found


def select(cells: Iterable[T], **wanted: Any) -> list[T]:
    """Return the cells, of any kind, whose fields have the wanted value or one of a tuple of values."""
    choices = {name: value if isinstance(value, tuple) else (value,) for name, value in wanted.items()}
    return [cell for cell in cells if all(getattr(cell, name) in among for name, among in choices.items())]


def one(cells: Iterable[Cell], **wanted: str) -> Cell:
    """Return the only cell with these fields."""
    found = select(cells, **wanted)
    if len(found) != 1:
        raise ValueError(f"{len(found)} cells, not one, have {wanted}")
    return found[0]


def averaged(key: Key, values: Sequence[float] | NDArray[np.float64]) -> Cell:
    """Return the mean and standard deviation of the values as a cell; `key` holds its other fields."""
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return rounded(Cell(*key, float(np.mean(values)), sd, len(values)))


def rounded(cell: Cell) -> Cell:
    """Return the cell with six significant digits, so that files do not change with the last bits."""
    short = None if cell.sd is None else float(f"{cell.sd:.6g}")
    return replace(cell, mean=float(f"{cell.mean:.6g}"), sd=short)


def to_csv(cells: Iterable[Cell]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Cell)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in cells)
    return text.getvalue()


def to_json(cells: Iterable[Cell]) -> str:
    return json.dumps([asdict(cell) for cell in cells], indent=1, ensure_ascii=False) + "\n"


def from_json(text: str | bytes) -> list[Cell]:
    return [Cell(**item) for item in json.loads(text)]
