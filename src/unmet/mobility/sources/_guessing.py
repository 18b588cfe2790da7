"""Guess what the columns of an unknown file hold, by their content first and by their headers second."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

from unmet.mobility.sources._formats import FIELDS, Kind, data_file
from unmet.mobility.sources._recognition import normalised
from unmet.mobility.sources._stamps import DAY_FIRST, MONTH_FIRST, PLAIN, posix_unit

_DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm])?")
_WORDS = data_file("guessing_words.toml")
_MOST = 0.9  # share of the cells that must agree


@dataclass(frozen=True)
class Column:
    """A column, or a date and a time in two columns: its name, its place among the others, and its cells."""

    name: str
    at: int
    cells: list[str]

    def says(self, *kinds: str) -> bool:
        """Return whether the header has a word of one of these kinds; very short words begin or end it."""
        letters = unicodedata.normalize("NFD", normalised(self.name))
        plain = "".join(one for one in letters if not "\u0300" <= one <= "\u036f")  # without accents
        name = unicodedata.normalize("NFC", plain)
        return any(
            name.startswith(word) or name.endswith(word)
            if len(word) <= 2 and word.isascii()
            else word in name
            for kind in kinds
            for word in _WORDS[kind]
        )

    @property
    def filled(self) -> list[str]:
        return [cell for cell in self.cells if cell]

    def numbers(self) -> list[float | None]:
        """Return the cells as numbers."""
        return [_number(cell) for cell in self.cells]

    def all_match(self, pattern: re.Pattern[str]) -> bool:
        cells = self.filled
        return bool(cells) and sum(bool(pattern.fullmatch(cell)) for cell in cells) >= _MOST * len(cells)


def guess_columns(header: list[str], rows: list[list[str]], kind: Kind) -> dict[str, str]:
    """Return field → column for an unknown file of this kind; empty if not even the needed ones are found."""
    if kind == "stations" or not rows:
        return {}
    counts = {name: header.count(name) for name in header}
    columns = [
        Column(name, at, [row[at].strip() for row in rows])
        for at, name in enumerate(header)
        if counts[name] == 1 and normalised(name)
    ]
    return _guess_trips(columns) if kind == "trips" else _guess_status(columns)


def _number(cell: str) -> float | None:
    try:
        return float(re.sub(r",(?=\d{1,2}$)", ".", cell).replace(",", ""))
    except ValueError:
        return None


def _moments(column: Column) -> list[datetime | None] | None:
    """Return the cells as times; ``None`` if most of them are none."""
    filled = column.filled
    unit = posix_unit(filled)
    if unit is not None:
        scale = 1000 if unit == "ms" else 1
        return [
            datetime.fromtimestamp(float(cell) / scale, UTC).replace(tzinfo=None) if cell else None
            for cell in column.cells
        ]
    for forms in (PLAIN + MONTH_FIRST, PLAIN + DAY_FIRST):
        found = [_moment(cell, forms) for cell in column.cells]
        if filled and sum(one is not None for one in found) >= _MOST * len(filled):
            return found
    return None


def _moment(cell: str, forms: tuple[str, ...]) -> datetime | None:
    try:
        found = datetime.fromisoformat(cell.replace(" UTC", "+00:00"))
        return found.replace(tzinfo=None) if len(cell) > 10 else None
    except ValueError:
        pass
    for form in forms:
        try:
            return datetime.strptime(cell, form)
        except ValueError:
            continue
    return None


def _times(columns: list[Column]) -> list[tuple[Column, list[datetime | None]]]:
    """Return the columns that hold times; a date with a time in the next column counts as one."""
    found = [(column, times) for column in columns if (times := _moments(column)) is not None]
    for date, clock in pairwise(columns):
        if date.all_match(_DATE) and clock.all_match(_CLOCK) and clock.at == date.at + 1:
            both = Column(
                f"{date.name}+{clock.name}",
                date.at,
                [f"{a} {b}".strip() for a, b in zip(date.cells, clock.cells)],
            )
            if (times := _moments(both)) is not None:
                found.append((both, times))
    return sorted(found, key=lambda pair: pair[0].at)


def _guess_trips(columns: list[Column]) -> dict[str, str]:
    times = _times(columns)
    if not times:
        return {}
    (start, starts), *others = _start_and_end(times)
    guessed = {"start": start.name}
    taken = {start.at, start.at + start.name.count("+")}
    durations: list[float | None] = [None] * len(starts)
    end = None
    if others:
        end, ends = others[0]
        guessed["end"] = end.name
        durations = [(b - a).total_seconds() if a and b else None for a, b in zip(starts, ends)]
        taken |= {end.at, end.at + end.name.count("+")}
    taken |= {column.at for column, _ in times}
    rest = [column for column in columns if column.at not in taken]
    guessed |= _duration(rest, durations, end is None)
    rest = [column for column in rest if column.name not in guessed.values()]
    guessed |= _positions(rest, start, end)
    rest = [column for column in rest if column.name not in guessed.values() and not column.says("distance")]
    guessed |= _vehicle(rest, starts, durations)
    rest = [column for column in rest if column.name not in guessed.values()]
    guessed |= _places(rest, start, end)
    rest = [column for column in rest if column.name not in guessed.values()]
    guessed |= _ride(rest)
    return {field: guessed[field] for field in FIELDS["trips"] if field in guessed}


def _start_and_end(
    times: list[tuple[Column, list[datetime | None]]],
) -> list[tuple[Column, list[datetime | None]]]:
    """Return the start, and the end if there is one: what headers say, unless most rides would end first."""
    if len(times) == 1:
        return times
    named = [pair for pair in times if pair[0].says("start", "end")]
    one, other = (named if len(named) >= 2 else times)[:2]
    if _is_end(one[0]) and not _is_end(other[0]):
        one, other = other, one
    pairs = [(a, b) for a, b in zip(one[1], other[1]) if a and b and a != b]
    if pairs and sum(a > b for a, b in pairs) > len(pairs) / 2:
        one, other = other, one
    return [one, other]


def _is_end(column: Column) -> bool:
    return column.says("end") and not column.says("start")


def _sides(pair: list[Column], start: Column, end: Column | None) -> tuple[Column, Column]:
    """Return two columns as that of the start and that of the end: by header, else by the nearer time."""
    one, other = pair
    if _is_end(one) != _is_end(other):
        return (other, one) if _is_end(one) else (one, other)
    starting = [column.says("start") for column in pair]
    if starting[0] != starting[1]:
        return (one, other) if starting[0] else (other, one)
    if end is not None and end.at < start.at and one.at < start.at < other.at:
        return other, one
    return one, other


def _duration(columns: list[Column], durations: list[float | None], no_end: bool) -> dict[str, str]:
    """Return the column of durations: the one that fits the times, or whose header says so."""
    best: list[tuple[bool, float, str, str]] = []
    for column in columns:
        if column.says("distance", "person"):
            continue
        if column.all_match(re.compile(r"\d+:\d\d:\d\d(\.\d+)?")):
            best.append((not column.says("duration"), 0.0, "seconds", column.name))
            continue
        numbers = column.numbers()
        named = column.says("duration")
        for field, unit in (("seconds", 1), ("minutes", 60)):
            if no_end and named and field == ("minutes" if column.says("minutes") else "seconds"):
                best.append((False, 0.0, field, column.name))
            off = [
                abs(n * unit - d)
                for n, d in zip(numbers, durations)
                if n is not None and d is not None and n > 0
            ]
            if len(off) < 0.5 * len(column.cells) or not off:
                continue
            if median(off) <= 61 or (named and median(off) <= 3600):
                best.append((not named, median(off), field, column.name))
    if not best:
        return {}
    _, _, field, name = min(best)
    return {field: name}


def _positions(columns: list[Column], start: Column, end: Column | None) -> dict[str, str]:
    """Return the columns of coordinates."""
    degrees = []
    for column in columns:
        numbers = [number for number in column.numbers() if number is not None]
        fine = sum(bool(re.fullmatch(r"-?\d{1,3}\.\d{2,}", cell)) for cell in column.filled)
        numeric = len(numbers) >= _MOST * len(column.filled) and fine >= 0.8 * len(column.filled)
        if numbers and numeric and all(abs(number) <= 180 for number in numbers):
            degrees.append((column, median(numbers)))
    groups: list[list[tuple[Column, float]]] = []
    for column, middle in degrees:
        near = next((group for group in groups if abs(group[0][1] - middle) < 2), None)
        groups.append([(column, middle)]) if near is None else near.append((column, middle))
    groups = [group for group in groups if len(group) in (1, 2)]
    if len(groups) != 2 or len(groups[0]) != len(groups[1]):
        return {}
    lat, lng = groups
    if any(abs(middle) > 90 for _, middle in lat) or lat[0][0].says("lng"):
        lat, lng = lng, lat
    if len(lat) == 1:
        return {"start_lat": lat[0][0].name, "start_lng": lng[0][0].name}
    lats = _sides([column for column, _ in lat], start, end)
    lngs = _sides([column for column, _ in lng], start, end)
    return {
        "start_lat": lats[0].name,
        "start_lng": lngs[0].name,
        "end_lat": lats[1].name,
        "end_lng": lngs[1].name,
    }


def _vehicle(
    columns: list[Column], starts: list[datetime | None], durations: list[float | None]
) -> dict[str, str]:
    """Return the column of vehicles: no vehicle makes two rides at once."""
    for column in sorted(columns, key=lambda one: len(set(one.cells)), reverse=True):
        if not column.says("vehicle") or column.says("station", "person"):
            continue
        rides: dict[str, list[tuple[datetime, float]]] = {}
        for cell, at, seconds in zip(column.cells, starts, durations):
            if cell and at:
                rides.setdefault(cell, []).append((at, seconds or 0.0))
        if len(rides) < min(4, len(column.cells)) or not rides:
            continue
        clashes = total = 0
        for found in rides.values():
            found.sort()
            for (a, seconds), (b, _) in pairwise(found):
                total += 1
                clashes += (b - a).total_seconds() < seconds
        if clashes <= 0.2 * total:
            return {"vehicle": column.name}
    return {}


def _places(columns: list[Column], start: Column, end: Column | None) -> dict[str, str]:
    """Return the columns of stations: two with common values are the ids, or the names, of start and end."""
    pairs: list[tuple[float, Column, Column]] = []
    for index, one in enumerate(columns):
        for other in columns[index + 1 :]:
            if one.says("person") or other.says("person"):
                continue
            named = one.says("station") + other.says("station")
            named += _is_end(one) != _is_end(other)
            a, b = set(one.filled), set(other.filled)
            common = len(a & b) / max(1, min(len(a), len(b)))
            if (len(a) > 1 or len(b) > 1) and (common > 0.3 or (named == 3 and common > 0)):
                pairs.append((named + common + min(len(a), len(b)) / 1000, one, other))
    pairs.sort(key=lambda pair: -pair[0])
    chosen: list[tuple[Column, Column]] = []
    for _, one, other in pairs:
        if not any(column in both for both in chosen for column in (one, other)) and len(chosen) < 2:
            chosen.append(_sides([one, other], start, end))
    if (
        len(chosen) == 2
        and not _determines(chosen[0][0], chosen[1][0])
        and not _determines(chosen[1][0], chosen[0][0])
    ):
        chosen = chosen[:1]
    if not chosen:
        single = [column for column in columns if column.says("station")]
        return {"start_place": single[0].name} if single else {}
    if len(chosen) == 1:
        return {"start_place": chosen[0][0].name, "end_place": chosen[0][1].name}
    chosen.sort(key=lambda pair: (_is_name(pair[0]), sum(map(len, pair[0].cells))))
    return {
        "start_place": chosen[0][0].name,
        "start_name": chosen[1][0].name,
        "end_place": chosen[0][1].name,
        "end_name": chosen[1][1].name,
    }


def _determines(ids: Column, names: Column) -> bool:
    """Return whether each value of one column goes with one value of the other."""
    found: dict[str, set[str]] = {}
    for key, value in zip(ids.cells, names.cells):
        found.setdefault(key, set()).add(value)
    return sum(len(values) == 1 for values in found.values()) >= _MOST * len(found)


def _is_name(column: Column) -> bool:
    return column.says("name") or sum(" " in cell for cell in column.filled) > len(column.filled) / 2


def _ride(columns: list[Column]) -> dict[str, str]:
    """Return the column of ride ids: no value twice."""
    for column in columns:
        cells = column.filled
        unique = len(cells) == len(column.cells) == len(set(cells)) and len(cells) > 1
        if unique and column.says("ride") and not column.all_match(re.compile(r"-?\d+\.\d+")):
            return {"ride": column.name}
    return {}


def _guess_status(columns: list[Column]) -> dict[str, str]:
    times = _times(columns)
    if not times:
        return {}
    at = times[-1][0] if len(times) == 1 else max(times, key=lambda pair: pair[0].says("time"))[0]
    rest = [column for column in columns if column.at not in {at.at, at.at + at.name.count("+")}]
    whole = re.compile(r"\d{1,7}(\.0)?")
    counts = [column for column in rest if column.all_match(whole)]
    total = _total(counts)
    # A place has many records, and no two at the same time.
    places = [
        column
        for column in rest
        if len(set(column.cells)) > 1 and len({*zip(column.cells, at.cells)}) == len({*enumerate(at.cells)})
    ]
    places = [column for column in places if column not in total[1:]]
    place = _first(places, lambda column: column.says("station")) or _first(
        places, lambda column: not _is_name(column)
    )
    if place is None:
        return {}
    counts = [column for column in counts if column != place]
    parts = [column for column in (total[1:] or counts) if column != place]
    docks = _first(parts, lambda column: column.says("docks") and not column.says("rented"))
    bikes = _first(parts, lambda column: column != docks and column.says("available")) or _first(
        parts, lambda column: column != docks and not column.says("total")
    )
    if bikes is None:
        return {}
    guessed = {"place": place.name, "at": at.name, "available": bikes.name}
    return guessed | ({"docks": docks.name} if docks else {})


def _first(columns: list[Column], fits: Callable[[Column], bool]) -> Column | None:
    return next((column for column in columns if fits(column)), None)


def _total(counts: list[Column]) -> list[Column]:
    """Return three columns of which the first is the sum of the others; empty if there are none."""
    for whole in counts:
        for index, one in enumerate(counts):
            for other in counts[index + 1 :]:
                if whole in (one, other):
                    continue
                cells = list(zip(whole.numbers(), one.numbers(), other.numbers()))
                fits = [a == b + c for a, b, c in cells if a is not None and b is not None and c is not None]
                if fits and sum(fits) >= _MOST * len(fits):
                    return [whole, one, other]
    return []
