"""Public holidays of countries and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from unmet.calendar._zones import local_seconds
from unmet.runs import naming_extras


def holiday_dates(region: str, years: Sequence[int]) -> list[date]:
    """Return the public holidays of a country (``"DK"``) or one of its parts (``"US-NJ"``)."""
    with naming_extras():
        import holidays

    country, _, part = region.partition("-")
    try:
        found = holidays.country_holidays(country, subdiv=part or None, years=list(years))
    except NotImplementedError:
        raise ValueError(
            f"holidays={region!r} is not a known country or part; write for instance 'US-NJ'"
        ) from None
    return sorted(found)


def is_holiday(ds: NDArray[np.datetime64], zone: str, region: str) -> NDArray[np.bool_]:
    """Return which periods that start at `ds` (naive UTC) fall on a public holiday, by the local date.

    >>> hours = np.array(["2024-07-04T03", "2024-07-04T04"], "datetime64[us]")
    >>> is_holiday(hours, "America/New_York", "US").tolist()
    [False, True]
    """
    day = (local_seconds(ds, zone) // 86_400).astype("datetime64[D]")
    years = np.unique(day.astype("datetime64[Y]").astype(np.int64) + 1970).tolist()
    return np.isin(day, np.array(holiday_dates(region, years), "datetime64[D]"))
