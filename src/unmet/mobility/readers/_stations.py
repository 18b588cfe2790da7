"""Read stations, and give every station one id in trips and status."""

import duckdb

from unmet.mobility.readers import _driver
from unmet.mobility.readers._coded import CODED
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._driver import Progress
from unmet.mobility.readers._duplicates import drop_repeated
from unmet.mobility.readers._recognise import Layout, plain
from unmet.mobility.readers._report import StationsReport
from unmet.mobility.readers._sources import MAX_BYTES, Paths, Source
from unmet.mobility.readers._staging import is_view
from unmet.mobility.readers._tables import (
    TABLES,
    count,
    ensure_tables,
    new_rejects,
    replace_rejects,
)
from unmet.mobility.readers._trip_rows import cell
from unmet.tables import literal, transaction

_EXTRA = (
    "short_name VARCHAR, legacy_id VARCHAR, external_id VARCHAR, attributes VARCHAR, line BIGINT, "
    "source_number INTEGER, reason VARCHAR"
)


def read_stations(
    con: duckdb.DuckDBPyConnection,
    paths: Paths,
    *,
    max_reject_share: float = 0.5,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> StationsReport:
    """Read stations into table ``stations``, which is replaced, and reconcile ids.

    Takes GBFS ``station_information`` (1 to 3) and CSV or Parquet tables of stations. A station's one id is
    its ``station_id``; ``short_name``, ``legacy_id``, ``external_id`` and a name that occurs once lead to it
    (table ``station_ids``). Trips and status read before or after use that one id; ids that lead nowhere
    stay as they are and are counted in their reports. Further columns are kept in ``station_attributes``
    for ``read_trips(keep=…)``.
    """
    ensure_tables(con)
    new_rejects(con)
    con.execute(f"CREATE OR REPLACE TABLE new_stations({TABLES['stations']}, {_EXTRA})")

    def insert(
        con: duckdb.DuckDBPyConnection, relation: Relation, layout: Layout, source: Source, number: int
    ) -> int:
        return count(con, f"INSERT INTO new_stations {_sql(relation, layout, number)}")

    run = _driver.Reading(con, "stations", "new_stations", insert, max_bytes, None, progress)
    try:
        run.run(paths)
        run.check_sums(count(con, "SELECT count(*) FROM new_stations WHERE reason IS NULL"))
        run.check_share(max_reject_share)
        repeated = _drop_repeated(con)
        if repeated:
            run.notes.append(f"{repeated:,} further rows for stations already read; the last one counts")
        reasons = run.reasons()
        with transaction(con):
            con.execute("DELETE FROM stations")
            con.execute(
                "INSERT INTO stations SELECT place, name, lat, lng, capacity FROM new_stations ORDER BY place"
            )
            run.notes += _map_ids(con)
            _keep_attributes(con)
            renamed = _rename(con)
            replace_rejects(con, "stations")
    except duckdb.Error as error:
        raise ValueError(
            f"DuckDB could not read the stations: {' '.join(str(error).split())[:300]}"
        ) from error
    finally:
        con.execute("DROP TABLE IF EXISTS new_stations")
        con.execute("DROP TABLE IF EXISTS new_rejects")
    return StationsReport(
        files=tuple(run.files),
        reasons=reasons,
        notes=tuple(run.notes),
        stations=count(con, "SELECT count(*) FROM stations"),
        ids=count(con, "SELECT count(*) FROM station_ids"),
        renamed=renamed,
    )


def _sql(relation: Relation, layout: Layout, number: int) -> str:
    fields = ["place", "name", "lat", "lng", "capacity", "short_name", "legacy_id", "external_id"]
    texts = ", ".join(f"{cell(layout, name)} AS {name}_text" for name in fields)
    if "attributes" in layout.positions:
        attributes = f"c{layout.positions['attributes'][0]}"
    else:
        pairs = ", ".join(
            f"{literal(plain(name) or name)} || chr(31) || trim(c{index})"
            for index, name in enumerate(layout.header)
        )
        attributes = f"concat_ws(chr(30), {pairs})"
    checks = [
        ("place_text IS NULL", "no station id"),
        ("lat_text IS NULL OR lng_text IS NULL", "no lat and lon"),
        ("lat IS NULL OR NOT abs(lat) <= 90", "lat is no latitude"),
        ("lng IS NULL OR NOT abs(lng) <= 180", "lon is no longitude"),
        ("capacity_text IS NOT NULL AND capacity IS NULL", "capacity is not a number"),
        ("NOT capacity BETWEEN 0 AND 1000000 OR capacity <> floor(capacity)", "capacity makes no sense"),
    ]
    reason = "CASE " + " ".join(f"WHEN {test} THEN {literal(words)}" for test, words in checks) + " END"
    level_1 = f"SELECT line, {texts}, {attributes} AS attributes FROM ({relation.sql})"
    level_2 = (
        "SELECT *, try_cast(lat_text AS DOUBLE) AS lat, try_cast(lng_text AS DOUBLE) AS lng, "
        f"try_cast(capacity_text AS DOUBLE) AS capacity FROM ({level_1})"
    )
    return f"""
        SELECT place_text, name_text, lat, lng, try_cast(capacity AS INTEGER),
            short_name_text, legacy_id_text, external_id_text, attributes, line, {number}, {reason}
        FROM ({level_2})
    """


def _drop_repeated(con: duckdb.DuckDBPyConnection) -> int:
    before = count(con, "SELECT count(*) FROM new_stations")
    con.execute(
        "DELETE FROM new_stations WHERE rowid NOT IN (SELECT rowid FROM new_stations QUALIFY "
        "row_number() OVER (PARTITION BY place ORDER BY source_number DESC, line DESC) = 1)"
    )
    return before - count(con, "SELECT count(*) FROM new_stations")


def _map_ids(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Fill ``station_ids`` with every other id that leads to exactly one station."""
    con.execute("DELETE FROM station_ids")
    con.execute(
        """
        CREATE OR REPLACE TEMP TABLE other_ids AS
        SELECT id, rank, min(place) AS place, count(DISTINCT place) AS places FROM (
            SELECT unnest([short_name, legacy_id, external_id, name]) AS id,
                unnest([1, 1, 1, 2]) AS rank, place FROM new_stations)
        WHERE id IS NOT NULL AND id NOT IN (SELECT place FROM new_stations)
        GROUP BY id, rank
        """
    )
    con.execute(
        "INSERT INTO station_ids SELECT id, place FROM other_ids WHERE places = 1 "
        "QUALIFY row_number() OVER (PARTITION BY id ORDER BY rank) = 1 ORDER BY id"
    )
    unclear = count(con, "SELECT count(*) FROM other_ids WHERE places > 1 AND rank = 1")
    con.execute("DROP TABLE other_ids")
    return [f"{unclear:,} ids stand for several stations and lead to none"] if unclear else []


def _keep_attributes(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("DELETE FROM station_attributes")
    con.execute(
        """
        INSERT INTO station_attributes
        SELECT place, regexp_replace(lower(split_part(pair, chr(31), 1)), '[^0-9a-z]+', '', 'g'),
            split_part(pair, chr(31), 2)
        FROM (SELECT place, unnest(string_split(attributes, chr(30))) AS pair FROM new_stations)
        ORDER BY ALL
        """
    )


def _rename(con: duckdb.DuckDBPyConnection) -> int:
    """Give rows that were read before the one id of their station."""
    renamed = 0
    for table, columns, texts in (
        ("trips", ("start_place", "end_place"), "trip_stops"),
        ("status", ("place",), "status_stations"),
        ("vehicles", ("place",), ""),
    ):
        coded = is_view(con, table)
        for column in columns:
            other = f"FROM {f'{table}, ' * coded}station_ids AS m WHERE {table}.{column} = m.id"
            change = "SELECT count(*)" if coded else f"UPDATE {table} SET {column} = m.place"
            renamed += count(con, f"{change} {other}")
        if coded and renamed:
            con.execute(
                f"UPDATE {texts} SET place = m.place FROM station_ids AS m WHERE {texts}.place = m.id"
            )
    if renamed and is_view(con, "status"):  # ids that are one station may have records of one moment
        drop_repeated(con, f"({CODED['status'].select(staging=True)})", "status_rows")
    return renamed
