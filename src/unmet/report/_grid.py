"""Rows ordered by place and time as matrices of places × periods, with the local clock beside them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np

from unmet.tables import Columns


@dataclass(frozen=True)
class Grid:
    """Where each row of a table belongs.

    Attributes
    ----------
    ids : list of str
        Places, in the order of the table.
    times : array of datetime64[s] (T,)
        All moments that occur, ascending.
    clock : array of int (T,)
        The local clock at those moments, as if it were POSIX seconds.
    place, period : array of int (rows,)
    """

    ids: list[str]
    times: np.ndarray
    clock: np.ndarray
    place: np.ndarray
    period: np.ndarray

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values as (places, periods); NaN where a place has no row."""
        found = np.full((len(self.ids), len(self.times)), np.nan)
        found[self.place, self.period] = values
        return found

    @property
    def days(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the local days since 1970, and the first period of each."""
        day = self.clock // 86400
        starts = np.flatnonzero(np.diff(day, prepend=day[0] - 1))
        return day[starts], starts


def make_grid(columns: Columns, zone: str) -> Grid:
    """Lay out the rows of a table with ``unique_id`` and ``ds`` (naive UTC)."""
    identity, when = columns["unique_id"], columns["ds"].astype("datetime64[s]")
    fresh = np.ones(len(identity), dtype=bool)
    fresh[1:] = identity[1:] != identity[:-1]
    place = np.cumsum(fresh) - 1
    ids = [str(one) for one in identity[fresh]]
    if len(set(ids)) != len(ids):
        raise ValueError("rows must be ordered by unique_id and ds; write the table again")
    times = np.unique(when)
    return Grid(ids, times, local_clock(times, zone), place, np.searchsorted(times, when))


def local_clock(times: np.ndarray, zone: str) -> np.ndarray:
    """Seconds of the local clock for moments in UTC; days of 23 and 25 hours exist."""
    place = ZoneInfo(zone)
    posix = times.astype("datetime64[s]").astype(np.int64)
    offsets = [
        int(datetime.fromtimestamp(second, UTC).astimezone(place).utcoffset().total_seconds())  # type: ignore[union-attr]
        for second in posix.tolist()
    ]
    return posix + np.array(offsets, dtype=np.int64)
