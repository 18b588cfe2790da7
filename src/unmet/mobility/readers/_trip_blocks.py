"""Trips of a plain file: stamps by arithmetic on their digits, stations and vehicles by code."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import duckdb
import numpy as np

from unmet.mobility.readers._blocks import Block
from unmet.mobility.readers._clock import Doubtful
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Pairs, Proof
from unmet.mobility.readers._frame import Columns, Texts, insert_blocks
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._quick import STATION, even_text, run_of, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._stamp_blocks import check_years, local_times, to_utc
from unmet.mobility.readers._trip_rows import A_DAY, LIMITS, Reading, is_test

_EPOCH = datetime(1970, 1, 1)


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
    codes: dict[str, Codes] = {}
    for side in ("start", "end"):
        run = run_of(layout, side)
        assert run is not None
        fields = sorted(
            (name for name in STATION if f"{side}_{name}" in where), key=lambda n: where[f"{side}_{n}"]
        )
        codes[side] = Codes(*run, shared.names, delimiter.join(fields))
    if "vehicle" in where:
        codes["vehicle"] = Codes(where["vehicle"], where["vehicle"], shared.names, "vehicle")
    nobody = shared.names.numbers("vehicle", [b""])
    form, zone = str(reading.form), reading.zone
    twice: list[Doubtful] = []
    pairs = Pairs()
    lines = 1

    def parse(block: Block) -> Columns:
        nonlocal lines
        local = {side: local_times(block, where[side], form) for side in ("start", "end")}
        utc, doubled = local, None
        if zone is not None:
            changed = {side: to_utc(times, zone) for side, times in local.items()}
            utc = {side: times for side, (times, _) in changed.items()}
            for _, some in changed.values():
                if some is not None:
                    doubled = some if doubled is None else doubled | some
        for times in utc.values():
            check_years(times)
        line = np.arange(lines + 1, lines + 1 + block.rows)
        for row in np.flatnonzero(doubled).tolist() if doubled is not None else ():
            start, end = (_EPOCH + timedelta(microseconds=int(local[side][row])) for side in ("start", "end"))
            seconds = _number(block.text(row, where["seconds"])) if "seconds" in where else None
            twice.append((int(line[row]), start, end, seconds))
        lines += block.rows
        numbers = {name: found.of(block) for name, found in codes.items()}
        if "vehicle" in numbers:
            pairs.add(numbers["vehicle"], utc["start"])
        return {
            "start": utc["start"],
            "end": utc["end"],
            "start_stop": codes["start"].shared[numbers["start"]],
            "end_stop": codes["end"].shared[numbers["end"]],
            "vehicle": codes["vehicle"].shared[numbers["vehicle"]]
            if "vehicle" in numbers
            else np.repeat(nobody, block.rows),
            "line": line,
        }

    stops = [
        Texts(con, "new_trip_stops", codes[side], _stops_sql(where, side), delimiter)
        for side in ("start", "end")
    ]
    vehicles = (
        Texts(con, "new_trip_vehicles", codes["vehicle"], _vehicles_sql(where["vehicle"]), delimiter)
        if "vehicle" in codes
        else None
    )
    if vehicles is None:
        con.execute("INSERT INTO new_trip_vehicles VALUES (?, NULL)", nobody.tolist())
    con.execute("INSERT INTO new_trip_sources VALUES (?, ?)", [number, source])
    sql = ""

    def insert() -> str:
        nonlocal sql
        if vehicles is not None:
            vehicles.update()
        changed = [some.update() for some in stops]
        if any(changed):
            tests = con.execute("SELECT DISTINCT stop FROM new_trip_stops WHERE test ORDER BY 1").fetchall()
            sql = _sql([stop for (stop,) in tests], number)
        return sql

    rows = insert_blocks(con, relation.plain, len(layout.header), parse, insert)
    known = [text.decode() for text in codes["vehicle"].texts] if "vehicle" in codes else [""]
    if rows >= 0:
        if twice or "" in known:  # times will be changed, or nobody knows which vehicle it was
            shared.proof.give_up()
        shared.proof.add(pairs, known)
        shared.doubled[number] = twice
    return rows


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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


def _sql(tests: list[int], number: int) -> str:
    """SQL that inserts the rows of ``_frame``; `tests` are the stops at which no rider starts."""

    def is_test(side: str) -> str:
        return f"f.{side}_stop IN ({', '.join(map(str, tests))})" if tests else "false"

    return f"""
        INSERT INTO new_trip_rows
        SELECT f.vehicle, make_timestamp(f.start), make_timestamp(f."end"), f.start_stop, f.end_stop,
            CASE WHEN {is_test("start")} THEN 'test-station'
                 WHEN f."end" - f.start > {A_DAY} THEN 'over-a-day'
                 WHEN {is_test("end")} THEN 'test-station' WHEN f."end" < f.start THEN 'ends-before-start'
                 WHEN f."end" = f.start THEN 'zero-length' END,
            f.line, {number}
        FROM _frame AS f"""
