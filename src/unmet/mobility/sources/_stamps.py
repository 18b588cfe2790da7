"""SQL that parses time stamps in the forms that operators use."""

import re
from datetime import datetime

from unmet.mobility.sources._clock import FIRST_YEAR, LAST_YEAR

# Stamps without a zone. Dates with slashes have the month first, unless the file shows otherwise.
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
)
MONTH_FIRST = (
    "%m/%d/%Y %H:%M:%S.%f",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
)
DAY_FIRST = tuple(form.replace("%m/%d", "%d/%m") for form in MONTH_FIRST)
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
        for form in PLAIN + (DAY_FIRST if day_first else MONTH_FIRST):
            try:
                datetime.strptime(sample.strip(), form)
            except ValueError:
                continue
            return form
    return None


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


def is_posix(number: str) -> str:
    """Return an SQL condition: a number of seconds since 1970 lies within the accepted years."""
    return f"{number} BETWEEN 631152000 AND 4102444799"


def posix_time(text: str) -> str:
    """Return SQL for POSIX seconds as naive UTC; NULL if the text is anything else or out of range."""
    number = f"try_cast({text} AS BIGINT)"
    return f"CASE WHEN {is_posix(number)} THEN make_timestamp({number} * 1000000) END"
