"""A table whose rows of one place can be found at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmet.tables import Columns

NO_TIME = np.timedelta64(0, "us")


@dataclass(frozen=True)
class ByPlace:
    """Columns ordered by place and time. `rows` says which rows belong to each place."""

    columns: Columns
    rows: dict[str, slice]

    def times(self, place: str) -> np.ndarray:
        """Return the starts of the periods of a place."""
        return self.columns["ds"][self.rows[place]]

    def between(self, place: str, start: np.datetime64 | None, end: np.datetime64 | None) -> Columns:
        """Return the rows of a place from `start` up to, but not including, `end`."""
        own, times = self.rows[place], self.times(place)
        first = own.start + (0 if start is None else int(np.searchsorted(times, start)))
        last = own.stop if end is None else own.start + int(np.searchsorted(times, end))
        return {name: values[first : max(first, last)] for name, values in self.columns.items()}


def by_place(columns: Columns, keep: tuple[str, ...]) -> ByPlace:
    """Order a table by place and time, with only the columns in `keep`."""
    ids, times = columns["unique_id"], columns["ds"].astype("datetime64[us]")
    first, same = _blocks(ids)
    if len(set(ids[first].tolist())) != len(first) or (np.diff(times)[same] < NO_TIME).any():
        # A panel the user supplied can come in any order.
        order = np.lexsort((times, ids.astype(str)))
        columns = {name: values[order] for name, values in columns.items()}
        ids, times = ids[order], times[order]
        first, same = _blocks(ids)
    rows = {str(ids[a]): slice(int(a), int(b)) for a, b in zip(first, [*first[1:], len(ids)])}
    if len(rows) != len(first) or (np.diff(times)[same] <= NO_TIME).any():
        raise ValueError("two rows for one place and period")
    kept = {name: columns[name] for name in keep if name in columns}
    return ByPlace({"ds": times, **kept}, rows)


def _blocks(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each block of one place begins, and whether each row's successor is in the same block."""
    first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else np.zeros(0, int)
    same = np.ones(max(len(ids) - 1, 0), dtype=bool)
    same[first[1:] - 1] = False
    return first, same
