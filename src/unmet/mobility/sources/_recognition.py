"""Recognise the layout of a file from its header."""

import csv
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from unmet.mobility.sources._formats import ALIASES, FIELDS, FORMATS, NEEDED, Format, Kind

DELIMITERS = (",", ";", "\t", "|")
OWN = "your columns"  # name of the layout given with `columns=` or `status_columns=`
# Pairs of fields that may come from the same column.
_MAY_SHARE = ({"start_place", "start_name"}, {"end_place", "end_name"})


class NotRecognised(ValueError):
    """A file has no known layout, or does not hold what was asked for.

    Attributes
    ----------
    problem : the message without what to do about it.
    remedy : arguments that would make the readers accept the file, as far as they can be guessed.
    """

    def __init__(self, problem: str, remedy: Mapping[str, dict[str, str]] | None = None) -> None:
        self.problem, self.remedy = problem, dict(remedy or {})
        known = "; ".join(f"{argument}={columns!r}" for argument, columns in self.remedy.items())
        super().__init__(f"{problem}; read it with {known}" if known else problem)


@dataclass(frozen=True)
class Layout:
    """Where the columns of each field are in a file with this header."""

    format: Format
    header: tuple[str, ...]
    positions: dict[str, tuple[int, ...]]

    @property
    def kind(self) -> Kind:
        return self.format.kind

    def column(self, name: str) -> int | None:
        """Return the position of a column; ``None`` if there is no such column."""
        names = [normalised(text) for text in self.header]
        return names.index(normalised(name)) if normalised(name) in names else None


# Headers that say minutes; and cells that no header has: dates and large numbers.
_IN_MINUTES = re.compile(r"(?i)(\b|_)min(s|utes?|uten|utos)?(\b|_)|분|分")
_RECORD = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{9,}(\.\d+)?$")


def normalised(text: str) -> str:
    """Return a header in lower case without spaces and punctuation, such as ``"startstationid"``.

    Letters and digits of every script stay.
    """
    whole = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter for letter in whole if unicodedata.category(letter)[0] in "LNM")


def split_header(line: str, delimiter: str) -> list[str]:
    """Return the cells of a header line; if it is not valid CSV, roughly, to show in a message."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return [cell.strip() for cell in line.split(delimiter)]


def parse_header(line: str) -> tuple[str, list[str]]:
    """Return the delimiter that splits the line into the most cells, and these cells."""
    line = line.lstrip("\ufeff").rstrip("\r\n")
    return max(((mark, split_header(line, mark)) for mark in DELIMITERS), key=lambda pair: len(pair[1]))


def _positions(spec: str, names: list[str]) -> tuple[int, ...]:
    for choice in spec.split("|"):
        parts = choice.split("+")
        if all(part in names for part in parts):
            return tuple(names.index(part) for part in parts)
    return ()


def match(format: Format, header: list[str]) -> Layout | None:
    """Return the layout of a header in this format; ``None`` if a required column is missing."""
    names = [normalised(cell) for cell in header]
    found = {name: _positions(spec, names) for name, spec in format.columns.items()}
    found = {name: where for name, where in found.items() if where}
    if not all(name in found for name in format.needs) or not all(mark in names for mark in format.marks):
        return None
    return Layout(format, tuple(header), found)


def recognise(
    header: list[str], columns: dict[str, str] | None = None, kind: Kind = "trips"
) -> Layout | None:
    """Return the layout with the most matching columns; prefer the caller's `columns`."""
    if columns:
        found = {name: own_positions(spec, header) for name, spec in columns.items()}
        if all(found.values()):
            return Layout(Format(OWN, kind, columns, tuple(columns)), tuple(header), found)
    layouts = [layout for format in FORMATS if (layout := match(format, header)) is not None]
    return max(layouts, key=lambda layout: len(layout.positions), default=None)


def own_positions(spec: str, header: list[str]) -> tuple[int, ...]:
    """Return where a column named by the caller is: as written first, else ignoring case and punctuation.

    Only a text that is no column itself is split: ``a|b`` is the first of several, ``a+b`` several joined.
    """
    names = [normalised(cell) for cell in header]
    for choice in (spec, *spec.split("|")):
        for parts in ([choice], choice.split("+")):
            found = [_position(part.strip(), header, names) for part in parts]
            if all(where is not None for where in found):
                return tuple(where for where in found if where is not None)
    return ()


def _position(name: str, header: list[str], names: list[str]) -> int | None:
    if header.count(name) > 1:
        raise NotRecognised(f"the column {name!r} occurs {header.count(name)} times; rename all but one")
    if name in header:
        return header.index(name)
    plain = normalised(name)
    return names.index(plain) if plain and plain in names else None


def check_columns(
    columns: Mapping[str, str] | None, kind: Kind = "trips", argument: str = "columns"
) -> dict[str, str] | None:
    """Check the argument `columns` or `status_columns` and return it with canonical field names."""
    if columns is None:
        return None
    mapping: dict[str, str] = {}
    for key, value in dict(columns).items():
        field = ALIASES[kind].get(key, key)
        if key == "duration" and isinstance(value, str) and _IN_MINUTES.search(value):
            field = "minutes"
        if field not in FIELDS[kind]:
            near = get_close_matches(key, [*FIELDS[kind], *ALIASES[kind]], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            known = ", ".join([*FIELDS[kind], *ALIASES[kind]])
            raise ValueError(f"{argument} has unknown field {key!r}{hint}; use any of {known}")
        if field in mapping:
            raise ValueError(f"{argument} names field {field!r} twice ({key!r} is the same); keep one")
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{argument} must give the name of a column for each field, got {value!r}")
        for other, column in mapping.items():
            if column == value and {field, other} not in _MAY_SHARE:
                raise ValueError(
                    f"{argument} gives column {value!r} to both {other!r} and {field!r}; keep one"
                )
        mapping[field] = value
    missing = [field for field in NEEDED[kind] if field not in mapping]
    if missing:
        raise ValueError(
            f"{argument} must name the column of field {missing[0]!r}, "
            f"for instance {argument}={{{missing[0]!r}: 'Departure'}}"
        )
    if "seconds" in mapping and "minutes" in mapping:
        raise ValueError(f"{argument} has 'seconds' and 'minutes'; keep the one that fits the file")
    return mapping


def missing_column(name: str, columns: Mapping[str, str], header: list[str]) -> str:
    """Return a message about the first of the caller's columns that a file does not have."""
    absent = next(spec for spec in columns.values() if not own_positions(spec, header))
    parts = absent.split("|")[0].split("+")
    column = next((part.strip() for part in parts if not own_positions(part, header)), absent)
    near = get_close_matches(normalised(column), [normalised(cell) for cell in header], n=1, cutoff=0.5)
    same = [cell for cell in header if near and normalised(cell) == near[0]]
    hint = f"; did you mean {same[0]!r}?" if same else "."
    return f"{name} has no column {column!r}{hint} Its columns are {shown_columns(header)}"


def shown_columns(header: list[str], most: int = 30) -> str:
    """Return the columns of a file for a message, as readable text."""
    cells = [f"'{readable(cell, 40)}'" for cell in header[:most]]
    return (", ".join(cells) or "nothing") + (f" and {len(header) - most} more" if len(header) > most else "")


def readable(text: str, most: int = 60) -> str:
    """Return text from a file as it can be shown in one line; what cannot be printed becomes a dot."""
    return "".join(letter if letter.isprintable() else "·" for letter in text)[:most]


def unknown_layout(name: str, header: list[str], kind: Kind, guessed: Mapping[str, str]) -> NotRecognised:
    """Return the error about a file without a known layout, with the columns to name as far as guessed."""
    wanted = {"trips": "trip", "status": "status", "stations": "station"}[kind]
    words = f"{name} is not a known {wanted} file (`unmet formats` lists them); its columns are "
    words += shown_columns(header)
    if any(_RECORD.match(cell) for cell in header):
        return NotRecognised(f"{words}. That is a record: put a line with the names of the columns before it")
    argument = {"trips": "columns", "status": "status_columns"}.get(kind)
    if argument is None:
        return NotRecognised(f"{words}; name them station_id, name, lat, lon and capacity")
    if not guessed:
        needed = ", ".join(repr(field) for field in NEEDED[kind])
        return NotRecognised(
            f"{words}. If it holds {kind}, name its columns with {argument}= (at least {needed})"
        )
    return NotRecognised(words, {argument: dict(guessed)})
