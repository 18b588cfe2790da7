"""Public holidays of countries and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date


def holiday_dates(region: str, years: Sequence[int]) -> list[date]:
    """Return the public holidays of a country (``"DK"``) or one of its parts (``"US-NJ"``)."""
    import holidays

    country, _, part = region.partition("-")
    try:
        found = holidays.country_holidays(country, subdiv=part or None, years=list(years))
    except NotImplementedError:
        raise ValueError(
            f"holidays={region!r} is not a known country or part; write for instance 'US-NJ'"
        ) from None
    return sorted(found)
