"""Tell what a file is from its header line."""

import csv
import re
from dataclasses import dataclass

from unmet.mobility.readers._formats import ALIASES, FIELDS, FORMATS, TRIP_FIELDS, Format, Kind

DELIMITERS = (",", ";", "\t", "|")
OWN = "your columns"  # the name of a layout that the caller describes


class NotRecognised(ValueError):
    """The columns of a file fit no known layout."""


@dataclass(frozen=True)
class Layout:
    """A format matched to one header: for each field the positions of its columns."""

    format: Format
    header: tuple[str, ...]
    positions: dict[str, tuple[int, ...]]

    @property
    def kind(self) -> Kind:
        return self.format.kind

    def column(self, name: str) -> int | None:
        """Position of the column with this header, compared as headers are; ``None`` where it is absent."""
        names = [plain(text) for text in self.header]
        return names.index(plain(name)) if plain(name) in names else None


def plain(text: str) -> str:
    """A header without case, blanks and punctuation: ``"Start Station ID"`` → ``"startstationid"``."""
    return re.sub(r"[^0-9a-z]+", "", text.casefold())


def split_header(line: str, delimiter: str) -> list[str]:
    """Cells of a header line; a line that is not CSV gives its rough cells, for messages only."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return [cell.strip() for cell in line.split(delimiter)]


def parse_header(line: str) -> tuple[str, list[str]]:
    """The delimiter that cuts the line into most cells, and the cells."""
    line = line.lstrip("\ufeff").rstrip("\r\n")
    return max(((mark, split_header(line, mark)) for mark in DELIMITERS), key=lambda pair: len(pair[1]))


def _positions(spec: str, names: list[str]) -> tuple[int, ...]:
    for choice in spec.split("|"):
        parts = choice.split("+")
        if all(part in names for part in parts):
            return tuple(names.index(part) for part in parts)
    return ()


def match(format: Format, header: list[str]) -> Layout | None:
    """The layout of a header under one format, or ``None`` where a needed column is missing."""
    names = [plain(cell) for cell in header]
    found = {name: _positions(spec, names) for name, spec in format.columns.items()}
    found = {name: where for name, where in found.items() if where}
    if not all(name in found for name in format.needs) or not all(mark in names for mark in format.marks):
        return None
    return Layout(format, tuple(header), found)


def recognise(header: list[str], columns: dict[str, str] | None = None) -> Layout | None:
    """The layout that explains most columns of the header; a caller's own mapping goes first."""
    if columns:
        own = Format(OWN, "trips", {key: _own(value) for key, value in columns.items()}, tuple(columns))
        layout = match(own, header)
        if layout is not None:
            return layout
    layouts = [layout for format in FORMATS if (layout := match(format, header)) is not None]
    return max(layouts, key=lambda layout: len(layout.positions), default=None)


def _own(spec: str) -> str:
    return "|".join("+".join(plain(part) for part in choice.split("+")) for choice in spec.split("|"))


def check_columns(columns: dict[str, str] | None) -> dict[str, str] | None:
    """A caller's mapping in canonical field names."""
    if columns is None:
        return None
    mapping = {ALIASES.get(key, key): value for key, value in dict(columns).items()}
    unknown = sorted(set(mapping) - set(TRIP_FIELDS))
    if unknown:
        raise ValueError(
            f"columns has unknown field {unknown[0]!r}; known: {', '.join(TRIP_FIELDS)}, {', '.join(ALIASES)}"
        )
    if "start" not in mapping:
        raise ValueError("columns must name the column of the start time: columns={'start': …}")
    if not all(isinstance(value, str) and plain(value) for value in mapping.values()):
        raise ValueError("columns must map a field to the name of a column, as in {'start': 'Departure'}")
    return mapping


def refusal(name: str, header: list[str], kind: Kind) -> str:
    """One line that says what was looked for in a file and what was found."""
    wanted = {"trips": "trip", "status": "status", "stations": "station"}[kind]
    known = sorted({format.name for format in FORMATS if format.kind == kind})
    shown = ", ".join(repr(cell[:40]) for cell in header[:20]) or "nothing"
    more = f" and {len(header) - 20} more" if len(header) > 20 else ""
    remedy = (
        "; if it holds trips, name its columns: columns={'start': …, 'station': …}" if kind == "trips" else ""
    )
    fields = " ".join(FIELDS[kind])
    return (
        f"{name} is no {wanted} file that is known: looked for the columns of {', '.join(known)} "
        f"(fields: {fields}), found {shown}{more}{remedy}"
    )
