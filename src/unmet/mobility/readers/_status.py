"""Read GBFS, MDS and CSV status into tables `status` and `vehicles`."""

import duckdb

from unmet.mobility.readers import _driver
from unmet.mobility.readers._clock import check_zone
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._distinct import Proof
from unmet.mobility.readers._driver import Progress
from unmet.mobility.readers._duplicates import drop_repeated
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._report import StatusReport
from unmet.mobility.readers._sources import MAX_BYTES, Paths, Source
from unmet.mobility.readers._staging import Staging, names_of
from unmet.mobility.readers._stamps import guess
from unmet.mobility.readers._status_blocks import insert_status
from unmet.mobility.readers._status_rows import status_sql
from unmet.mobility.readers._tables import (
    TABLES,
    count,
    ensure_tables,
    new_rejects,
    replace_rejects,
)
from unmet.tables import transaction

_KEPT = "line BIGINT, source_number INTEGER"
_EXTRA = "reason VARCHAR"
# Columns that only feeds of vehicles fill; even an empty column costs time in a large table.
_OF_VEHICLES = "vehicle_id VARCHAR, lat DOUBLE, lng DOUBLE, state VARCHAR, event VARCHAR"


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
    ``vehicle_status`` and MDS status changes. Items that make no sense go to ``rejects``. Of plain CSV files
    alone ``status`` is a view, which can be read only.

    Parameters
    ----------
    zone, times : as for :func:`read_trips`; only for CSV files whose stamps are clock times, not POSIX.
    max_reject_share : a larger share of rejected rows stops the reading.
    max_bytes, progress : as for :func:`read_trips`.
    """
    check_zone(zone, times)
    ensure_tables(con)
    new_rejects(con)
    staging = Staging(con, "status", _KEPT, _EXTRA)
    names, proof = Names(), Proof()

    def insert(
        con: duckdb.DuckDBPyConnection, relation: Relation, layout: Layout, source: Source, number: int
    ) -> int:
        local = times == "local" and layout.format.times != "utc"
        samples = [row[layout.positions["at"][0]] for row in relation.samples]
        if local and zone is None and guess(samples) is not None:
            raise ValueError(
                f"{source.name} has local times: say where with zone='America/New_York' or the like, "
                "or times='utc' if they are UTC"
            )
        if relation.plain is not None:
            return insert_status(con, relation, layout, number, names, proof)
        proof.give_up()
        vehicles = "vehicle_id" in layout.positions
        for column in _OF_VEHICLES.split(", ") if vehicles else ():
            con.execute(f"ALTER TABLE new_status ADD COLUMN IF NOT EXISTS {column}")
        listed = _listed(f"{TABLES['status']}, {_KEPT}, {_EXTRA}" + (f", {_OF_VEHICLES}" if vehicles else ""))
        sql = status_sql(relation, layout, zone if local else None, number)
        return count(con, f"INSERT INTO new_status({listed}) {sql}")

    run = _driver.Reading(con, "status", "new_status", insert, max_bytes, None, progress)
    try:
        run.run(paths)
        run.check_sums(staging.unite())
        run.check_share(max_reject_share)
        reasons = run.reasons()
        con.execute(f"CREATE OR REPLACE TABLE new_vehicles({TABLES['vehicles']})")
        if "vehicle_id" in [row[0] for row in con.execute("DESCRIBE new_status").fetchall()]:
            con.execute(
                f"INSERT INTO new_vehicles SELECT DISTINCT {_listed(TABLES['vehicles'])} FROM new_status "
                "WHERE vehicle_id IS NOT NULL ORDER BY ALL"
            )
            con.execute("DELETE FROM new_status WHERE vehicle_id IS NOT NULL")
        if not proof.holds():
            drop_repeated(con, staging.relation, staging.rows)
        with transaction(con):
            staging.replace(_OF_VEHICLES)
            con.execute("DROP TABLE vehicles")
            con.execute("ALTER TABLE new_vehicles RENAME TO vehicles")
            replace_rejects(con, "status")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the status: {' '.join(str(error).split())[:300]}") from error
    finally:
        staging.discard()
        con.execute("DROP TABLE IF EXISTS new_vehicles")
        con.execute("DROP TABLE IF EXISTS new_rejects")
    return _report(con, run, reasons)


def _listed(columns: str) -> str:
    """Names of declared columns, as SQL wants them."""
    return ", ".join(f'"{name}"' for name in names_of(columns))


def _report(con: duckdb.DuckDBPyConnection, run: _driver.Reading, reasons: dict[str, int]) -> StatusReport:
    con.execute(  # one look at all records
        'CREATE OR REPLACE TEMP TABLE status_places AS SELECT place, min("at") AS first, max("at") AS last, '
        "count(*) AS rows FROM status GROUP BY place"
    )
    found = con.execute(
        "SELECT min(first), max(last), coalesce(sum(rows), 0)::BIGINT FROM status_places"
    ).fetchone()
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
            "SELECT place FROM status_places WHERE place NOT IN (SELECT place FROM stations) ORDER BY 1"
        ).fetchall()
    places = count(con, "SELECT count(place) FROM status_places")
    con.execute("DROP TABLE status_places")
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
        places=places,
        unmapped=tuple(row[0] for row in unmapped),
    )
