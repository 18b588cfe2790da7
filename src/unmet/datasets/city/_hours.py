"""The hours of a city: UTC hours from a local midnight to another, with their local clock."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from unmet.datasets.city._settings import CitySettings


@dataclass(frozen=True)
class Hours:
    """Each hour of the period.

    Attributes
    ----------
    first : int
        POSIX seconds of the first hour. All times inside the simulation are seconds after it.
    offset : array of int (H + 48,)
        Seconds to add to UTC for the local clock. Two extra days cover rides under way at the end.
    hour : array of int (H,)
        Local hour of the day, 0–23.
    weekend : array of bool (H,)
        Saturday or Sunday, local.
    day : array of int (H,)
        Number of the local day, from 0. Days may have 23 or 25 hours.
    day_of_year : array of int (H,)
        Local day of the year, from 1.
    """

    first: int
    offset: np.ndarray
    hour: np.ndarray
    weekend: np.ndarray
    day: np.ndarray
    day_of_year: np.ndarray

    def __len__(self) -> int:
        return len(self.hour)

    @property
    def seconds(self) -> int:
        """Length of the period in seconds."""
        return 3600 * len(self)

    def local(self, second: np.ndarray) -> np.ndarray:
        """Convert seconds after the first hour to seconds of the local clock, written like POSIX seconds."""
        return self.first + second + self.offset[np.minimum(second // 3600, len(self.offset) - 1)]

    @property
    def posix(self) -> np.ndarray:
        """POSIX seconds at which each hour starts."""
        return self.first + 3600 * np.arange(len(self), dtype=np.int64)


def make_hours(settings: CitySettings) -> Hours:
    """Return the hours from the first local midnight to the one after the last day."""
    zone = ZoneInfo(settings.zone)
    begin = date.fromisoformat(settings.start)
    end = begin + timedelta(days=settings.days)
    first, last = (
        int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()) for day in (begin, end)
    )
    ahead = range(first, last + 48 * 3600, 3600)
    clock = [datetime.fromtimestamp(posix, UTC).astimezone(zone) for posix in ahead]
    local = clock[: (last - first) // 3600]
    return Hours(
        first=first,
        offset=np.array([int(at.utcoffset().total_seconds()) for at in clock], dtype=np.int64),  # type: ignore[union-attr]
        hour=np.array([at.hour for at in local]),
        weekend=np.array([at.weekday() >= 5 for at in local]),
        day=np.array([(at.date() - begin).days for at in local]),
        day_of_year=np.array([at.timetuple().tm_yday for at in local]),
    )
