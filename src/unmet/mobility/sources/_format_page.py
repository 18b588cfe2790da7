"""What can be read, from the table of layouts: rows for a terminal, and the page of formats in the docs."""

from typing import NamedTuple

from unmet.mobility.sources._fields import FIELDS, Kind
from unmet.mobility.sources._formats import FEEDS, FORMATS

PACKINGS = ("gzip", "bzip2", "xz", "Zstandard", "zip, also zips and compressed files inside a zip")
CONTENTS = ("CSV with commas, semicolons, tabs or bars", "JSON Lines", "lists of JSON objects", "Parquet")


class FormatRow(NamedTuple):
    """One layout: its name, what it holds, and the header by which it is recognised."""

    name: str
    kind: str
    header: str


def format_rows() -> list[FormatRow]:
    """Return everything that is recognised: tables by their header, feeds by their keys."""
    tables = [FormatRow(format.name, format.kind, format.header) for format in FORMATS]
    return tables + [FormatRow(name, kind, keys) for name, kind, keys in FEEDS]


def format_page() -> str:
    """Return the page of formats in Markdown."""
    lines = [
        "# Formats",
        "",
        "`unmet formats` prints this list; `unmet formats --markdown` prints this page. Files are recognised",
        "by their header, whatever they are called. Case, spaces and punctuation in headers do not matter,",
        "nor does the order of the columns.",
        "",
        f"- Files: {', '.join(CONTENTS)}.",
        f"- Packed with {', '.join(PACKINGS)}.",
        "- Text in UTF-8, UTF-16, CP949, Shift JIS, EUC-JP, GB 18030, Big5, CP1251 or Latin-1 is told by",
        "  its bytes; `--encoding` names any other.",
        "- Times: local or UTC stamps, with Z or an offset, POSIX seconds or milliseconds, a date and a time",
        "  in two columns.",
        "",
    ]
    for kind, title in (("trips", "Trips"), ("status", "Status"), ("stations", "Stations")):
        lines += [f"## {title}", ""]
        for row in format_rows():
            if row.kind == kind:
                lines += [f"**{row.name}**", "", f"    {row.header}", ""]
    lines += [
        "## Any other header",
        "",
        "Name the columns: `--columns start=Departure,end=Return,start_place=From,end_place=To` for trips,",
        "`--status-columns place=Stop,at=When,available=Bikes` for a status file. A refusal prints the",
        "command line with the columns that it guesses. Any script works; `start=Date+Time` joins two",
        "columns, and `minutes=…` is for durations in minutes instead of seconds (h:mm:ss is read as it is).",
        "",
        "| for | fields |",
        "|---|---|",
        f"| `--columns` | {_fields('trips')} |",
        f"| `--status-columns` | {_fields('status')} |",
        "",
    ]
    return "\n".join(lines)


def _fields(kind: Kind) -> str:
    return ", ".join(f"`{name}`" for name in FIELDS[kind])
