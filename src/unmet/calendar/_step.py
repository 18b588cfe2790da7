"""The length of a period, from 15 minutes to a week, and what follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS = {"minute": _MINUTE, "hour": _HOUR, "day": _DAY, "week": 7 * _DAY}
_SHORTEST = 15 * _MINUTE


@dataclass(frozen=True)
class Step:
    """The length of a period.

    Attributes
    ----------
    by : its name: "hour", "day", "week", "15 minutes", "2 hours".
    seconds : its length. Where clocks change, a day has 23 or 25 hours.
    per_day : periods of a day; 1 for days and weeks.
    per_week : periods after which the calendar repeats: those of a week; 1 for weeks.
    """

    by: str
    seconds: int

    @property
    def per_day(self) -> int:
        return max(1, _DAY // self.seconds)

    @property
    def per_week(self) -> int:
        return max(1, 7 * _DAY // self.seconds)

    @property
    def per_year(self) -> int:
        return 366 * self.per_day if self.seconds <= _DAY else 53

    @property
    def word(self) -> str:
        """What to call one period in a sentence: hour, day or week; else period."""
        return self.by if self.by in _UNITS else "period"


@cache
def step_of(by: str) -> Step:
    """Return the step of a name such as "hour", "15 minutes" or "week".

    >>> step_of("15 minutes").per_day, step_of("week").per_week, step_of("60 minutes").by
    (96, 1, 'hour')
    """
    found = re.fullmatch(r"\s*(\d+)?\s*(minute|hour|day|week)s?\s*", by.lower())
    if found is None:
        raise ValueError(f"by={by!r} is not a step that demand is fitted by; {_ALLOWED}")
    return step_of_seconds(int(found[1] or 1) * _UNITS[found[2]])


def step_of_seconds(seconds: int) -> Step:
    """Return the step of a length in seconds, or raise ValueError if demand is not fitted by it."""
    name = f"{seconds // _MINUTE} minutes" if seconds % _HOUR else f"{seconds // _HOUR} hours"
    for unit, length in _UNITS.items():
        if seconds == length and unit != "minute":
            name = unit
    whole = seconds in (_DAY, 7 * _DAY) or (_SHORTEST <= seconds < _DAY and _DAY % seconds == 0)
    if not whole or seconds % _MINUTE:
        raise ValueError(
            f"periods of {in_words(seconds)} are not a step that demand is fitted by; {_ALLOWED}"
        )
    return Step(name, seconds)


def in_words(seconds: float) -> str:
    """Return a length of time for people.

    >>> in_words(5400), in_words(172800), in_words(600)
    ('1.5 hours', '2 days', '10 minutes')
    """
    for unit in ("week", "day", "hour", "minute"):
        count = seconds / _UNITS[unit]
        if count == round(count) or (1 <= count < 2 and unit != "week"):
            return f"{count:.3g} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:,.0f} seconds"


_ALLOWED = (
    "use weeks, days, hours, or a step of at least 15 minutes that divides a day: sum rows to one of these"
)
