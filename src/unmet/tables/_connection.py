"""DuckDB connections that see only their own folder and the files they were given."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from unmet.runs import TemporaryFolder, naming_extras
from unmet.tables._sql import escape_wildcards

if TYPE_CHECKING:
    import duckdb

# DuckDB takes a file of unknown size for the smaller side of a join and would hold it in memory.
_DISABLED_OPTIMIZERS = "join_order,build_side_probe_side,in_clause"


def connect(
    memory_limit: str = "2GB",
    threads: int | None = None,
    spill: str | os.PathLike[str] | None = None,
    inputs: Iterable[str | os.PathLike[str]] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open the database in which trips, status, stations and the panel live.

    Tables are kept in a file inside a private folder, so they may be larger than memory. The folder is
    removed when the interpreter ends. The database loads no extensions, and its settings cannot be changed.

    Parameters
    ----------
    memory_limit : memory that DuckDB may use, in its own notation (``"2GB"``, ``"500MB"``).
    threads : number of threads; ``None`` uses every core.
    spill : folder in which the private folder is made; ``None`` uses the system's temporary folder.
    inputs : files and folders that may be read; the database can open nothing else, and it writes only into
        its own folder. ``None`` sets no such limit.

    Examples
    --------
    >>> con = connect(memory_limit="500MB", threads=1)
    >>> con.execute("SELECT current_setting('TimeZone')").fetchone()
    ('UTC',)
    """
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise ValueError(f"threads must be a whole number of at least 1 or None, got {threads!r}")
    if spill is not None and not Path(spill).is_dir():
        raise ValueError(f"spill must be an existing folder, got {os.fspath(spill)!r}")
    folder = TemporaryFolder(spill)
    atexit.register(folder.close)
    try:
        con = _open(folder.path / "work.duckdb", memory_limit, threads)
        con.execute("SET preserve_insertion_order = true")  # the order of rows is the order of lines
        con.execute(f"SET disabled_optimizers = '{_DISABLED_OPTIMIZERS}'")
        con.execute("PRAGMA disable_checkpoint_on_shutdown")  # the file is deleted with the process
        _lock(con, folder.path, inputs)
    except BaseException:
        folder.close()
        raise
    return con


@contextmanager
def scratch(*files: str | os.PathLike[str], memory_limit: str = "2GB") -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that may open these files or folders and its own folder, and nothing else."""
    with (
        TemporaryFolder() as folder,
        contextlib.closing(_open(":memory:", memory_limit, 1, folder.path)) as con,
    ):
        _lock(con, folder.path, files)
        yield con


def _open(
    database: str | Path, memory_limit: str, threads: int | None, folder: Path | None = None
) -> duckdb.DuckDBPyConnection:
    with naming_extras():
        import duckdb

    refused = f"memory_limit must read like '2GB', got {memory_limit!r}"
    if not str(memory_limit).strip()[:1].isdigit():  # DuckDB takes a negative limit, or none, for no limit
        raise ValueError(refused)
    con = duckdb.connect(str(database))
    try:
        con.execute("SET memory_limit = ?", [memory_limit])
    except duckdb.Error as error:
        con.close()
        raise ValueError(refused) from error
    folder = folder or Path(database).parent
    con.execute("SET temp_directory = ?", [str(folder / "spill")])
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    # In a notebook without ipywidgets DuckDB has no bar to switch off, and refuses to be told so.
    with contextlib.suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    if threads is not None:
        con.execute(f"SET threads = {threads:d}")
    return con


def _lock(
    con: duckdb.DuckDBPyConnection, folder: Path, inputs: Iterable[str | os.PathLike[str]] | None
) -> None:
    """Forbid extensions, files other than these, and changes of settings."""
    con.execute("SET autoinstall_known_extensions = false")
    con.execute("SET autoload_known_extensions = false")
    con.execute("SET allow_community_extensions = false")
    if inputs is not None:
        folders, files = {str(folder)}, set[str]()
        for path in inputs:
            # DuckDB checks the path as it is written, the pattern that stands for it, and where links lead.
            names = {str(path), str(Path(path).absolute()), str(Path(path).resolve())}
            names |= {escape_wildcards(name) for name in names}
            (folders if Path(path).is_dir() else files).update(names)
        con.execute("SET allowed_paths = ?", [sorted(files)])
        con.execute("SET allowed_directories = ?", [sorted(folders)])
        con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def private_folder(con: duckdb.DuckDBPyConnection) -> Path:
    """Return the folder of a connection made here; the system's temporary folder for any other."""
    [(spill,)] = con.execute("SELECT current_setting('temp_directory')").fetchall()
    folder = Path(str(spill)).parent
    return folder if folder.is_absolute() and folder.is_dir() else Path(tempfile.gettempdir())


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run all statements inside, or none."""
    con.execute("BEGIN")
    try:
        yield
    except BaseException:
        con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")
