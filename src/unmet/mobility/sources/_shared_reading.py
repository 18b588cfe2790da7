"""Read files by the workers of a cluster, one task each, into the store that the reader then takes them from.

Only rows go through the store. What concerns all files, such as repeated rides, is decided by the reader. A
file that a worker cannot read is left to the reader, which says what is wrong with it as it always does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.mobility.sources._store import ReadStore, Unit
from unmet.mobility.sources._tables import ensure_tables
from unmet.runs import Cluster, Keep, KeptTasks, Task
from unmet.tables import connect, literal_path, private_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from unmet.mobility.sources._reading import Destination, SourceReader

_STATIONS = ("stations", "station_ids", "station_attributes")


@dataclass(frozen=True)
class _Shared:
    """What the tasks of one reading share: how to read, the list of files, and what is known of stations."""

    again: Callable[[Connection], Destination]
    choices: Any
    units: list[Unit]
    stations: dict[str, bytes]
    store: Path
    memory: str


def read_elsewhere(
    reader: SourceReader,
    units: list[Unit],
    cluster: Cluster,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    """Read all units that are not in the store of `reader`, on a cluster."""
    store, again = reader.store, reader.destination.again
    if store is None or again is None:
        return
    todo = [number for number, unit in enumerate(units) if (reader, unit) not in store]
    if not todo:
        return
    names = [_name(units[number]) for number in todo]
    [(memory,)] = reader.con.execute("SELECT current_setting('memory_limit')").fetchall()
    shared = _Shared(again, reader.choices, _absolute(units), _stations(reader.con), store.folder, memory)
    tasks = [Task(f"reading {name}", number) for name, number in zip(names, todo)]
    kept = KeptTasks(cluster, _read, shared, tasks, "files")
    for done, _ in enumerate(kept.results()):
        if progress is not None:
            progress(names[done], done, len(units))
    kept.forget()


def _read(shared: _Shared, number: int, keep: Keep) -> None:
    """Read one unit in a worker."""
    files = [source.path for unit in shared.units for source in unit]
    with connect(memory_limit=shared.memory, threads=1, inputs=[*files, shared.store]) as con:
        ensure_tables(con)
        for name, content in shared.stations.items():
            part = private_folder(con) / f"{name}.parquet"
            part.write_bytes(content)
            con.execute(f"INSERT INTO {name} FROM read_parquet({literal_path(part)})")
        reader = _reader(con, shared)
        try:
            reader.read_unit(shared.units, number)
        except ValueError:
            return


def _reader(con: Connection, shared: _Shared) -> SourceReader:
    from unmet.mobility.sources._reading import SourceReader

    return SourceReader(con, shared.again(con), shared.choices, ReadStore(shared.store))


def _stations(con: Connection) -> dict[str, bytes]:
    """Return the tables that decide how trips are read, as Parquet files."""
    found = {}
    for name in _STATIONS:
        part = private_folder(con) / f"{name}.parquet"
        con.execute(f"COPY {name} TO {literal_path(part)} (FORMAT parquet)")
        found[name] = part.read_bytes()
        part.unlink()
    return found


def _absolute(units: list[Unit]) -> list[Unit]:
    """Return the units with paths that hold in any process; links keep their names, which are told."""
    return [tuple(replace(one, path=Path(os.path.abspath(one.path))) for one in unit) for unit in units]


def _name(unit: Unit) -> str:
    return unit[0].name + (f" and {len(unit) - 1} more" if len(unit) > 1 else "")
