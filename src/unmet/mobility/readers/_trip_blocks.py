"""Trips of a plain file: stamps by arithmetic on their digits, stations and vehicles by code."""

from datetime import datetime, timedelta

import duckdb
import numpy as np

from unmet.mobility.readers._blocks import Block
from unmet.mobility.readers._clock import Doubtful
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Pairs, Proof
from unmet.mobility.readers._frame import Columns, Texts, insert_blocks
from unmet.mobility.readers._quick import STATION, even_text, run_of, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._stamp_blocks import check_years, local_times, to_utc
from unmet.mobility.readers._tables import quote
from unmet.mobility.readers._trip_rows import A_DAY, LIMITS, Reading, is_test

_EPOCH = datetime(1970, 1, 1)


def insert_trips(
    con: duckdb.DuckDBPyConnection,
    relation: Relation,
    layout: Layout,
    reading: Reading,
    source: str,
    number: int,
    proof: Proof,
    doubled: dict[int, list[Doubtful]],
) -> int:
    """Insert the trips of a plain file; returns how many, or -1 where it needs another way.

    What a line says about a station repeats from ride to ride: each distinct text is taken apart once.

    Parameters
    ----------
    proof : learns that a vehicle starts but once at a time.
    doubled : receives, under `number`, the rides in the hour that occurs twice.
    """
    assert relation.plain is not None
    where = {name: columns[0] for name, columns in layout.positions.items()}
    codes: dict[str, Codes] = {}
    for side in ("start", "end"):
        run = run_of(layout, side)
        assert run is not None
        codes[side] = Codes(*run)
    if "vehicle" in where:
        codes["vehicle"] = Codes(where["vehicle"], where["vehicle"])
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
        return {**{f"{name}_code": code for name, code in numbers.items()}, **utc, "line": line}

    texts = [
        Texts(con, f"_{name}_texts", found, _texts_sql(where, name), relation.plain.delimiter)
        for name, found in codes.items()
    ]

    sql = _sql("vehicle" in codes, source, number)

    def insert() -> str:
        for some in texts:
            some.update()
        return sql

    rows = insert_blocks(con, relation.plain, len(layout.header), parse, insert)
    for name in codes:
        con.execute(f"DROP TABLE IF EXISTS _{name}_texts")
    vehicles = [text.decode() for text in codes["vehicle"].texts] if "vehicle" in codes else [""]
    if rows >= 0:
        if twice or "" in vehicles:  # times will be changed, or nobody knows which vehicle it was
            proof.give_up()
        proof.add(pairs, vehicles)
        doubled[number] = twice
    return rows


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _texts_sql(where: dict[str, int], name: str) -> str:
    """SELECT over the distinct texts of a run; whatever the careful way would reject or change ends it."""
    if name == "vehicle":
        text = f"c{where['vehicle']}"
        sound = [even_text(text)]
        return f"SELECT code, {text}::VARCHAR AS vehicle, {stop_unless(sound)} AS reason FROM {{cells}}"

    def column(field: str, kind: str) -> str:
        found = where.get(f"{name}_{field}")
        return f"c{found}::{kind} AS {field}" if found is not None else f"NULL::{kind} AS {field}"

    cells = ", ".join(column(field, "DOUBLE" if field in ("lat", "lng") else "VARCHAR") for field in STATION)
    limits = {field: LIMITS[f"{name}_{field}"] for field in ("lat", "lng")}
    sound = [f"{field} IS NULL OR {field} BETWEEN -{most} AND {most}" for field, most in limits.items()]
    sound += [even_text(f"cells.{field}") for field in ("place", "name")]
    return f"""
        SELECT code, coalesce(ids.place, cells.place, name) AS place, lat, lng,
               coalesce({is_test("coalesce(name, cells.place)")}, false) AS test,
               {stop_unless(sound)} AS reason
        FROM (SELECT code, {cells} FROM {{cells}}) AS cells
        LEFT JOIN station_ids AS ids ON ids.id = coalesce(cells.place, name)"""


def _sql(vehicles: bool, source: str, number: int) -> str:
    """SQL that inserts the rows of ``_frame`` into the staging table."""
    return f"""
        INSERT INTO plain_trips
        SELECT NULL, {"v.vehicle" if vehicles else "NULL"}, make_timestamp(f.start), make_timestamp(f."end"),
            s.place, e.place, s.lat, s.lng, e.lat, e.lng,
            CASE WHEN s.test THEN 'test-station' WHEN f."end" - f.start > {A_DAY} THEN 'over-a-day'
                 WHEN e.test THEN 'test-station' WHEN f."end" < f.start THEN 'ends-before-start'
                 WHEN f."end" = f.start THEN 'zero-length' END,
            {quote(source)}, f.line, {number}
        FROM _frame AS f
        JOIN _start_texts AS s ON s.code = f.start_code JOIN _end_texts AS e ON e.code = f.end_code
        {"JOIN _vehicle_texts AS v ON v.code = f.vehicle_code" if vehicles else ""}"""
