"""Local clock times to UTC: the offsets of a zone, and the hour that occurs twice."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

FIRST_YEAR, LAST_YEAR = 1990, 2100


@dataclass(frozen=True)
class Span:
    """Local times in [from_, until_) are ``offset`` ahead of UTC; doubled ones count as before the change."""

    from_: datetime
    until_: datetime
    offset: timedelta


@dataclass(frozen=True)
class Doubled:
    """Local times in [from_, until_) occur twice; the second time is ``shift`` later in UTC."""

    from_: datetime
    until_: datetime
    shift: timedelta


# A ride that touches a doubled hour: line, local start and end, seconds ridden where the file says so.
Doubtful = tuple[int, datetime, datetime | None, float | None]


def check_zone(zone: str | None, times: str) -> None:
    """Refuse an unknown zone or an unknown kind of stamp."""
    if times not in ("local", "utc"):
        raise ValueError(f"times must be 'local' or 'utc', got {times!r}")
    if zone is not None:
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, TypeError, KeyError):
            raise ValueError(f"zone must be a name such as 'America/New_York', got {zone!r}") from None


@lru_cache(maxsize=16)
def transitions(zone: str) -> tuple[tuple[datetime, timedelta, timedelta], ...]:
    """Changes of a zone's offset as (UTC moment, offset before, offset after), to the second."""
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
    """Every stretch of local time with one offset, and the stretches that occur twice.

    A local time that a spring change skips is read with the offset before the change, as ``fold=0`` does.
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
    """SQL that turns local times into UTC: plain comparisons for ``years``, DuckDB's zones for any other."""
    low, high = years
    near = [s for s in spans(zone)[0] if s.until_.year >= low - 1 and s.from_.year <= high + 1]
    near.sort(key=lambda span: not low <= span.from_.year <= high)  # likely ones are compared first
    when = " ".join(
        f"WHEN {local} >= {_literal(s.from_)} AND {local} < {_literal(s.until_)} "
        f"THEN make_timestamp(epoch_us({local}) - {int(s.offset.total_seconds()) * 1_000_000})"
        for s in near
    )
    return f"CASE {when} ELSE ({local} AT TIME ZONE '{zone}') AT TIME ZONE 'UTC' END"


def is_doubled(local: str, zone: str, years: tuple[int, int]) -> str:
    """SQL condition: the local time lies near ``years`` and occurs twice."""
    near = [span for span in spans(zone)[1] if years[0] - 1 <= span.from_.year <= years[1] + 1]
    parts = [f"({local} >= {_literal(s.from_)} AND {local} < {_literal(s.until_)})" for s in near]
    return "(" + (" OR ".join(parts) or "false") + ")"


def doubled_in_utc(column: str, zone: str, years: tuple[int, int]) -> str:
    """Return an SQL condition: a UTC time is the first occurrence of a local time that occurs twice."""
    info = ZoneInfo(zone)

    def utc(local: datetime) -> str:
        return _literal(local.replace(tzinfo=info).astimezone(UTC))

    near = [span for span in spans(zone)[1] if years[0] - 1 <= span.from_.year <= years[1] + 1]
    tick = timedelta(microseconds=1)  # at the end of the hour itself the new offset holds
    parts = [f"{column} BETWEEN {utc(s.from_)} AND {utc(s.until_ - tick)}" for s in near]
    return "(" + (" OR ".join(parts) or "false") + ")"


def shift_of(local: datetime, zone: str) -> timedelta | None:
    """How much later the second occurrence of a local time is; ``None`` where it occurs once."""
    for span in spans(zone)[1]:
        if span.from_ <= local < span.until_:
            return span.shift
    return None


def resolve(rows: list[Doubtful], zone: str) -> dict[int, tuple[timedelta, timedelta]]:
    """Decide for rides of one file that touch a doubled hour which occurrence is meant.

    Parameters
    ----------
    rows : ordered by line.

    Returns
    -------
    Line → what to add to start and end, over reading both as the first occurrence.

    Notes
    -----
    1. Where start and end can each be either, the pair whose length fits the seconds ridden is taken;
       without them the first pair that does not end before it starts.
    2. Where both pairs have the same length, the order of lines decides: if the starts in that hour fall
       back exactly once by more than half the hour, the lines from there on are the second occurrence.
    3. Otherwise the first occurrence.
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
        # What the clock would show if start and end were both read as the first occurrence.
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
    """Per date the line at which starts fall back, where they do so exactly once."""
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
