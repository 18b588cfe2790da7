"""Recognise the layout of a file from its header."""

import csv
import re
from dataclasses import dataclass

from unmet.mobility.sources._formats import ALIASES, FIELDS, FORMATS, TRIP_FIELDS, Format, Kind

DELIMITERS = (",", ";", "\t", "|")
OWN = "your columns"  # name of the layout given with `columns=`


class NotRecognised(ValueError):
    """A file has no known layout, or does not hold what was asked for."""


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


def normalised(text: str) -> str:
    """Return a header in lower case without spaces and punctuation, such as ``"startstationid"``."""
    return re.sub(r"[^0-9a-z]+", "", text.casefold())


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


def recognise(header: list[str], columns: dict[str, str] | None = None) -> Layout | None:
    """Return the layout with the most matching columns; prefer the caller's `columns`."""
    if columns:
        own = Format(OWN, "trips", {key: _own(value) for key, value in columns.items()}, tuple(columns))
        layout = match(own, header)
        if layout is not None:
            return layout
    layouts = [layout for format in FORMATS if (layout := match(format, header)) is not None]
    return max(layouts, key=lambda layout: len(layout.positions), default=None)


def _own(spec: str) -> str:
    return "|".join("+".join(normalised(part) for part in choice.split("+")) for choice in spec.split("|"))


def check_columns(columns: dict[str, str] | None) -> dict[str, str] | None:
    """Check the argument `columns` and return it with canonical field names."""
    if columns is None:
        return None
    mapping = {ALIASES.get(key, key): value for key, value in dict(columns).items()}
    unknown = sorted(set(mapping) - set(TRIP_FIELDS))
    if unknown:
        raise ValueError(
            f"columns has unknown field {unknown[0]!r}; use any of {', '.join([*TRIP_FIELDS, *ALIASES])}"
        )
    if "start" not in mapping:
        raise ValueError("columns must name the column of the start time as field 'start'")
    if not all(isinstance(value, str) and normalised(value) for value in mapping.values()):
        raise ValueError(
            "columns must give the name of a column for each field, for instance 'Departure' for 'start'"
        )
    return mapping


def refusal(name: str, header: list[str], kind: Kind) -> str:
    """Return a message that says what a file should have and what was found."""
    wanted = {"trips": "trip", "status": "status", "stations": "station"}[kind]
    known = sorted({format.name for format in FORMATS if format.kind == kind})
    shown = ", ".join(repr(cell[:40]) for cell in header[:20]) or "nothing"
    more = f" and {len(header) - 20} more" if len(header) > 20 else ""
    remedy = (
        "; if it holds trips, name its columns with columns= (at least 'start')" if kind == "trips" else ""
    )
    fields = " ".join(FIELDS[kind])
    return (
        f"{name} is not a known {wanted} file: looked for the columns of {', '.join(known)} "
        f"(fields: {fields}), found {shown}{more}{remedy}"
    )
