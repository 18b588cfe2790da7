"""Time zones: which names are valid, and what the local clock shows."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

_QUARTER = 900  # seconds; zones change their offset at whole quarters of an hour


def check_zone(zone: str, what: str = "zone") -> str:
    """Return the name of a time zone, or raise ValueError if there is no such zone.

    >>> check_zone("Europe/Paris")
    'Europe/Paris'
    """
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, TypeError, KeyError):
        raise ValueError(f"{what} must be a time zone such as 'America/New_York', got {zone!r}") from None
    return zone


def utc_offset(seconds: NDArray[np.int64], zone: str) -> NDArray[np.int64]:
    """Return by how many seconds local time is ahead of UTC at moments in seconds since 1970."""
    quarter, back = np.unique(np.asarray(seconds) // _QUARTER, return_inverse=True)
    return np.array([_offset(one, zone) for one in quarter.tolist()], np.int64)[back]


@lru_cache(1 << 17)  # the same periods are asked for again and again
def _offset(quarter: int, zone: str) -> int:
    offset = datetime.fromtimestamp(quarter * _QUARTER, UTC).astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def local_seconds(ds: NDArray[np.datetime64], zone: str) -> NDArray[np.int64]:
    """Return the local clock at moments `ds` (naive UTC), as if it were seconds since 1970."""
    seconds = np.asarray(ds).astype("datetime64[s]").astype(np.int64)
    return seconds + utc_offset(seconds, zone)
