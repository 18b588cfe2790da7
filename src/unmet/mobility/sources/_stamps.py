"""SQL that parses time stamps in the forms that operators use."""

import re
from datetime import datetime

from unmet.mobility.sources._clock import FIRST_YEAR, LAST_YEAR

# Stamps without a zone. Dates such as 3/4/2019 have the month first, unless the files show otherwise.
PLAIN = (
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y-%m-%d %I:%M:%S %p",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
)
_MONTH_FIRST = (
    "%m/%d/%Y %H:%M:%S.%f",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
)
MONTH_FIRST = (*_MONTH_FIRST, *(form.replace("/", "-") for form in _MONTH_FIRST))
DAY_FIRST = tuple(form.replace("%m/%d", "%d/%m").replace("%m-%d", "%d-%m") for form in MONTH_FIRST)
# Stamps that say they are UTC.
UTC_FORMS = (
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M:%S UTC",
    "%Y-%m-%d %H:%M:%S.%f UTC",
)
_OFFSET = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?([+-]\d\d(:?\d\d)?|Z)"
EARLIEST = f"TIMESTAMP '{FIRST_YEAR}-01-01 00:00:00'"
LATEST = f"TIMESTAMP '{LAST_YEAR}-01-01 00:00:00'"


def _list(forms: tuple[str, ...]) -> str:
    return "[" + ", ".join(f"'{form}'" for form in forms) + "]"


def guess(samples: list[str], day_first: bool = False) -> str | None:
    """Return the form of the first sample that is a stamp without a zone; trying it first is faster."""
    for sample in samples:
        if sample.strip().isdecimal():  # no stamp, and trying all forms is slow
            continue
        for form in PLAIN + (DAY_FIRST if day_first else MONTH_FIRST):
            try:
                datetime.strptime(sample.strip(), form)
            except ValueError:
                continue
            return form
    return None


def is_rounded(samples: list[str]) -> bool:
    """Return whether stamps are on whole minutes."""
    stamps = [text.strip() for text in samples if text.strip()]
    seconds = [found.group(1) for text in stamps if (found := re.search(r":\d\d:(\d\d(?:\.\d+)?)", text))]
    return bool(stamps) and posix_unit(stamps) is None and not any(float(part) for part in seconds)


def years_of(samples: list[str]) -> tuple[int, int]:
    """Return the first and last year in samples of stamps; 2010 and 2030 if there are none."""
    found = [
        int(part) for text in samples for part in re.findall(r"(?<!\d)(?:19[89]|20\d)\d(?!\d)", text[:30])
    ]
    return (min(found), max(found)) if found else (2010, 2030)


def plain_time(text: str, form: str | None, day_first: bool) -> str:
    """Return SQL for a stamp without a zone; NULL if the text is anything else or has more after it."""
    forms = PLAIN + (DAY_FIRST if day_first else MONTH_FIRST)
    quick = f"try_strptime({text}, '{form}'), " if form else ""
    return f"coalesce({quick}try_strptime({text}, {_list(forms)}))"


def absolute_time(text: str) -> str:
    """Return SQL for a stamp with Z, UTC or an offset, as naive UTC; NULL if the text is anything else."""
    return (
        f"coalesce(try_strptime({text}, {_list(UTC_FORMS)}), "
        f"CASE WHEN regexp_full_match({text}, '{_OFFSET}') "
        f"THEN try_cast({text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' END)"
    )


def posix_unit(samples: list[str]) -> str | None:
    """Return ``"s"`` or ``"ms"`` if all samples are POSIX times in seconds or milliseconds, else ``None``."""
    found = {_unit(text.strip()) for text in samples if text.strip()}
    return found.pop() if len(found) == 1 else None


def _unit(text: str) -> str | None:
    if not re.fullmatch(r"\d{9,13}(\.\d+)?", text):
        return None
    number = float(text)
    units = {"s": number, "ms": number / 1000}
    return next((unit for unit, seconds in units.items() if 631152000 <= seconds < 4102444800), None)


def posix_time(text: str, unit: str = "s") -> str:
    """Return SQL for POSIX time as naive UTC; NULL if the text is anything else or out of range."""
    number = f"try_cast({text} AS BIGINT)"
    low, high, factor = (631152000, 4102444799, 1_000_000)
    if unit == "ms":
        low, high, factor = low * 1000, high * 1000 + 999, 1000
    return f"CASE WHEN {number} BETWEEN {low} AND {high} THEN make_timestamp({number} * {factor}) END"


def seconds_of(text: str, unit: int = 1) -> str:
    """Return SQL for a duration in seconds, from a number of `unit` seconds or from h:mm:ss; else NULL.

    A comma before one or two last digits is that of decimals (3,5), any other that of thousands (1,783.0).
    """
    plain = f"replace(regexp_replace({text}, ',([0-9]{{1,2}})$', '.\\1'), ',', '')"
    number = f"try_cast(CASE WHEN contains({text}, ',') THEN {plain} ELSE {text} END AS DOUBLE) * {unit}"
    clock = f"CASE WHEN contains({text}, ':') THEN epoch(try_cast({text} AS INTERVAL)) END"
    return f"coalesce({number}, {clock})"
