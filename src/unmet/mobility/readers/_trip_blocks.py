"""Insert the trips of a plain file, parsed in blocks, with stations and vehicles by number."""

from dataclasses import dataclass, field

import duckdb

from unmet.mobility.readers._clock import Doubtful
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Proof
from unmet.mobility.readers._frame import Texts, insert_parts
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._quick import STATION, even_text, run_of, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._trip_parser import TripParser
from unmet.mobility.readers._trip_rows import A_DAY, LIMITS, Reading, is_test


@dataclass
class Shared:
    """What the plain files of one reading have in common, and what they tell."""

    names: Names = field(default_factory=Names)
    proof: Proof = field(default_factory=Proof)  # that a vehicle starts but once at a time
    doubled: dict[int, list[Doubtful]] = field(default_factory=dict)  # by the number of the source


def insert_trips(
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    layout: Layout,
    reading: Reading,
    source: str,
    number: int,
    shared: Shared,
) -> int:
    """Insert the trips of a plain file; returns how many, or -1 where it needs another way.

    What a line says about a station repeats from ride to ride: each distinct text is taken apart once.
    """
    assert relation.plain is not None
    where = {name: columns[0] for name, columns in layout.positions.items()}
    delimiter = relation.plain.delimiter
    runs = {}
    for side in ("start", "end"):
        run = run_of(layout, side)
        assert run is not None
        runs[f"{side}_stop"] = run
    if "vehicle" in where:
        runs["vehicle"] = (where["vehicle"], where["vehicle"])
    parser = TripParser(where, runs, str(reading.form), reading.zone)

    def texts_of(name: str, table: str, sort: str, select: str) -> Texts:
        return Texts(con, table, parser.codes[name], shared.names, sort, select, delimiter)

    texts = {}
    for side in ("start", "end"):
        held = {where[f"{side}_{name}"]: name for name in STATION if f"{side}_{name}" in where}
        sort = delimiter.join(held[column] for column in sorted(held))
        texts[f"{side}_stop"] = texts_of(f"{side}_stop", "new_trip_stops", sort, _stops_sql(where, side))
    [nobody] = shared.names.numbers("new_trip_vehicles", "vehicle", [b""]).tolist()
    if "vehicle" in where:
        select = _vehicles_sql(where["vehicle"])
        texts["vehicle"] = texts_of("vehicle", "new_trip_vehicles", "vehicle", select)
    else:
        con.execute("INSERT INTO new_trip_vehicles VALUES (?, NULL)", [nobody])
    con.execute("INSERT INTO new_trip_sources VALUES (?, ?)", [number, source])
    sql = ""

    def insert() -> str:
        nonlocal sql
        changed = [table.update() for table in texts.values()]
        if any(changed):
            tests = con.execute("SELECT DISTINCT stop FROM new_trip_stops WHERE test ORDER BY 1").fetchall()
            vehicle = "f.vehicle" if "vehicle" in where else str(nobody)
            sql = _sql([stop for (stop,) in tests], vehicle, number)
        return sql

    rows, told = insert_parts(con, relation.plain, len(layout.header), parser, texts, insert)
    if rows >= 0:
        twice, pairs = told
        known = [text.decode() for text in texts["vehicle"].texts] if "vehicle" in texts else [""]
        if twice or "" in known:  # times will be changed, or nobody knows which vehicle it was
            shared.proof.give_up()
        shared.proof.add(pairs, known)
        shared.doubled[number] = twice
    return rows


def _vehicles_sql(column: int) -> str:
    """SELECT over the distinct ids of vehicles; one that the careful way would change ends it."""
    text = f"c{column}"
    return f"SELECT number, {text} FROM {{cells}} WHERE {stop_unless([even_text(text)])} IS NULL"


def _stops_sql(where: dict[str, int], side: str) -> str:
    """SELECT over the distinct texts of a run; whatever the careful way would reject or change ends it."""

    def column(field: str, kind: str) -> str:
        found = where.get(f"{side}_{field}")
        return f"c{found}::{kind} AS {field}" if found is not None else f"NULL::{kind} AS {field}"

    cells = ", ".join(column(field, "DOUBLE" if field in ("lat", "lng") else "VARCHAR") for field in STATION)
    limits = {field: LIMITS[f"{side}_{field}"] for field in ("lat", "lng")}
    sound = [f"{field} IS NULL OR {field} BETWEEN -{most} AND {most}" for field, most in limits.items()]
    sound += [even_text(f"cells.{field}") for field in ("place", "name")]
    return f"""
        SELECT number, coalesce(ids.place, cells.place, name), lat, lng,
               coalesce({is_test("coalesce(name, cells.place)")}, false)
        FROM (SELECT number, {cells} FROM {{cells}}) AS cells
        LEFT JOIN station_ids AS ids ON ids.id = coalesce(cells.place, name)
        WHERE {stop_unless(sound)} IS NULL"""


def _sql(tests: list[int], vehicle: str, number: int) -> str:
    """SQL that inserts the rows of ``_frame``; `tests` are the stops at which no rider starts."""

    def is_test(side: str) -> str:
        return f"f.{side}_stop IN ({', '.join(map(str, tests))})" if tests else "false"

    return f"""
        INSERT INTO new_trip_rows
        SELECT {vehicle}, make_timestamp(f.start), make_timestamp(f."end"), f.start_stop, f.end_stop,
            CASE WHEN {is_test("start")} THEN 'test-station'
                 WHEN f."end" - f.start > {A_DAY} THEN 'over-a-day'
                 WHEN {is_test("end")} THEN 'test-station' WHEN f."end" < f.start THEN 'ends-before-start'
                 WHEN f."end" = f.start THEN 'zero-length' END,
            f.line, {number}
        FROM _frame AS f"""
