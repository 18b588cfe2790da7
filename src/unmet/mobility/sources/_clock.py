"""Convert local times to UTC, including the hour that occurs twice when clocks go back."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from unmet.calendar import check_zone

FIRST_YEAR, LAST_YEAR = 1990, 2100


@dataclass(frozen=True)
class Span:
    """Local times in [from_, until_) are `offset` ahead of UTC.

    Times that occur twice have the offset before the change.
    """

    from_: datetime
    until_: datetime
    offset: timedelta


@dataclass(frozen=True)
class Doubled:
    """Local times in [from_, until_) occur twice, the second time `shift` later."""

    from_: datetime
    until_: datetime
    shift: timedelta


# A ride that starts or ends in a doubled hour: line, local start and end, duration in seconds if known.
Doubtful = tuple[int, datetime, datetime | None, float | None]


def check_times(zone: str | None, times: str) -> None:
    """Raise ValueError if `zone` or `times` is not valid."""
    if times not in ("local", "utc"):
        raise ValueError(f"times must be 'local' or 'utc', got {times!r}")
    if zone is not None:
        check_zone(zone)


@lru_cache(maxsize=16)
def transitions(zone: str) -> tuple[tuple[datetime, timedelta, timedelta], ...]:
    """Return the changes of a zone's offset: (time in UTC, offset before, offset after)."""
    info = ZoneInfo(zone)

    def offset(moment: datetime) -> timedelta:
        shift = moment.replace(tzinfo=UTC).astimezone(info).utcoffset()
        assert shift is not None
        return shift

    found = []
    step = timedelta(days=7)  # no zone changes twice within a week
    low, end = datetime(FIRST_YEAR - 1, 12, 25), datetime(LAST_YEAR, 1, 10)
    before = offset(low)
    while low < end:
        high = low + step
        after = offset(high)
        if after != before:
            left, right = low, high
            while right - left > timedelta(seconds=1):
                middle = left + timedelta(seconds=int((right - left).total_seconds()) // 2)
                left, right = (middle, right) if offset(middle) == before else (left, middle)
            found.append((right, before, after))
        low, before = high, after
    return tuple(found)


@lru_cache(maxsize=16)
def spans(zone: str) -> tuple[tuple[Span, ...], tuple[Doubled, ...]]:
    """Return the spans of local time with a constant offset, and the spans that occur twice.

    A local time that is skipped in spring gets the offset before the change, as with ``fold=0``.
    """
    edges = transitions(zone)
    result, doubled = [], []
    start = datetime(FIRST_YEAR - 1, 12, 1)
    current = edges[0][1] if edges else ZoneInfo(zone).utcoffset(datetime(2000, 1, 1)) or timedelta(0)
    for moment, before, after in edges:
        # The old offset holds until the later of the two clock readings at the change.
        until = moment + max(before, after)
        result.append(Span(start, until, before))
        if after < before:
            doubled.append(Doubled(moment + after, moment + before, before - after))
        start, current = until, after
    result.append(Span(start, datetime(LAST_YEAR, 2, 1), current))
    return tuple(result), tuple(doubled)


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"


def to_utc(local: str, zone: str, years: tuple[int, int]) -> str:
    """Return SQL that converts local times to UTC: fast comparisons for `years`, DuckDB's zones otherwise."""
    low, high = years
    near = [s for s in spans(zone)[0] if s.until_.year >= low - 1 and s.from_.year <= high + 1]
    near.sort(key=lambda span: not low <= span.from_.year <= high)  # compare with the likeliest spans first
    when = " ".join(
        f"WHEN {local} >= {_literal(s.from_)} AND {local} < {_literal(s.until_)} "
        f"THEN make_timestamp(epoch_us({local}) - {int(s.offset.total_seconds()) * 1_000_000})"
        for s in near
    )
    return f"CASE {when} ELSE ({local} AT TIME ZONE '{zone}') AT TIME ZONE 'UTC' END"


def is_doubled(local: str, zone: str, years: tuple[int, int]) -> str:
    """Return an SQL condition: a local time in or next to `years` occurs twice."""
    near = [span for span in spans(zone)[1] if years[0] - 1 <= span.from_.year <= years[1] + 1]
    parts = [f"({local} >= {_literal(s.from_)} AND {local} < {_literal(s.until_)})" for s in near]
    return "(" + (" OR ".join(parts) or "false") + ")"


def doubled_in_utc(column: str, zone: str, years: tuple[int, int]) -> str:
    """Return an SQL condition: a UTC time is the first occurrence of a local time that occurs twice."""
    info = ZoneInfo(zone)

    def utc(local: datetime) -> str:
        return _literal(local.replace(tzinfo=info).astimezone(UTC))

    near = [span for span in spans(zone)[1] if years[0] - 1 <= span.from_.year <= years[1] + 1]
    tick = timedelta(microseconds=1)  # the end of the hour already has the new offset
    parts = [f"{column} BETWEEN {utc(s.from_)} AND {utc(s.until_ - tick)}" for s in near]
    return "(" + (" OR ".join(parts) or "false") + ")"


def shift_of(local: datetime, zone: str) -> timedelta | None:
    """Return how much later a local time occurs again; ``None`` if it occurs only once."""
    for span in spans(zone)[1]:
        if span.from_ <= local < span.until_:
            return span.shift
    return None


def resolve(rows: list[Doubtful], zone: str) -> dict[int, tuple[timedelta, timedelta]]:
    """Decide which occurrence of a doubled hour the rides of one file refer to.

    Parameters
    ----------
    rows : ordered by line.

    Returns
    -------
    Line → time to add to start and end, if both were read as the first occurrence.

    Notes
    -----
    1. If the duration is known, take the start and end that fit it best. Otherwise take the first pair
       that does not end before it starts.
    2. If several pairs fit equally well, use the order of lines: if start times jump back exactly once, by
       more than half the hour, the lines from there on belong to the second occurrence.
    3. Otherwise assume the first occurrence.
    """
    zero = timedelta(0)
    switch = _switches(rows, zone)
    result = {}
    for line, start, end, seconds in rows:
        start_shift = shift_of(start, zone)
        end_shift = shift_of(end, zone) if end is not None else None
        late = start_shift is not None and line >= switch.get(start.date().isoformat(), line + 1)
        if end is None:
            if late and start_shift:
                result[line] = (start_shift, zero)
            continue
        pairs = [
            (a, b)
            for a in (
                [start_shift, zero]
                if late and start_shift
                else [zero, *([start_shift] if start_shift else [])]
            )
            for b in [zero, *([end_shift] if end_shift else [])]
        ]
        # Duration if start and end are both the first occurrence.
        base = (end - start) + _clock_change(start, end, zone)
        possible = [(a, b) for a, b in pairs if base + b - a >= zero] or pairs
        if seconds is not None:
            possible.sort(
                key=lambda pair: round(abs((base + pair[1] - pair[0]).total_seconds() - seconds), -2)
            )
        best = possible[0]
        if best != (zero, zero):
            result[line] = best
    return result


def _clock_change(start: datetime, end: datetime, zone: str) -> timedelta:
    def offset(local: datetime) -> timedelta:
        for span in spans(zone)[0]:
            if span.from_ <= local < span.until_:
                return span.offset
        return timedelta(0)

    return offset(start) - offset(end)


def _switches(rows: list[Doubtful], zone: str) -> dict[str, int]:
    """Return the line at which start times jump back, for each date on which they do so exactly once."""
    drops: dict[str, list[int]] = {}
    last: dict[str, datetime] = {}
    for line, start, _, _ in rows:
        shift = shift_of(start, zone)
        if shift is None:
            continue
        day = start.date().isoformat()
        if day in last and last[day] - start > shift / 2:
            drops.setdefault(day, []).append(line)
        last[day] = start
    return {day: lines[0] for day, lines in drops.items() if len(lines) == 1}
