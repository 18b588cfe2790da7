"""Bring one source into DuckDB: quickly where the lines agree, line by line where they do not."""

import codecs
import csv
import itertools
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import duckdb

from unmet.mobility.readers._blocks import FORBIDDEN
from unmet.mobility.readers._formats import NULLS
from unmet.mobility.readers._quick import fits_blocks, types_of
from unmet.mobility.readers._recognise import Layout, parse_header
from unmet.mobility.readers._repair import Reject, physical_lines, repair
from unmet.mobility.readers._scan import Scan
from unmet.mobility.readers._sources import Source, unpack
from unmet.runs import Streams
from unmet.tables import literal, literal_path, private_folder


@dataclass(frozen=True)
class Plain:
    """A file that may be plain; nobody wants it once `stopped` is set."""

    path: Path
    delimiter: str
    stopped: threading.Event
    streams: Streams


@dataclass(frozen=True)
class Relation:
    """SQL that yields ``line, c0, c1, …``, and a few of its rows.

    All columns are text, except in a ``quick`` relation (see :mod:`unmet.mobility.readers._quick`); in a
    ``stamped`` one times are no text either. A ``plain`` one has no SQL: it is a file that is read in blocks
    (see :mod:`unmet.mobility.readers._blocks`).
    """

    sql: str
    samples: list[list[str]]
    quick: bool = False
    stamped: bool = False
    plain: Plain | None = None


@dataclass
class Counts:
    """How the lines of one source were used; ``lines == headers + rows + broken`` holds on return."""

    lines: int = 0
    headers: int = 0
    rows: int = 0  # rows handed to DuckDB, of which some may be rejected by their content
    broken: int = 0  # lines that are no row at all
    blank: int = 0
    rejects: list[Reject] = field(default_factory=list)  # the broken lines
    notes: list[str] = field(default_factory=list)


def unpacked(source: Source, folder: Path, max_bytes: int) -> Path:
    """A path to the uncompressed bytes of a source, under a name that no reader takes for a pattern."""
    path = folder / "source"
    if source.packing == "plain":
        if source.path.stat().st_size > max_bytes:
            raise ValueError(f"{source.name} is larger than {max_bytes:,} bytes (max_bytes); refused")
        os.symlink(source.path.resolve(), path)
    else:
        with open(path, "wb") as target:
            unpack(source, target, max_bytes)
    return path


def content_of(path: Path, name: str) -> str:
    """``"parquet"``, ``"json"`` or ``"csv"``, judged by the bytes; texts in UTF-16 are rewritten as UTF-8."""
    with open(path, "rb") as file:
        start = file.read(4096)
    if not start:
        raise ValueError(f"{name} is empty")
    if start[:4] == b"PAR1":
        return "parquet"
    if start[:2] in (b"\x1f\x8b", b"PK"):
        raise ValueError(f"{name} holds an archive inside an archive; unpack it first")
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        _rewrite(path, lambda text: text, "utf-16", name)
        return content_of(path, name)
    if b"\r" in start and b"\n" not in start and start.lstrip(b"\xef\xbb\xbf \t\r")[:1] not in (b"{", b"["):
        _rewrite(path, lambda text: text.replace("\r", "\n"), "latin-1", name, "latin-1")
    return "json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


def _rewrite(path: Path, change: Callable[[str], str], encoding: str, name: str, into: str = "utf-8") -> None:
    other = path.with_name("rewritten")
    try:
        with (
            open(path, encoding=encoding, newline="") as old,
            open(other, "w", encoding=into, newline="") as new,
        ):
            while text := old.read(2**20):
                new.write(change(text))
    except UnicodeError:
        raise ValueError(f"{name} begins like UTF-16 text but is not") from None
    path.unlink()
    other.rename(path)


def header_of(first: bytes) -> tuple[str, list[str]]:
    """Delimiter and cells of the first line, from the first bytes of a file."""
    line = first.split(b"\n", 1)[0]
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = line.decode("cp1252", errors="replace")
    return parse_header(text)


def _samples(path: Path, delimiter: str, width: int) -> list[list[str]]:
    """Rows from the beginning and the end of a file: what stamps look like, and which years to expect."""
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


def read_csv_sql(
    path: Path,
    width: int,
    delimiter: str,
    skip: int,
    line_column: bool,
    nulls: tuple[str, ...] = NULLS,
    types: Mapping[int, str] = MappingProxyType({}),
    quotes: bool = True,
    numbered: bool = True,
) -> str:
    """SELECT over a CSV file with an explicit schema; lines are numbered unless its first column does so.

    Columns are text unless ``types`` says otherwise. ``quotes=False`` promises that the file has none.
    Numbering lines keeps DuckDB to one thread; ``numbered=False`` leaves them out where nobody asks.
    """
    listed_columns = {"line": "BIGINT"} if line_column else {}
    listed_columns |= {f"c{index}": types.get(index, "VARCHAR") for index in range(width)}
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in listed_columns.items())
    listed = ", ".join(literal(text) for text in nulls)
    mark = "'\"'" if quotes else "''"
    table = (
        f"read_csv({literal_path(path)}, auto_detect=false, header=false, skip={skip}, "
        f"columns={{{columns}}}, nullstr=[{listed}], max_line_size=4000000, strict_mode=true, "
        f"delim={literal(delimiter)}, quote={mark}, escape={mark}, compression='none')"
    )
    if line_column:
        return f"SELECT * FROM {table}"
    number = "row_number() OVER () + 1" if numbered else "NULL::BIGINT"
    return f"SELECT {number} AS line, * FROM {table}"


def plain_relation(
    path: Path,
    first: bytes,
    layout: Layout,
    delimiter: str,
    stopped: threading.Event,
    streams: Streams,
) -> Relation | None:
    """The file to be read in blocks, if its first and last lines look like it."""
    if stopped.is_set() or any(mark in first for mark in FORBIDDEN):
        return None
    samples = _samples(path, delimiter, len(layout.header))
    if types_of(layout, samples) is None or not fits_blocks(layout, samples):
        return None
    return Relation("", samples, quick=True, plain=Plain(path, delimiter, stopped, streams))


def typed_relation(path: Path, scan: Scan, layout: Layout, delimiter: str) -> Relation | None:
    """The file to be read by types, without repairs, if its first and last lines look like it."""
    width = len(layout.header)
    samples = _samples(path, delimiter, width)
    types = types_of(layout, samples)
    if scan.careful is not None or types is None:
        return None
    numbered = layout.kind == "trips"
    sql = read_csv_sql(path, width, delimiter, 1, False, ("",), types, scan.quotes, numbered)
    return Relation(sql, samples, quick=True)


def read_lines(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    source: Source,
    scan: Scan,
    layout: Layout,
    delimiter: str,
    insert: Callable[[Relation], int],
) -> Counts:
    """Insert every row of a CSV file as text, or say line by line why not.

    DuckDB reads the file with an explicit schema. Its number of rows must equal the number of lines that
    were counted in the bytes; where it does not, or DuckDB gives up, the file is read line by line.
    """
    width = len(layout.header)
    counts = Counts(lines=scan.lines, headers=1)
    samples = _samples(path, delimiter, width)
    if scan.careful is None:
        relation = Relation(read_csv_sql(path, width, delimiter, 1, False), samples)
        if attempt(con, insert, relation, scan.lines - 1) is not None:
            con.execute("COMMIT")
            counts.rows = scan.lines - 1
            return counts
    clean = path.with_name("clean.csv")
    try:
        with open(clean, "w", encoding="utf-8", newline="") as good:
            done = repair(path, good, delimiter, width, counts.rejects)
        counts.lines, counts.blank = done.lines, done.blank
        counts.broken = done.lines - 1 - done.good
        why = scan.careful or "DuckDB and the count of lines disagree"
        counts.notes.append(f"{source.name}: read line by line ({why})")
        if done.latin:
            counts.notes.append(f"{source.name}: {done.latin:,} lines are not UTF-8, taken as Latin-1")
        if done.good:
            relation = Relation(read_csv_sql(clean, width, ",", 0, True), samples)
            if attempt(con, insert, relation, done.good) is None:
                raise ValueError(f"{source.name} cannot be read: its lines do not add up")
            con.execute("COMMIT")
            counts.rows = done.good
    finally:
        clean.unlink(missing_ok=True)
    return counts


def attempt(
    con: duckdb.DuckDBPyConnection,
    insert: Callable[[Relation], int],
    relation: Relation,
    expected: int | None = None,
) -> int | None:
    """Insert the expected rows (``None``: any number), in a transaction left open; returns how many.

    ``None`` where the relation did not fit: nothing is inserted then.
    """
    con.execute("BEGIN")
    try:
        rows = insert(relation)
        fits = rows >= 0 and expected in (None, rows)
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException):
        fits = False
    except BaseException:
        con.execute("ROLLBACK")
        raise
    if not fits:
        con.execute("ROLLBACK")
        return None
    return rows


def texts_of(path: Path, lines: list[int]) -> dict[int, str]:
    """The text of some physical lines, shortened."""
    wanted, found = set(lines), {}
    last = max(wanted, default=0)
    with open(path, "rb") as file:
        for number, (raw, _) in enumerate(itertools.islice(physical_lines(file), last), start=1):
            if number in wanted:
                found[number] = raw[:500].decode("utf-8", errors="replace").strip("\r\n").replace("\0", "\\0")
    return found


@contextmanager
def work_folder(con: duckdb.DuckDBPyConnection) -> Iterator[Path]:
    """A private folder beside the spill files of the connection, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="unmet-reading-", dir=private_folder(con)) as folder:
        yield Path(folder)
