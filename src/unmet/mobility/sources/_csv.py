"""CSV files: count and check the lines; read them with an explicit schema, or repair them line by line."""

import codecs
import csv
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from unmet.mobility.sources._encoding import LATIN_1, guess_encoding, is_utf_8
from unmet.mobility.sources._formats import FIELD_TYPES, NULLS
from unmet.mobility.sources._recognition import Layout, parse_header
from unmet.mobility.sources._relation import Relation
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


LONGEST = 1_000_000  # bytes; longer lines are rejected
_JUDGED = 64 * 1024  # bytes from which an encoding is told
Reject = tuple[int, str, str]  # line, reason, text


@dataclass
class Repaired:
    """How many lines a file has, and how many `good` ones were written."""

    lines: int = 0
    good: int = 0
    other: int = 0  # lines that are not UTF-8
    blank: int = 0


def physical_lines(file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield each line and whether it is too long; a line that is too long is cut."""
    while line := file.readline(LONGEST + 2):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line, len(line) > LONGEST + 1
            continue
        while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
        yield line[:200], True


def repair(
    path: Path, target: IO[str], delimiter: str, width: int, rejects: list[Reject], encoding: str = LATIN_1
) -> Repaired:
    """Copy the valid lines of a file to `target` as ``line,cell,…`` and append the others to `rejects`.

    A line is valid if it is CSV on its own and has `width` cells. Each line of a record that runs over
    several lines is rejected. Lines that are not UTF-8 are read in `encoding`.
    """
    done = Repaired()
    rows = csv.writer(target, lineterminator="\n")
    with open(path, "rb") as file:
        for number, (raw, long) in enumerate(physical_lines(file), start=1):
            done.lines = number
            if number == 1:
                continue
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                text = raw.decode(encoding, errors="replace")
                done.other += 1
            text = text.rstrip("\r\n")
            cells: list[str] = []
            if long:
                reason = f"longer than {LONGEST:,} bytes"
            elif not text.strip():
                reason = "blank line"
                done.blank += 1
            elif "\0" in text:
                reason = "NUL byte"
            else:
                cells, reason = _cells(text, delimiter, width)
            if reason:
                rejects.append((number, reason, text[:500]))
            else:
                rows.writerow([number, *cells])
                done.good += 1
    return done


def encoding_of_odd_lines(path: Path) -> str:
    """Return the likeliest encoding of the lines that are not UTF-8, judged by the first of them."""
    odd, size = [], 0
    with open(path, "rb") as file:
        for raw, long in physical_lines(file):
            if not long and not raw.isascii() and not is_utf_8(raw):
                odd.append(raw)
                size += len(raw)
                if size > _JUDGED:
                    break
    found = guess_encoding(b"".join(odd))
    return LATIN_1 if found == "utf-8" else found


def _cells(text: str, delimiter: str, width: int) -> tuple[list[str], str]:
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration) as error:
        what = str(error)
        if "unexpected end" in what:
            return [], "a quote is left open"
        if "new-line" in what:
            return [], "a carriage return inside the line"
        return [], f"not CSV: {what}"[:120]
    if len(cells) != width:
        return [], f"{'too many' if len(cells) > width else 'too few'} cells"
    return [cell.replace("\r", " ").replace("\n", " ") for cell in cells], ""


def texts_of(path: Path, lines: list[int]) -> dict[int, str]:
    """Return the start of the text of these physical lines."""
    wanted, found = set(lines), {}
    last = max(wanted, default=0)
    with open(path, "rb") as file:
        for number, (raw, _) in enumerate(itertools.islice(physical_lines(file), last), start=1):
            if number in wanted:
                found[number] = raw[:500].decode("utf-8", errors="replace").strip("\r\n").replace("\0", "\\0")
    return found
