"""Insert the status records of a plain file, parsed in blocks, with stations by number."""

import duckdb

from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Proof
from unmet.mobility.readers._frame import Texts, insert_parts
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._quick import even_text, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._status_parser import StatusParser


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
