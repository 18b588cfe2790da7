"""A table for the page: columns with a direction of reading, cells with the value they are sorted by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from unmet.results import Interval, PlaceTotals
from unmet.results.numbers import about, between, known, number, percent

MOST_ROWS = 1000


@dataclass(frozen=True)
class Cell:
    """Text as shown; ``sort`` is the number it is ordered by, or None for the text itself.

    ``place`` is the number of a place that the cell opens; ``bar`` a share from 0 to 1 drawn behind it.
    """

    text: str
    sort: float | None = None
    place: int | None = None
    bar: float | None = None
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns; the first column is the row's heading."""

    key: str
    caption: str
    columns: tuple[tuple[str, bool], ...]  # heading, whether it holds numbers
    rows: tuple[tuple[Cell, ...], ...]
    sorted_by: tuple[int, str] | None = None
    sortable: bool = True
    left_out: int = 0


def make_table(
    key: str,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Iterable[Sequence[Cell]],
    *,
    sorted_by: tuple[int, str] | None = None,
    sortable: bool = True,
) -> Table:
    """Check that rows fit their columns; a very long table keeps its first rows and says so."""
    found = tuple(tuple(row) for row in rows)
    for row in found:
        if len(row) != len(columns):
            raise ValueError(f"rows of table {key!r} must have {len(columns)} cells, got {len(row)}")
    kept = found[:MOST_ROWS]
    return Table(key, caption, tuple(columns), kept, sorted_by, sortable, len(found) - len(kept))


def count(value: Any, digits: int | None = None, bar: float | None = None) -> Cell:
    """A number; what is not identified or absent sorts last."""
    if value is not None and not known(value):
        return Cell(number(value), kind="unknown")
    return Cell(number(value, digits), sort=None if value is None else float(value), bar=bar)


def share(value: Any, digits: int = 1) -> Cell:
    """A percentage."""
    return Cell(percent(value, digits), sort=float(value) if known(value) else None)


def estimate(value: Interval, bar: float | None = None) -> Cell:
    """Return the mean of an interval, with the digits that the interval supports."""
    return Cell(about(value), sort=value.mean, bar=bar)


def bounds(value: Interval) -> Cell:
    """Return a 90% interval, sorted by its upper end, or by the lower one where there is no other."""
    if value.identified:
        return Cell(between(value), sort=value.high)
    return Cell(between(value), sort=value.low, kind="unknown")


def named(place: PlaceTotals, n: int) -> Cell:
    """A place, which the cell opens."""
    return Cell(place.name, place=n)


def words(text: Any) -> Cell:
    """Plain text."""
    return Cell("" if text is None else str(text))
