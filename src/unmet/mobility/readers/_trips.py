"""Read trip files of any known layout into table `trips`."""

import threading
from collections.abc import Mapping, Sequence

import duckdb

from unmet.mobility.readers import _driver
from unmet.mobility.readers._clock import Doubtful, check_zone, resolve
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._driver import Progress
from unmet.mobility.readers._duplicates import drop_duplicates
from unmet.mobility.readers._recognise import Layout, check_columns, plain
from unmet.mobility.readers._report import TripsReport
from unmet.mobility.readers._sources import MAX_BYTES, Paths, Source
from unmet.mobility.readers._staging import Staging
from unmet.mobility.readers._stamps import guess, years_of
from unmet.mobility.readers._tables import (
    count,
    ensure_tables,
    new_rejects,
    replace_rejects,
)
from unmet.mobility.readers._trip_blocks import Shared, insert_trips
from unmet.mobility.readers._trip_rows import EXTRA, KEPT, Reading, length_flag, trip_sql
from unmet.tables import literal, transaction

Keep = Mapping[str, str | Sequence[str]]
_DOUBLED = """
    SELECT source_number, line, local_start, local_end, seconds FROM new_trips
    WHERE local_start IS NOT NULL ORDER BY source_number, line"""


def read_trips(
    con: duckdb.DuckDBPyConnection,
    paths: Paths,
    *,
    zone: str | None = None,
    times: str = "local",
    columns: dict[str, str] | None = None,
    keep: Keep | None = None,
    max_reject_share: float = 0.01,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> TripsReport:
    """Read trips into table ``trips``, which is replaced, and what cannot be read into ``rejects``.

    Files are recognised by their header, whatever their name: CSV, gzip, zip, Parquet, MDS JSON; a file,
    several, or a folder. Every line is accepted, rejected with a reason, or a header. If anything stops the
    reading, the tables are as before. Of plain files alone ``trips`` is a view, which can be read only.

    Parameters
    ----------
    con : from :func:`unmet.mobility.connect`.
    zone : the local zone, such as ``"America/New_York"``; needed where stamps are local.
    times : how stamps without a zone are written, ``"local"`` or ``"utc"``. A stamp that carries Z or an
        offset, and a header that promises UTC, speak for themselves.
    columns : for other layouts, field → column: ``{"start": "Departure", "station": "From"}``.
    keep : column → value or values to keep, such as ``{"landmark": "San Francisco"}``. The column is looked
        for in the trip file, then among the attributes of the stations (read those first), where it speaks
        of the station at which a ride starts.
    max_reject_share : a larger share of rejected rows stops the reading.
    max_bytes : a source that is larger when uncompressed is refused.
    progress : called with (name of the source, sources done, sources in all).

    Notes
    -----
    A local time in the hour that occurs twice is resolved by the seconds ridden, then by the order of lines,
    else taken as the first occurrence (see :func:`unmet.mobility.readers._clock.resolve`).
    """
    check_zone(zone, times)
    mapping = check_columns(columns)
    wanted = _check_keep(keep)
    ensure_tables(con)
    new_rejects(con)
    staging = Staging(con, "trips", KEPT, EXTRA)
    con.execute("CREATE OR REPLACE TEMP TABLE kept_places(place VARCHAR)")
    formats: list[str] = []
    lock = threading.Lock()
    shared = Shared()
    reconcile = bool(count(con, "SELECT count(*) FROM station_ids"))

    def insert(
        con: duckdb.DuckDBPyConnection, relation: Relation, layout: Layout, source: Source, number: int
    ) -> int:
        if relation.quick and wanted:
            return -1  # values to keep are compared as text
        with lock:
            if layout.format.name not in formats:
                formats.append(layout.format.name)
        local = times == "local" and layout.format.times != "utc"
        by_column = {name: values for name, values in wanted.items() if layout.column(name) is not None}
        others = {name: values for name, values in wanted.items() if name not in by_column}
        if others:
            _keep_places(con, others, source, layout)
        day_first = _day_first(con, relation, layout)
        reading = _reading(
            relation, layout, zone if local else None, day_first, by_column, bool(others), reconcile
        )
        if local and zone is None and reading.form is not None:
            raise ValueError(
                f"{source.name} has local times: say where with zone='America/New_York' or the like, "
                "or times='utc' if they are UTC"
            )
        kind = formats.index(layout.format.name)
        if relation.plain is not None:
            return insert_trips(con, relation, layout, reading, source.name, number, shared)
        shared.proof.give_up()
        shared.doubled.pop(number, None)
        sql = trip_sql(relation.sql, layout, reading, source.name, number, kind)
        return count(con, f"INSERT INTO new_trips {sql}")

    run = _driver.Reading(con, "trips", "new_trips", insert, max_bytes, mapping, progress)
    try:
        run.run(paths)
        run.check_sums(staging.unite())
        run.check_share(max_reject_share)
        left_out = 0
        if staging.mixed:
            for number, line, *ride in con.execute(_DOUBLED).fetchall():
                shared.doubled.setdefault(number, []).append((line, *ride))
            left_out = count(con, "DELETE FROM new_trips WHERE left_out")
        if zone is not None:
            _resolve_doubled(con, zone, staging.rows, shared.doubled)
        duplicates = 0 if shared.proof.holds() else drop_duplicates(con, staging.relation, staging.rows)
        reasons = run.reasons()
        with transaction(con):
            staging.replace()
            replace_rejects(con, "trips")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the trips: {' '.join(str(error).split())[:300]}") from error
    finally:
        staging.discard()
        con.execute("DROP TABLE IF EXISTS new_rejects")
        con.execute("DROP TABLE IF EXISTS kept_places")
    return _report(con, run, reasons, duplicates, left_out, zone)


def _check_keep(keep: Keep | None) -> dict[str, tuple[str, ...]]:
    result = {}
    for name, values in dict(keep or {}).items():
        chosen = (values,) if isinstance(values, str) else tuple(values)
        if not plain(name) or not chosen or not all(isinstance(value, str) for value in chosen):
            raise ValueError(f"keep must map a column to a text or texts, got {name!r}: {values!r}")
        result[name] = chosen
    return result


def _keep_places(
    con: duckdb.DuckDBPyConnection, wanted: dict[str, tuple[str, ...]], source: Source, layout: Layout
) -> None:
    """Fill ``kept_places`` with the stations that have all wanted attributes."""
    con.execute("DELETE FROM kept_places")
    parts = []
    for name, values in wanted.items():
        same = f"attribute = {literal(plain(name))}"
        if not count(con, f"SELECT count(*) FROM station_attributes WHERE {same}"):
            raise ValueError(
                f"keep: {name!r} is neither a column of {source.name} ({', '.join(layout.header)}) "
                "nor an attribute of the stations read before"
            )
        listed = ", ".join(literal(value) for value in values)
        parts.append(f"SELECT place FROM station_attributes WHERE {same} AND value IN ({listed})")
    con.execute("INSERT INTO kept_places " + " INTERSECT ".join(parts))


def _reading(
    relation: Relation,
    layout: Layout,
    zone: str | None,
    day_first: bool,
    keep: dict[str, tuple[str, ...]],
    keep_places: bool,
    reconcile: bool,
) -> Reading:
    where = layout.positions["start"]
    starts = [" ".join(row[index] for index in where) for row in relation.samples]
    form = guess(starts, day_first)
    return Reading(
        zone,
        day_first,
        form,
        years_of(starts),
        keep,
        keep_places,
        reconcile,
        relation.quick,
        relation.stamped,
    )


def _day_first(con: duckdb.DuckDBPyConnection, relation: Relation, layout: Layout) -> bool:
    """Whether stamps with slashes put the day first: where a first number proves it and no second does."""
    where = layout.positions["start"]
    if (
        relation.stamped
        or relation.plain
        or not any(row[where[0]].find("/") in (1, 2) for row in relation.samples)
    ):
        return False
    text = f"c{where[0]}"
    found = con.execute(
        f"SELECT max(try_cast(split_part({text}, '/', 1) AS INTEGER)), "
        f"max(try_cast(split_part({text}, '/', 2) AS INTEGER)) FROM ({relation.sql})"
    ).fetchone()
    return bool(found and found[0] is not None and 12 < found[0] <= 31 and (found[1] or 0) <= 12)


def _resolve_doubled(
    con: duckdb.DuckDBPyConnection, zone: str, rows: str, doubled: dict[int, list[Doubtful]]
) -> None:
    """Move rides in the hour that occurs twice to its second occurrence where that is meant."""
    moves = [
        f"({number}, {line}, {a.total_seconds():.0f}, {b.total_seconds():.0f})"
        for number, group in sorted(doubled.items())
        for line, (a, b) in resolve(group, zone).items()
    ]
    if not moves:
        return
    con.execute(
        "CREATE OR REPLACE TEMP TABLE moves AS SELECT * FROM (VALUES "
        + ", ".join(moves)
        + ") AS m(source_number, line, a, b)"
    )
    con.execute(
        f"UPDATE {rows} AS r SET started_at = started_at + to_seconds(m.a), "
        "ended_at = ended_at + to_seconds(m.b) FROM moves AS m "
        "WHERE r.source_number = m.source_number AND r.line = m.line"
    )
    con.execute(
        f"UPDATE {rows} AS r SET flag = CASE {length_flag('started_at', 'ended_at')} END FROM moves AS m "
        "WHERE r.source_number = m.source_number AND r.line = m.line "
        "AND (flag IS NULL OR flag NOT IN ('service', 'test-station'))"
    )
    con.execute("DROP TABLE moves")


def _report(
    con: duckdb.DuckDBPyConnection,
    run: _driver.Reading,
    reasons: dict[str, int],
    duplicates: int,
    left_out: int,
    zone: str | None,
) -> TripsReport:
    con.execute(  # one look at all rides
        "CREATE OR REPLACE TEMP TABLE starts AS SELECT start_place AS place, flag, count(*) AS rides, "
        "min(started_at) AS first, max(started_at) AS last FROM trips GROUP BY ALL"
    )
    flags = con.execute(
        "SELECT flag, sum(rides)::BIGINT FROM starts WHERE flag IS NOT NULL GROUP BY 1 ORDER BY 1"
    ).fetchall()
    unmapped = []
    if count(con, "SELECT count(*) FROM stations"):
        unmapped = con.execute(
            "SELECT place, sum(rides)::BIGINT FROM starts WHERE place NOT IN (SELECT place FROM stations) "
            "GROUP BY 1 ORDER BY 1"
        ).fetchall()
    found = con.execute("SELECT min(first), max(last) FROM starts").fetchone()
    assert found is not None
    con.execute("DROP TABLE starts")
    return TripsReport(
        files=tuple(run.files),
        reasons=reasons,
        notes=tuple(run.notes),
        first=found[0],
        last=found[1],
        duplicates=duplicates,
        left_out=left_out,
        flags=dict(flags),
        vehicles=count(con, "SELECT count(v) FROM (SELECT vehicle_id AS v FROM trips GROUP BY 1)"),
        unmapped=dict(unmapped),
        zone=zone,
    )
