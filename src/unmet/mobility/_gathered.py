"""Rows made in NumPy on their way into DuckDB: gathered in one frame, inserted many at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import duckdb

Columns = Mapping[str, np.ndarray]
_ROWS = 2 * 122_880  # two of DuckDB's row groups: smaller parts cost more
_IN_ORDER = 50 * 2_048  # DuckDB takes so many rows of a frame at a time, more of them in any order


class Gathered:
    """Columns that are collected in view ``_frame`` until it is full, or flushed.

    The same arrays are filled again and again: a transaction keeps all that it has seen.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, insert: Callable[[], str], in_order: bool = False
    ) -> None:
        """
        Parameters
        ----------
        insert : called before each statement; gives the SQL that inserts the rows of ``_frame``.
        in_order : whether rows must come to stand in the order in which they were added.
        """
        self._con, self._insert = con, insert
        self._rows = min(_ROWS, _IN_ORDER) if in_order else _ROWS
        self._frame: dict[str, np.ndarray] = {}
        self._held = 0
        self.inserted = 0

    def add(self, columns: Columns) -> None:
        """Add rows, always with the same columns."""
        if not self._frame:
            self._frame = {name: np.empty(self._rows, values.dtype) for name, values in columns.items()}
            self._con.register("_frame", self._frame)
        rows, taken = len(next(iter(columns.values()))), 0
        while taken < rows:
            more = min(rows - taken, self._rows - self._held)
            for name, values in columns.items():
                self._frame[name][self._held : self._held + more] = values[taken : taken + more]
            self._held, taken = self._held + more, taken + more
            if self._held == self._rows:
                self._execute()

    def flush(self) -> int:
        """Insert what is left; returns how many rows were inserted in all."""
        if self._held:
            self._con.register("_frame", {name: values[: self._held] for name, values in self._frame.items()})
            self._execute()
        self._con.unregister("_frame")
        return self.inserted

    def _execute(self) -> None:
        [(rows,)] = self._con.execute(self._insert()).fetchall()
        self.inserted += rows
        self._held = 0
