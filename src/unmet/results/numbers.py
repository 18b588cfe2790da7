"""Numbers as people read them: thousands apart, no more digits than are known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from math import floor, isfinite, log10
from typing import Any

from unmet import calendar
from unmet.results._values import Interval

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = tuple(name[:3] for name in calendar.WEEKDAYS)
UNKNOWN = "not identified"


def known(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def number(value: Any, digits: int | None = None) -> str:
    """Return a count or a rate as text.

    Examples
    --------
    >>> number(12345.6), number(3.14159), number(0.0412), number(float("inf")), number(None)
    ('12,346', '3.1', '0.04', 'not identified', '–')
    """
    if value is None or value == "" or (isinstance(value, float) and value != value):
        return "–"
    if not known(value):
        return UNKNOWN if value in (float("inf"), float("-inf")) else str(value)
    if digits is None:
        size = abs(value)
        digits = 0 if size >= 100 or value == int(value) else 1 if size >= 1 else 2
    text = f"{value:,.{digits}f}"
    if text.strip("-0.,") == "":  # nothing is left of it: no sign before a zero
        return "0" if value == 0 else text.lstrip("-")
    return text.replace("-", "−")


def counted(value: Any, noun: str) -> str:
    """Return a number with its noun, in the plural unless it reads 1.

    Examples
    --------
    >>> counted(1, "vehicle"), counted(1200, "vehicle"), counted(0, "place")
    ('1 vehicle', '1,200 vehicles', '0 places')
    """
    text = number(value)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


def percent(share: Any, digits: int = 1) -> str:
    """Return a share as a percentage; ``–`` where there is none."""
    return f"{100 * share:.{digits}f}%".replace("-", "−") if known(share) else "–"


def between(value: Interval) -> str:
    """Return a 90% interval, both ends with the digits that its width supports; one end if that is all.

    Examples
    --------
    >>> between(Interval(5, 3, 9)), between(Interval(5, 3, float("inf")))
    ('3–9', '3 or more')
    >>> between(Interval(560.0, 500.2, 631.0))
    '500–630'
    """
    width = width_of(value)
    low, high = (
        number(end, 0) if 2 <= width < 10 else rounded(end, width) for end in (value.low, value.high)
    )
    return f"{low}–{high}" if value.identified else f"{low} or more"


def about(value: Interval) -> str:
    """Return the mean of an interval with the digits that its width supports.

    Examples
    --------
    >>> about(Interval(795.3, 731.0, 862.0)), about(Interval(0.0, 0.0, 0.0))
    ('800', '0')
    >>> about(Interval(12.0, 12.0, float("inf"), point=False))
    '12 or more'
    """
    if not value.point:
        return between(value)
    return rounded(value.mean, width_of(value))


def about_whole(value: Interval) -> str:
    """Return the mean of an interval of counts for a sentence: no tenths.

    Examples
    --------
    >>> about_whole(Interval(6.7, 3.0, 11.0)), about_whole(Interval(795.3, 731.0, 862.0))
    ('7', '800')
    """
    if not value.point:
        return between(value)
    width = width_of(value)
    return rounded(round(value.mean) if width < 10 else value.mean, width)


def width_of(value: Interval) -> float:
    """Return the width of a 90% interval; twice the lower part where no upper bound is identified."""
    return value.high - value.low if value.identified else 2 * max(0.0, value.mean - value.low)


def rounded(value: Any, width: float) -> str:
    """Return an estimate without the digits that an interval of this width does not support.

    Examples
    --------
    >>> rounded(795.3, 131.0), rounded(1234.0, 95.0), rounded(45.31, 20.0), rounded(3.14, 4.0)
    ('800', '1,234', '45', '3.1')
    """
    if not known(value) or not isfinite(width) or width < 10:
        return number(value)
    unit = 10 ** floor(log10(width / 10))
    return number(unit * round(value / unit), 0)


def listed(parts: Sequence[str]) -> str:
    """Join words with commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)


def day(text: str, year: bool = True) -> str:
    """Return a date in words.

    Examples
    --------
    >>> day("2024-03-04"), day("2024-03-04", year=False)
    ('4 Mar 2024', 'Mon 4 Mar')
    """
    found = date.fromisoformat(text[:10])
    if year:
        return f"{found.day} {MONTHS[found.month - 1]} {found.year}"
    return f"{WEEKDAYS[found.weekday()]} {found.day} {MONTHS[found.month - 1]}"


def moment(seconds: int, hours: bool = True) -> str:
    """Return a moment of the local clock, given as if it were POSIX seconds."""
    found = datetime.fromtimestamp(seconds, tz=UTC)
    text = f"{WEEKDAYS[found.weekday()]} {found.day} {MONTHS[found.month - 1]}"
    return f"{text} {found:%H:%M}" if hours else text


def one_in(share: float) -> str:
    """Return a share in words.

    Examples
    --------
    >>> one_in(0.1), one_in(0.6), one_in(0.0001), one_in(0.0)
    ('about one in 10', '60% of all', 'less than one in 1,000', 'none')
    """
    if share <= 0:
        return "none"
    if share < 0.001:
        return "less than one in 1,000"
    if share > 0.4:
        return f"{100 * share:.0f}% of all"
    return f"about one in {round(1 / share):,}"
