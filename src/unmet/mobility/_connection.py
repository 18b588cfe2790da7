"""One DuckDB connection with a memory limit, a spill folder and UTC as its clock."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


def connect(
    memory_limit: str = "2GB",
    threads: int | None = None,
    spill: str | os.PathLike[str] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open the database in which trips, status, stations and the panel live.

    Tables are kept in a file inside a private folder, so that they may be larger than memory; the folder
    is removed when the interpreter ends.

    Parameters
    ----------
    memory_limit : what DuckDB may hold in memory, in its own notation (``"2GB"``, ``"500MB"``).
    threads : number of threads; ``None`` takes DuckDB's choice (every core).
    spill : folder in which the private folder is made; ``None`` takes the system's temporary folder.

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
    folder = Path(tempfile.mkdtemp(prefix="unmet-", dir=spill))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    con = duckdb.connect(str(folder / "work.duckdb"))
    try:
        con.execute("SET memory_limit = ?", [memory_limit])
    except duckdb.Error as error:
        con.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise ValueError(f"memory_limit must read like '2GB', got {memory_limit!r}") from error
    con.execute("SET temp_directory = ?", [str(folder / "spill")])
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET preserve_insertion_order = true")  # the order of rows is the order of lines
    con.execute("SET enable_progress_bar = false")
    con.execute("PRAGMA disable_checkpoint_on_shutdown")  # the file goes with the process
    if threads is not None:
        con.execute(f"SET threads = {threads:d}")
    return con


def spill_folder(con: duckdb.DuckDBPyConnection) -> Path | None:
    """The folder beside the spill files of a connection; ``None`` where it has no such place."""
    row = con.execute("SELECT current_setting('temp_directory')").fetchone()
    folder = Path(str(row[0])).parent if row and row[0] else None
    return folder if folder is not None and folder.is_absolute() and folder.is_dir() else None


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of the statements inside, or none."""
    con.execute("BEGIN")
    try:
        yield
    except BaseException:
        con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")
