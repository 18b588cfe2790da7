"""Read GBFS, MDS and CSV status into tables `status` and `vehicles`."""

import duckdb

from unmet.mobility.readers import _driver
from unmet.mobility.readers._clock import check_zone, to_utc
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._driver import Progress
from unmet.mobility.readers._duplicates import drop_repeated
from unmet.mobility.readers._quick import odd_text, stop_at
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._report import StatusReport
from unmet.mobility.readers._sources import MAX_BYTES, Paths, Source
from unmet.mobility.readers._stamps import (
    EARLIEST,
    LATEST,
    absolute_time,
    guess,
    plain_time,
    posix_time,
    years_of,
)
from unmet.mobility.readers._tables import (
    TABLES,
    count,
    ensure_tables,
    new_rejects,
    quote,
    replace_rejects,
    transaction,
)
from unmet.mobility.readers._trip_rows import cell

_EXTRA = "line BIGINT, source_number INTEGER, reason VARCHAR"
# Columns that only feeds of vehicles fill; even an empty column costs time in a large table.
_OF_VEHICLES = "vehicle_id VARCHAR, lat DOUBLE, lng DOUBLE, state VARCHAR, event VARCHAR"
_MOST = 1_000_000


def read_status(
    con: duckdb.DuckDBPyConnection,
    paths: Paths,
    *,
    zone: str | None = None,
    times: str = "local",
    max_reject_share: float = 0.5,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> StatusReport:
    """Read what could be rented, where and when, into tables ``status`` and ``vehicles``, which are replaced.

    ``status`` has one row per place and time: from GBFS ``station_status`` (versions 1 to 3), as
    single snapshots or folders of them, and from CSV files of status events. A place that is not installed
    neither rents nor takes back. ``vehicles`` has one row per vehicle and time: from ``free_bike_status``,
    ``vehicle_status`` and MDS status changes. Items that make no sense go to ``rejects``.

    Parameters
    ----------
    zone, times : as for :func:`read_trips`; only for CSV files whose stamps are clock times, not POSIX.
    max_reject_share : a larger share of rejected rows stops the reading.
    max_bytes, progress : as for :func:`read_trips`.
    """
    check_zone(zone, times)
    ensure_tables(con)
    new_rejects(con)
    con.execute(f"CREATE OR REPLACE TABLE new_status({TABLES['status']}, {_EXTRA})")

    def insert(relation: Relation, layout: Layout, source: Source, number: int) -> int:
        local = times == "local" and layout.format.times != "utc"
        samples = [row[layout.positions["at"][0]] for row in relation.samples]
        if local and zone is None and guess(samples) is not None:
            raise ValueError(
                f"{source.name} has local times: say where with zone='America/New_York' or the like, "
                "or times='utc' if they are UTC"
            )
        vehicles = "vehicle_id" in layout.positions
        for column in _OF_VEHICLES.split(", ") if vehicles else ():
            con.execute(f"ALTER TABLE new_status ADD COLUMN IF NOT EXISTS {column}")
        names = _listed(f"{TABLES['status']}, {_EXTRA}" + (f", {_OF_VEHICLES}" if vehicles else ""))
        sql = _sql(relation, layout, zone if local else None, number)
        return count(con, f"INSERT INTO new_status({names}) {sql}")

    run = _driver.Reading(con, "status", "new_status", insert, max_bytes, None, progress)
    try:
        run.run(paths)
        run.check_sums()
        run.check_share(max_reject_share)
        reasons = run.reasons()
        con.execute(f"CREATE OR REPLACE TABLE new_vehicles({TABLES['vehicles']})")
        if "vehicle_id" in [row[0] for row in con.execute("DESCRIBE new_status").fetchall()]:
            con.execute(
                f"INSERT INTO new_vehicles SELECT DISTINCT {_listed(TABLES['vehicles'])} FROM new_status "
                "WHERE vehicle_id IS NOT NULL ORDER BY ALL"
            )
            con.execute("DELETE FROM new_status WHERE vehicle_id IS NOT NULL")
        drop_repeated(con)
        for item in f"{_EXTRA}, {_OF_VEHICLES}".split(", "):
            con.execute(f"ALTER TABLE new_status DROP COLUMN IF EXISTS {item.split()[0]}")
        with transaction(con):
            for name in ("status", "vehicles"):
                con.execute(f"DROP TABLE {name}")
                con.execute(f"ALTER TABLE new_{name} RENAME TO {name}")
            replace_rejects(con, "status")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the status: {' '.join(str(error).split())[:300]}") from error
    finally:
        con.execute("DROP TABLE IF EXISTS new_status")
        con.execute("DROP TABLE IF EXISTS new_vehicles")
        con.execute("DROP TABLE IF EXISTS new_rejects")
    return _report(con, run, reasons)


def _listed(columns: str) -> str:
    """Names of declared columns."""
    return ", ".join(item.split()[0] for item in columns.split(", "))


def _truth(text: str, quick: bool) -> str:
    if quick:
        return f"CASE WHEN {text} = 1 THEN true WHEN {text} = 0 THEN false END"
    return (
        f"CASE WHEN lower({text}) IN ('1', 'true', 't', 'yes', '1.0') THEN true "
        f"WHEN lower({text}) IN ('0', 'false', 'f', 'no', '0.0') THEN false END"
    )


def _sql(relation: Relation, layout: Layout, zone: str | None, number: int) -> str:
    fields = [
        "place",
        "at",
        "available",
        "docks",
        "renting",
        "returning",
        "installed",
        "vehicle_id",
        "lat",
        "lng",
        "state",
        "event",
    ]
    quick = relation.quick
    texts = ", ".join(f"{cell(layout, name, quick)} AS {name}_text" for name in fields)
    samples = [row[layout.positions["at"][0]] for row in relation.samples]
    form = guess(samples)
    counts = ", ".join(f"try_cast({name}_text AS DOUBLE) AS {name}_number" for name in ("available", "docks"))
    flags = ", ".join(
        f"{_truth(f'{name}_text', quick)} AS {name}_flag" for name in ("renting", "returning", "installed")
    )
    own = layout.positions.get("source_number")  # rows of many snapshots each carry their source
    level_1 = (
        f"SELECT line, {f'c{own[0]}::INTEGER' if own else number} AS number, {texts} FROM ({relation.sql})"
    )
    # Each form is tried only where the ones before it fail: a file of POSIX seconds costs one cast.
    plain = f"CASE WHEN at_posix IS NULL THEN {plain_time('at_text', form, False)} END"
    level_2 = (
        f"SELECT *, {plain} AS at_plain FROM (SELECT *, {posix_time('at_text')} AS at_posix FROM ({level_1}))"
    )
    changed = "at_plain" if zone is None else to_utc("at_plain", zone, years_of(samples))
    moment = f"coalesce(at_posix, {changed}, {absolute_time('at_text')})"
    if quick:
        level_2, moment = level_1, posix_time("at_text")
    level_3 = f"SELECT *, {moment} AS moment, {counts}, {flags} FROM ({level_2})"
    own_columns = (
        ", vehicle_id_text, try_cast(lat_text AS DOUBLE), try_cast(lng_text AS DOUBLE), "
        "state_text, event_text"
        if "vehicle_id" in layout.positions
        else ""
    )
    return f"""
        SELECT coalesce(a.place, place_text), moment, try_cast(available_number AS INTEGER),
            try_cast(docks_number AS INTEGER),
            coalesce(renting_flag, true) AND coalesce(installed_flag, true),
            coalesce(returning_flag, true) AND coalesce(installed_flag, true),
            line, number, {_reason("vehicle_id" in layout.positions, quick)}{own_columns}
        FROM ({level_3}) AS rows LEFT JOIN station_ids AS a ON a.id = place_text
    """


def _reason(vehicles: bool, quick: bool) -> str:
    checks = [
        ("at_text IS NULL", "no time"),
        ("try_cast(at_text AS BIGINT) BETWEEN 631152000000 AND 4102444799999", "time is in milliseconds"),
        ("moment IS NULL", "time not understood"),
        (f"moment < {EARLIEST} OR moment >= {LATEST}", "time outside 1990-2100"),
    ]
    if not vehicles:
        checks += [
            ("place_text IS NULL", "no station id"),
            ("available_text IS NULL", "no number of vehicles"),
        ]
        for name, words in (("available", "number of vehicles"), ("docks", "number of docks")):
            number = f"{name}_number"
            checks += [
                (f"{name}_text IS NOT NULL AND {number} IS NULL", f"{words} is not a number"),
                (f"{number} < 0", f"{words} is negative"),
                (f"NOT {number} <= {_MOST}", f"{words} is absurdly large"),
                (f"{number} <> floor({number})", f"{words} is not whole"),
            ]
        checks += [
            (f"{name}_text IS NOT NULL AND {name}_flag IS NULL", f"is_{name} is neither true nor false")
            for name in ("renting", "returning", "installed")
        ]
    if quick:
        return stop_at([*(test for test, _ in checks), odd_text("place_text")])
    return "CASE " + " ".join(f"WHEN {test} THEN {quote(words)}" for test, words in checks) + " END"


def _report(con: duckdb.DuckDBPyConnection, run: _driver.Reading, reasons: dict[str, int]) -> StatusReport:
    found = con.execute('SELECT min("at"), max("at"), count(*), count(DISTINCT place) FROM status').fetchone()
    assert found is not None
    vehicles = count(con, "SELECT count(*) FROM vehicles")
    first, last = found[:2]
    if first is None:
        span = con.execute('SELECT min("at"), max("at") FROM vehicles').fetchone()
        assert span is not None
        first, last = span
    unmapped: list[tuple] = []
    if count(con, "SELECT count(*) FROM stations"):
        unmapped = con.execute(
            "SELECT DISTINCT place FROM status WHERE place NOT IN (SELECT place FROM stations) ORDER BY 1"
        ).fetchall()
    accepted = sum(file.accepted for file in run.files)
    return StatusReport(
        files=tuple(run.files),
        reasons=reasons,
        notes=tuple(run.notes),
        first=first,
        last=last,
        duplicates=accepted - found[2] - vehicles,
        rows=found[2],
        vehicles=vehicles,
        places=found[3],
        unmapped=tuple(row[0] for row in unmapped),
    )
