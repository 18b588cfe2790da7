"""Rows of places and periods as matrices, with the local clock of the periods beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calendar._zones import local_seconds


@dataclass(frozen=True)
class PlaceGrid:
    """Where each row of a table belongs in a matrix of places × periods.

    Attributes
    ----------
    ids : places, sorted.
    times : starts of all periods that occur (T,), naive UTC, ascending.
    place, period : of each row.
    zone : of the local clock.
    in_order : whether rows come place by place, each with all periods in order.
    """

    ids: list[str]
    times: NDArray[np.datetime64]
    place: NDArray[np.int64]
    period: NDArray[np.int64]
    zone: str
    in_order: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ids), len(self.times)

    @cached_property
    def complete(self) -> bool:
        """Whether there is exactly one row for each place and period."""
        cells = len(self.ids) * len(self.times)
        if self.in_order:
            return True
        if len(self.place) != cells:
            return False
        return bool((np.bincount(self.place * len(self.times) + self.period, minlength=cells) == 1).all())

    def matrix(self, values: Any) -> NDArray[Any]:
        """Return values as (places, periods); as floats with NaN where rows are missing."""
        values = np.asarray(values)
        if self.in_order:
            return values.reshape(self.shape)
        found = np.empty(self.shape, values.dtype) if self.complete else np.full(self.shape, np.nan)
        found[self.place, self.period] = values
        return found

    @cached_property
    def clock(self) -> NDArray[np.int64]:
        """The local clock at each period, as if it were seconds since 1970."""
        return local_seconds(self.times, self.zone)

    @property
    def days(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Local days as days since 1970, and the first period of each."""
        day = self.clock // 86_400
        starts = np.flatnonzero(np.diff(day, prepend=day[0] - 1))
        return day[starts], starts


def lay_out(columns: Mapping[str, Any], zone: str) -> PlaceGrid:
    """Lay out the rows of a table with ``unique_id`` and ``ds`` (naive UTC), in whatever order they come."""
    identity, ds = np.asarray(columns["unique_id"]), np.asarray(columns["ds"], "datetime64[us]")
    # Rows mostly come place by place: look up each run of equal ids once.
    fresh = np.ones(len(identity), dtype=bool)
    fresh[1:] = identity[1:] != identity[:-1]
    names = identity[fresh].astype(str)
    ids, run = np.unique(names, return_inverse=True)
    periods = len(identity) // max(len(ids), 1)
    times = ds[:periods]
    if (
        periods > 0
        and len(names) == len(ids)
        and len(identity) == len(ids) * periods
        and (names == ids).all()
        and (np.diff(times) > np.timedelta64(0, "us")).all()
        and fresh[::periods].all()
        and (ds.reshape(-1, periods) == times).all()
    ):
        place, period = np.repeat(run, periods), np.tile(np.arange(periods), len(ids))
        return PlaceGrid(ids.tolist(), times, place, period, zone, in_order=True)
    times, period = np.unique(ds, return_inverse=True)
    return PlaceGrid(ids.tolist(), times, run[np.cumsum(fresh) - 1], period, zone)
