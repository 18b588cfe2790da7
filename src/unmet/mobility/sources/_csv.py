"""CSV files: count and check the lines, then read them with an explicit schema."""

import codecs
import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unmet.mobility.sources._encoding import LATIN_1
from unmet.mobility.sources._fields import FIELD_TYPES, NULLS
from unmet.mobility.sources._layouts import Layout, parse_header
from unmet.mobility.sources._relation import Relation
from unmet.mobility.sources._repair import LONGEST
from unmet.tables import literal, literal_path

_CHUNK = 4 * 2**20
_FIRST = 64 * 1024
_NO_TYPES: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True)
class Lines:
    """Number of physical lines of a file, and why it needs a repair (``None`` if it does not)."""

    number: int
    trouble: str | None


def count_lines(path: Path) -> Lines:
    """Count lines by their line feeds, without parsing them, and look for bytes that need a repair."""
    number, after_last, trouble = 0, 0, None
    returns = pairs = 0
    carry = last = b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            number += chunk.count(b"\n")
            if b"\0" in chunk:
                trouble = trouble or "NUL bytes"
            if b"\r" in chunk:
                returns += chunk.count(b"\r")
                pairs += chunk.count(b"\r\n")
            if last == b"\r" and chunk[:1] == b"\n":
                pairs += 1
            if trouble is None and not (chunk.isascii() and not carry):
                try:
                    decoder.decode(chunk)
                    carry = decoder.getstate()[0]
                except UnicodeDecodeError:
                    trouble = "not UTF-8"
            if not trouble and _too_long(chunk, after_last):
                trouble = "a very long line"
            cut = chunk.rfind(b"\n")
            after_last = len(chunk) - cut - 1 if cut >= 0 else after_last + len(chunk)
            last = chunk[-1:]
    if after_last:
        number += 1
    if carry:
        trouble = trouble or "not UTF-8"
    if returns != pairs:
        trouble = trouble or "stray carriage returns"
    return Lines(number, trouble)


def _too_long(chunk: bytes, before: int) -> bool:
    """Return whether a line in the chunk is too long; its first `before` bytes came in earlier chunks."""
    start = -before
    while start + LONGEST < len(chunk):
        cut = chunk.rfind(b"\n", max(start, 0), start + LONGEST + 1)
        if cut < 0:
            return True
        start = cut + 1
    return False


def read_header(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter and the cells of the first line."""
    with open(path, "rb") as file:
        line = file.read(_FIRST).split(b"\n", 1)[0]
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = line.decode(LATIN_1, errors="replace")
    return parse_header(text)


def csv_relations(
    path: Path, layout: Layout, delimiter: str, lines: Lines, as_text: tuple[str, ...]
) -> Iterator[Relation]:
    """Yield a regular file as a relation, in ways to try in turn in case a cell does not fit.

    First with types, then with types where words such as ``NULL`` mean nothing, then as text. The columns
    named in `as_text` are always text.
    """
    samples = sample_rows(path, delimiter, len(layout.header))
    texts = [layout.column(name) for name in as_text]
    typed = {index: kind for index, kind in _types(layout, samples).items() if index not in texts}
    ways: list[tuple[dict[int, str], bool]] = [(typed, True), (typed, False)] if typed else []
    for types, words in [*ways, ({}, False)]:
        nulls = ("",) if words else NULLS
        table = csv_table(path, len(layout.header), delimiter, skip=1, types=types, nulls=nulls)
        line = "row_number() OVER () + 1"
        yield Relation(layout, table, line, lines.number - 1, samples, types, positional=True, words=words)


def numbered_relation(
    path: Path, layout: Layout, rows: int, samples: list[list[str]], nulls: tuple[str, ...] = NULLS
) -> Relation:
    """Return a file that this package wrote, with the line number in its first column, as a relation."""
    table = csv_table(path, len(layout.header), ",", numbered=True, nulls=nulls)
    return Relation(layout, table, "line", rows, samples)


def csv_table(
    path: Path,
    width: int,
    delimiter: str,
    *,
    skip: int = 0,
    numbered: bool = False,
    nulls: tuple[str, ...] = NULLS,
    types: Mapping[int, str] = _NO_TYPES,
) -> str:
    """Return SQL for a CSV file as a table ``c0, c1, …``, preceded by ``line`` if rows are `numbered`."""
    kinds = {"line": "BIGINT"} if numbered else {}
    kinds |= {f"c{index}": types.get(index, "VARCHAR") for index in range(width)}
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in kinds.items())
    listed = ", ".join(literal(text) for text in nulls)
    return (
        f"read_csv({literal_path(path)}, auto_detect=false, header=false, skip={skip}, "
        f"columns={{{columns}}}, nullstr=[{listed}], max_line_size=4000000, strict_mode=true, "
        f"delim={literal(delimiter)}, quote='\"', escape='\"', compression='none')"
    )


def _types(layout: Layout, samples: list[list[str]]) -> dict[int, str]:
    """Return the types of the columns that are not text, by position, if the samples have these types."""
    if not samples:
        return {}
    found = {}
    for name, kind in FIELD_TYPES[layout.kind].items():
        where = layout.positions.get(name, ())
        numbers = kind != "BIGINT" or all(row[where[0]].strip().isdigit() for row in samples if where)
        if len(where) == 1 and kind != "TIMESTAMP" and numbers:
            found[where[0]] = kind
    return found


def sample_rows(path: Path, delimiter: str, width: int) -> list[list[str]]:
    """Return rows from the start and the end of a file, to tell the format and the years of its times."""
    with open(path, "rb") as file:
        head = file.read(32 * 1024)
        file.seek(max(len(head), os.fstat(file.fileno()).st_size - 8 * 1024))
        tail = file.read()
    lines = head.decode("utf-8", errors="replace").split("\n")[1:101]
    lines += tail.decode("utf-8", errors="replace").split("\n")[1:]
    rows = []
    for line in lines:
        try:
            cells = next(csv.reader([line.rstrip("\r").replace("\0", "")], delimiter=delimiter), [])
        except csv.Error:
            continue
        if len(cells) == width:
            rows.append(cells)
    return rows


def write_rows(path: Path, rows: Iterable[list[Any]]) -> None:
    """Write rows to a CSV file that a strict parser accepts."""
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_written(cell) for cell in row] for row in rows)


def _written(cell: Any) -> str:
    return "" if cell is None else str(cell).replace("\r", " ").replace("\n", " ").replace("\0", "\\0")
