"""The layouts that are recognised, from `formats.toml`, their fields, and the page that lists them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

Kind = Literal["trips", "status", "stations"]

DEGREES = {"start_lat": 90, "start_lng": 180, "end_lat": 90, "end_lng": 180}

# Types of the fields that are not text. If a cell does not have its type, the file is read again as text.
# Times in CSV files are always read as text, because DuckDB's parser accepts more than one form, and counts
# as floating point, because DuckDB would silently round to an integer.
FIELD_TYPES: dict[Kind, dict[str, str]] = {
    "trips": {"start": "TIMESTAMP", "end": "TIMESTAMP", **dict.fromkeys(DEGREES, "DOUBLE")},
    "status": {
        "at": "BIGINT",
        **dict.fromkeys(("available", "docks"), "DOUBLE"),
        **dict.fromkeys(("renting", "returning", "installed"), "BOOLEAN"),
    },
    "stations": {},
}

NULLS = ("", "NULL", "null", "\\N", "nan", "NaN", "None", "NA", "N/A")  # cells without a value


@dataclass(frozen=True)
class Format:
    """Which columns of a file hold which field; `formats.toml` says what each attribute means."""

    name: str
    kind: Kind
    columns: dict[str, str]
    needs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    times: Literal["utc", None] = None
    day_first: bool = False
    header: str = ""


def data_file(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of this package."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


_DATA = data_file("formats.toml")
FIELDS: dict[Kind, list[str]] = _DATA["fields"]
NEEDED: dict[Kind, list[str]] = _DATA["needed"]
ALIASES: dict[Kind, dict[str, str]] = _DATA["aliases"]
FORMATS = tuple(Format(kind=kind, **entry) for kind in FIELDS for entry in _DATA[kind])


class FormatRow(NamedTuple):
    """One layout: its name, what it holds, and the header by which it is recognised."""

    name: str
    kind: str
    header: str


def format_rows() -> list[FormatRow]:
    """Return everything that is recognised: tables by their header, feeds by their keys."""
    tables = [FormatRow(format.name, format.kind, format.header) for format in FORMATS]
    return tables + [FormatRow(feed["name"], feed["kind"], feed["keys"]) for feed in _DATA["feeds"]]


def format_page() -> str:
    """Return the page of formats in Markdown."""
    sections = "\n".join(
        f"## {kind.title()}\n\n"
        + "".join(f"**{row.name}**\n\n    {row.header}\n\n" for row in format_rows() if row.kind == kind)
        for kind in FIELDS
    ).replace("\n\n\n", "\n\n")
    fields = {kind: ", ".join(f"`{name}`" for name in FIELDS[kind]) for kind in FIELDS}
    return _PAGE.format(sections=sections, **fields)


_PAGE = """\
# Formats

`unmet formats` prints this list; `unmet formats --markdown` prints this page. Files are recognised
by their header, whatever they are called. Case, spaces and punctuation in headers do not matter,
nor does the order of the columns.

- Files: CSV with commas, semicolons, tabs or bars, JSON Lines, lists of JSON objects, Parquet.
- Packed with gzip, bzip2, xz, Zstandard, zip, also zips and compressed files inside a zip.
- Text in UTF-8, UTF-16, CP949, Shift JIS, EUC-JP, GB 18030, Big5, CP1251 or Latin-1 is told by
  its bytes; `--encoding` names any other.
- Times: local or UTC stamps, with Z or an offset, POSIX seconds or milliseconds, a date and a time
  in two columns.

{sections}## Any other header

Name the columns: `--columns start=Departure,end=Return,start_place=From,end_place=To` for trips,
`--status-columns place=Stop,at=When,available=Bikes` for a status file. A refusal prints the
command line with the columns that it guesses. Any script works; `start=Date+Time` joins two
columns, and `minutes=…` is for durations in minutes instead of seconds (h:mm:ss is read as it is).

| for | fields |
|---|---|
| `--columns` | {trips} |
| `--status-columns` | {status} |
"""
