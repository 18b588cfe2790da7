"""Status records of a plain file: numbers by arithmetic on their digits, stations by code."""

import duckdb
import numpy as np

from unmet.mobility.readers._blocks import Block, Uneven
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Pairs, Proof
from unmet.mobility.readers._frame import Texts, insert_parts
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._quick import even_text, stop_unless
from unmet.mobility.readers._recognise import Layout

_EARLIEST, _LATEST = 631_152_000, 4_102_444_799  # POSIX seconds of 1990 and 2100
_DIGITS = 6  # of a number of vehicles or docks
_FLAGS = ("renting", "returning", "installed")


class StatusParser:
    """Columns of records: codes of stations, times, numbers and flags."""

    def __init__(self, where: dict[str, int]) -> None:
        """`where` gives the column of each field."""
        self._where = where
        self.codes = {"station": Codes(where["place"], where["place"])}
        self._pairs = Pairs()
        self._lines = 1

    def columns(self, block: Block) -> dict[str, np.ndarray]:
        """Columns of one block."""
        at = block.whole(self._where["at"], 10)
        if len(at) and (at.min() < _EARLIEST or at.max() > _LATEST):
            raise Uneven("a time that nobody believes")
        # Of several records of one moment the last line counts.
        line = np.arange(self._lines + 1, self._lines + 1 + block.rows)
        self._lines += block.rows
        code = self.codes["station"].of(block)
        self._pairs.add(code, at)
        found = {"station": code, "at": at, "line": line}
        for name in ("available", "docks"):
            if name in self._where:
                found[name] = block.whole(self._where[name], _DIGITS).astype(np.int32)
        flags = {name: self._flag(block, name) for name in _FLAGS if name in self._where}
        installed = flags.pop("installed", None)
        for name in ("renting", "returning"):
            flag = flags.get(name, installed)
            if flag is not None:
                found[name] = flag if installed is None else flag & installed
        return found

    def _flag(self, block: Block, name: str) -> np.ndarray:
        flag = block.bytes_of(self._where[name]) ^ np.uint8(ord("0"))
        if len(flag) and flag.max() > 1:
            raise Uneven("neither 0 nor 1")
        return flag.view(bool)

    def told(self) -> Pairs:
        """Whether a station has but one record at a time."""
        return self._pairs


def insert_status(
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    layout: Layout,
    number: int,
    names: Names,
    proof: Proof,
) -> int:
    """Insert the records of a plain file; returns how many, or -1 where it needs another way.

    Parameters
    ----------
    names : numbers of the stations.
    proof : learns that a place has one record at a time.
    """
    assert relation.plain is not None
    where = {name: columns[0] for name, columns in layout.positions.items()}
    parser = StatusParser(where)

    def flag(name: str) -> str:
        return f'f."{name}"' if name in where or "installed" in where else "true"

    column = f"c{where['place']}"
    sound = stop_unless([f"{column} IS NOT NULL", even_text(column)])
    select = (
        f"SELECT number, coalesce(ids.place, {column}) "
        f"FROM {{cells}} LEFT JOIN station_ids AS ids ON ids.id = {column} WHERE {sound} IS NULL"
    )
    stations = Texts(
        con,
        "new_status_stations",
        parser.codes["station"],
        names,
        "station",
        select,
        relation.plain.delimiter,
    )
    docks = "docks" if "docks" in where else "NULL"
    sql = f"""
        INSERT INTO new_status_rows
        SELECT station, make_timestamp(f."at" * 1000000), available, {docks},
               {flag("renting")}, {flag("returning")}, f.line, {number}
        FROM _frame AS f"""

    def insert() -> str:
        stations.update()
        return sql

    rows, pairs = insert_parts(con, relation.plain, len(layout.header), parser, {"station": stations}, insert)
    if rows > 0:
        places = con.execute(
            "SELECT any_value(place) FROM new_status_stations "
            "WHERE station IN (SELECT unnest(?::INTEGER[])) GROUP BY station",
            [stations.numbers.tolist()],
        ).fetchall()
        proof.add(pairs, [place for (place,) in places])
    return rows
