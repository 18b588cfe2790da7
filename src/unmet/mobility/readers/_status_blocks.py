"""Status records of a plain file: numbers by arithmetic on their digits, stations by code."""

import duckdb
import numpy as np

from unmet.mobility.readers._blocks import Block, Uneven
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Pairs, Proof
from unmet.mobility.readers._frame import Columns, Texts, insert_blocks
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._quick import even_text, stop_unless
from unmet.mobility.readers._recognise import Layout

_EARLIEST, _LATEST = 631_152_000, 4_102_444_799  # POSIX seconds of 1990 and 2100
_DIGITS = 6  # of a number of vehicles or docks


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
    codes = Codes(where["place"], where["place"], names, "station")
    flags = [name for name in ("renting", "returning", "installed") if name in where]

    pairs = Pairs()
    lines = 1

    def parse(block: Block) -> Columns:
        nonlocal lines
        at = block.whole(where["at"], 10)
        if len(at) and (at.min() < _EARLIEST or at.max() > _LATEST):
            raise Uneven("a time that nobody believes")
        # Of several records of one moment the last line counts.
        line = np.arange(lines + 1, lines + 1 + block.rows)
        lines += block.rows
        code = codes.of(block)
        pairs.add(code, at)
        found = {"station": codes.shared[code], "at": at, "line": line}
        for name in ("available", "docks"):
            if name in where:
                found[name] = block.whole(where[name], _DIGITS).astype(np.int32)
        for name in flags:
            found[name] = block.bytes_of(where[name]) ^ np.uint8(ord("0"))
            if len(at) and found[name].max() > 1:
                raise Uneven("neither 0 nor 1")
            found[name] = found[name].view(bool)
        return found

    def flag(name: str) -> str:
        return " AND ".join(f'f."{part}"' for part in (name, "installed") if part in where) or "true"

    column = f"c{where['place']}"
    sound = stop_unless([f"{column} IS NOT NULL", even_text(column)])
    select = (
        f"SELECT number, coalesce(ids.place, {column}) "
        f"FROM {{cells}} LEFT JOIN station_ids AS ids ON ids.id = {column} WHERE {sound} IS NULL"
    )
    texts = Texts(con, "new_status_stations", codes, select, relation.plain.delimiter)
    docks = "docks" if "docks" in where else "NULL"
    sql = f"""
        INSERT INTO new_status_rows
        SELECT station, make_timestamp(f."at" * 1000000), available, {docks},
               {flag("renting")}, {flag("returning")}, f.line, {number}
        FROM _frame AS f"""

    def insert() -> str:
        texts.update()
        return sql

    rows = insert_blocks(con, relation.plain, len(layout.header), parse, insert)
    if rows > 0:
        places = con.execute(
            "SELECT any_value(place) FROM new_status_stations "
            "WHERE station IN (SELECT unnest(?::INTEGER[])) GROUP BY station",
            [codes.shared.tolist()],
        ).fetchall()
        proof.add(pairs, [place for (place,) in places])
    return rows
