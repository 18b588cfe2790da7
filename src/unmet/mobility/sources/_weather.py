"""Read a weather file with a schema: one time column, columns of numbers, and every cell accounted for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import Account, Report
from unmet.mobility.sources._csv import Reject, csv_table, repair
from unmet.mobility.sources._encoding import content_of
from unmet.mobility.sources._files import MAX_BYTES, list_sources, short, unpack
from unmet.mobility.sources._formats import NULLS
from unmet.mobility.sources._parquet import parquet_columns
from unmet.mobility.sources._recognition import DELIMITERS, split_header
from unmet.mobility.sources._stamps import EARLIEST, LATEST, MONTH_FIRST, PLAIN
from unmet.mobility.sources._tables import count, ensure_tables, replace_rejects
from unmet.tables import identifier, literal, literal_path, private_folder

_WHEN = ("ds", "date", "time", "datetime", "timestamp", "day", "valid_time")
_MOST = 1e12  # no measure of weather is larger
_MAX_COLUMNS = 1000
_HEADER = 64 * 1024  # bytes in which the header must end
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y")


@dataclass(frozen=True)
class WeatherReport(Report):
    """What was read: values that are missing, and values that are no numbers, by column.

    Attributes
    ----------
    columns : names of the columns in table ``_weather``, which has ``moment`` besides.
    step : ``"hour"`` or ``"day"``.
    in_utc : whether times are UTC; otherwise they are local.
    """

    columns: tuple[str, ...] = ()
    step: str = "day"
    in_utc: bool = False
    missing: Mapping[str, int] | None = None
    unreadable: Mapping[str, int] | None = None


@dataclass(frozen=True)
class _Cells:
    """A file as table ``_weather_cells(line, c0, c1, …)`` of texts, one column for each name."""

    names: list[str]
    when: int


def read_weather(
    con: Connection,
    path: str | os.PathLike[str],
    *,
    keep: Mapping[str, str],
    taken: Sequence[str] = (),
    max_reject_share: float = 0.01,
    what: str = "weather",
) -> WeatherReport:
    """Read a CSV or Parquet file into table ``_weather(moment, …)``; rejected rows go to ``rejects``.

    A column holds numbers if most of its cells do. Cells of such a column that hold anything else become
    NULL and are counted; ``T``, a trace of rain, is 0.

    Parameters
    ----------
    keep : column → value; use only the rows with these values.
    taken : names that the new columns must not have; those that do are called ``weather_…``.
    max_reject_share : stop if a larger share of the rows, or of the values of a column, cannot be read.
    what : what messages call the file.
    """
    path, named = Path(path), f"{what} file {path}"
    if not path.is_file():
        raise ValueError(f"{named} does not exist; check the path")
    ensure_tables(con)
    account = Account(con, "weather")
    with tempfile.TemporaryDirectory(prefix="unmet-weather-", dir=private_folder(con)) as folder:
        cells = _read_cells(con, path, named, Path(folder), account)
        account.write_rejects(Path(folder))
        try:
            report = _read_numbers(con, path, named, cells, account, keep, taken, max_reject_share)
        except duckdb.Error as error:
            raise ValueError(f"{named} cannot be read: {short(error)}") from None
        finally:
            con.execute("DROP TABLE IF EXISTS _weather_cells")
            con.execute("DROP TABLE IF EXISTS new_rejects")
    return report


def _read_cells(con: Connection, path: Path, named: str, folder: Path, account: Account) -> _Cells:
    """Write table ``_weather_cells`` and account for every line of the file."""
    sources = list_sources(path, account.notes, MAX_BYTES)
    if len(sources) != 1:
        raise ValueError(f"{named} holds {len(sources)} files; give one of them")
    source = sources[0]
    file = unpack(source.path, source.members, source.name, folder, MAX_BYTES)
    content = content_of(file, source.name)
    if content == "json":
        raise ValueError(f"{named} is JSON; give CSV or Parquet")
    if content == "parquet":
        kinds = parquet_columns(con, file, source.name)
        cells = _check_header(named, list(kinds))
        texts = ", ".join(f"{identifier(name)}::VARCHAR AS c{index}" for index, name in enumerate(kinds))
        table = f"read_parquet({literal_path(file)}, file_row_number=true)"
        table = f"(SELECT file_row_number + 1 AS line, {texts} FROM {table})"
        lines, headers, broken = None, 0, list[Reject]()
    else:
        delimiter, names = _header(file)
        cells = _check_header(named, names)
        broken, clean = [], folder / "clean.csv"
        with open(clean, "w", encoding="utf-8", newline="") as target:
            done = repair(file, target, delimiter, len(names), broken)
        table = csv_table(clean, len(names), ",", numbered=True)
        lines, headers = done.lines, 1
        account.blank += done.blank
    try:
        con.execute(f"CREATE OR REPLACE TEMP TABLE _weather_cells AS SELECT * FROM {table}")
    except duckdb.Error as error:
        raise ValueError(f"{named} cannot be read: {short(error)}") from None
    rows = count(con, "SELECT count(*) FROM _weather_cells")
    if lines is not None and rows + len(broken) + headers != lines:
        raise ValueError(f"{named} cannot be read: its lines do not add up")
    late = con.execute(
        f"SELECT line, coalesce(left(c{cells.when}, 100), '') FROM _weather_cells "
        f"WHERE {_moment(cells)} IS NULL ORDER BY line"
    ).fetchall()
    broken += [(line, "time not understood" if text else "no time", text) for line, text in late]
    account.add_rejects(source.name, broken)
    account.add_file(source.name, "weather", rows + headers if lines is None else lines, headers, len(broken))
    return cells


def _header(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter and the names of the columns; the delimiter is one that yields a time column."""
    with open(path, "rb") as file:
        line = file.read(_HEADER).split(b"\n", 1)[0]
    text = line.decode("utf-8-sig", errors="replace").rstrip("\r")
    found = [(mark, split_header(text, mark)) for mark in DELIMITERS]
    return max(found, key=lambda pair: (any(map(_is_when, pair[1])), len(pair[1])))


def _is_when(name: str) -> bool:
    return name.strip().lower() in _WHEN


def _check_header(named: str, names: list[str]) -> _Cells:
    shown = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    when = next((index for index, name in enumerate(names) if _is_when(name)), None)
    if when is None:
        raise ValueError(f"{named} needs a column 'date' or 'time'; found {shown[:500]}")
    if len(names) > _MAX_COLUMNS:
        raise ValueError(f"{named} has {len(names):,} columns, more than {_MAX_COLUMNS:,}; remove some")
    lower = [name.lower() for name in names if name]
    repeated = next((name for name in lower if lower.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"{named} has two columns named {repeated[:80]!r}; rename one")
    return _Cells(names, when)


def _moment(cells: _Cells) -> str:
    """Return SQL for the time of a row; NULL if it is not understood or outside the accepted years."""
    text = f"trim(c{cells.when})"
    forms = ", ".join(literal(form) for form in (*_DAYS, *PLAIN, *MONTH_FIRST))
    found = f"coalesce(try_strptime({text}, [{forms}]), try_cast({text} AS TIMESTAMP))"
    return f"CASE WHEN {found} >= {EARLIEST} AND {found} < {LATEST} THEN {found} END"


def _number(column: str) -> str:
    """Return SQL for a cell as a number; NULL if it is none."""
    text = f"lower(trim({column}))"
    number = f"try_cast({text} AS DOUBLE)"
    return (
        f"CASE {text} WHEN 't' THEN 0.0 WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
        f"ELSE CASE WHEN abs({number}) <= {_MOST:.0f} THEN {number} END END"
    )


def _read_numbers(
    con: Connection,
    path: Path,
    named: str,
    cells: _Cells,
    account: Account,
    keep: Mapping[str, str],
    taken: Sequence[str],
    max_reject_share: float,
) -> WeatherReport:
    """Write table ``_weather`` from ``_weather_cells``, and say what its cells were like."""
    for name in keep:
        if name not in cells.names:
            raise ValueError(
                f"weather_keep: {path} has no column {name!r}; found {', '.join(cells.names)[:500]}"
            )
    account.check(account.files[0].accepted, max_reject_share)
    where = f"{_moment(cells)} IS NOT NULL"
    where += "".join(
        f" AND trim(c{cells.names.index(name)}) = {literal(keep[name].strip())}" for name in keep
    )
    rows = count(con, f"SELECT count(*) FROM _weather_cells WHERE {where}")
    if not rows and keep:
        wanted = ", ".join(f"{value!r} in column {key!r}" for key, value in keep.items())
        raise ValueError(f"weather_keep: no row of {path} has {wanted}")
    if not rows:
        raise ValueError(f"{named} has no rows")
    used, missing, unreadable = _columns(
        con, named, cells, keep, where, rows, account.notes, max_reject_share
    )
    renamed = _renamed([cells.names[index] for index in used], taken)
    picked = ", ".join(f"{_number(f'c{i}')} AS {identifier(new)}" for i, new in zip(used, renamed))
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE _weather AS SELECT {_moment(cells)} AS moment, {picked} "
        f"FROM _weather_cells WHERE {where}"
    )
    step = _step(con, named)
    con.execute(f"UPDATE _weather SET moment = date_trunc('{step}', moment)")
    reasons = account.reasons()
    replace_rejects(con, "weather")
    return WeatherReport(
        files=tuple(account.files),
        reasons=reasons,
        notes=tuple(f"{path.name}: {note}" for note in account.notes),
        columns=tuple(renamed),
        step=step,
        in_utc=cells.names[cells.when].strip().lower() == "ds",
        missing=missing,
        unreadable=unreadable,
    )


def _columns(
    con: Connection,
    named: str,
    cells: _Cells,
    keep: Mapping[str, str],
    where: str,
    rows: int,
    notes: list[str],
    max_reject_share: float,
) -> tuple[list[int], dict[str, int], dict[str, int]]:
    """Return the positions of the columns of numbers, and their missing and unreadable values; add notes."""
    nothing = ", ".join(literal(word.lower()) for word in NULLS)
    used: list[int] = []
    texts: list[str] = []
    missing: dict[str, int] = {}
    unreadable: dict[str, int] = {}
    for index, name in enumerate(cells.names):
        if index == cells.when or name in keep:
            continue
        column = f"c{index}"
        held = f"{column} IS NOT NULL AND lower(trim({column})) NOT IN ({nothing})"
        wrong = f"{held} AND ({_number(column)}) IS NULL"
        row = con.execute(
            f"SELECT count(*) FILTER ({held}), count(*) FILTER ({wrong}), "
            f"count(*) FILTER (trim({column}) = 'T'), min(left({column}, 40)) FILTER ({wrong}) "
            f"FROM _weather_cells WHERE {where}"
        ).fetchone()
        assert row is not None
        given, bad, traces, example = row
        if not name or 2 * bad >= given:
            texts.append(name or f"number {index + 1}, which has no name")
            continue
        if bad > max_reject_share * given:
            raise ValueError(
                f"{named}: {bad:,} of {given:,} values in column {name!r} are not numbers, "
                f"such as {example!r}, more than max_reject_share={max_reject_share:g} allows: correct them "
                "or remove the column"
            )
        used.append(index)
        if rows > given:
            missing[name] = rows - given
            notes.append(f"{rows - given:,} of {rows:,} values in column {name!r} are missing")
        if bad:
            unreadable[name] = bad
            notes.append(f"{bad:,} values in column {name!r} are not numbers, such as {example!r}; left out")
        if traces:
            notes.append(f"{traces:,} values 'T' (a trace) in column {name!r} are taken as 0")
    if not used:
        raise ValueError(f"{named} has no column of numbers; found {', '.join(cells.names)[:500]}")
    if texts:
        notes.append(f"columns without numbers, left out: {', '.join(texts[:6])}{' …' * (len(texts) > 6)}")
    return used, missing, unreadable


def _renamed(names: list[str], taken: Sequence[str]) -> list[str]:
    """Return names that differ from those in `taken` and from each other, whatever their case."""
    used = {name.lower() for name in taken}
    found = []
    for name in names:
        while name.lower() in used:
            name = f"weather_{name}"
        used.add(name.lower())
        found.append(name)
    return found


def _step(con: Connection, named: str) -> str:
    """Return ``"hour"`` or ``"day"``: the step of the file, which must have one row for each."""
    row = con.execute("""SELECT count(*), count(DISTINCT date_trunc('hour', moment)),
                                count(DISTINCT moment::DATE), bool_or(moment <> moment::DATE)
                         FROM _weather""").fetchone()
    assert row is not None
    step = "hour" if row[3] else "day"
    if row[0] > (row[1] if row[3] else row[2]):
        raise ValueError(
            f"{named} has several rows for one {step}; keep those of one place with "
            "weather_keep, for instance '94107' in column 'zip_code'"
        )
    return step
