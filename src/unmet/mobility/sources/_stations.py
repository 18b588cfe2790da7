"""Read stations, and make trips and status use one id for each station."""

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import StationsReport
from unmet.mobility.sources._duplicates import drop_repeated_records
from unmet.mobility.sources._encoding import check_encoding
from unmet.mobility.sources._files import MAX_BYTES, Paths
from unmet.mobility.sources._formats import FIELDS, Kind
from unmet.mobility.sources._reading import Choices, Destination, Progress, SourceReader
from unmet.mobility.sources._recognition import normalised
from unmet.mobility.sources._relation import Relation, Rows, reason_sql, too_long
from unmet.mobility.sources._tables import (
    begin_table,
    column_names,
    count,
    drop_new,
    ensure_tables,
    next_row,
    replace_rejects,
)
from unmet.tables import literal, transaction

_OTHER_IDS = ("short_name", "legacy_id", "external_id")
_RENAMED_AT_ONCE = 4_000_000  # rows; DuckDB holds changes in memory


def read_stations(
    con: Connection,
    paths: Paths,
    *,
    encoding: str | None = None,
    max_reject_share: float = 0.5,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> StationsReport:
    """Replace table ``stations``, and make trips and status use the same ids.

    Reads GBFS ``station_information`` (versions 1 to 3) and CSV or Parquet tables of stations. A station is
    identified by its ``station_id``. Its ``short_name``, ``legacy_id``, ``external_id`` and, if unique, its
    name are replaced by that id in trips and status, whether they are read before or after (table
    ``station_ids``). Unknown ids are kept and counted in the reports of trips and status. All other columns
    go to ``station_attributes``, for ``read_trips(keep=…)``.

    Parameters
    ----------
    max_reject_share : stop if a larger share of the rows is rejected.
    encoding, max_bytes, progress : as for :func:`read_trips`.
    """
    ensure_tables(con)
    more = "".join(f", {name} VARCHAR" for name in (*_OTHER_IDS, "attributes"))
    begin_table(con, "stations", more)
    try:
        choices = Choices(max_bytes=max_bytes, encoding=check_encoding(encoding))
        account = SourceReader(con, _Stations(), choices).read(paths, progress)
        account.check(count(con, "SELECT count(*) FROM new_stations"), max_reject_share)
        repeated = _drop_repeated(con)
        if repeated:
            account.notes.append(f"{repeated:,} rows repeat a station; the last row of each is used")
        reasons = account.reasons()
        with transaction(con):
            con.execute("DELETE FROM stations")
            con.execute(
                "INSERT INTO stations SELECT place, name, lat, lng, capacity FROM new_stations ORDER BY place"
            )
            account.notes += _map_ids(con)
            _keep_attributes(con)
            renamed = use_station_ids(con, "trips", ("start_place", "end_place"))
            renamed += use_station_ids(con, "vehicles", ("place",))
            renamed_records = use_station_ids(con, "status", ("place",))
            if renamed_records:  # two ids of a station may both have a record of the same time
                drop_repeated_records(con, "status")
            replace_rejects(con, "stations")
    except duckdb.Error as error:
        raise ValueError(
            f"DuckDB could not read the stations: {' '.join(str(error).split())[:300]}"
        ) from error
    finally:
        drop_new(con, "stations", "rejects")
    return StationsReport(
        files=tuple(account.files),
        reasons=reasons,
        notes=tuple(account.notes),
        stations=count(con, "SELECT count(*) FROM stations"),
        ids=count(con, "SELECT count(*) FROM station_ids"),
        renamed=renamed + renamed_records,
    )


def use_station_ids(con: Connection, table: str, columns: tuple[str, ...]) -> int:
    """Replace other ids of stations in a table by their ``station_id``; return how many were replaced."""
    renamed = 0
    end = next_row(con, table)
    for column in columns:
        found = f"SELECT {column} AS id FROM {table} GROUP BY 1"
        if not count(con, f"SELECT count(*) FROM ({found}) SEMI JOIN station_ids USING (id)"):
            continue
        for low in range(0, end, _RENAMED_AT_ONCE):
            renamed += count(
                con,
                f"UPDATE {table} SET {column} = m.place FROM station_ids AS m WHERE {table}.{column} = m.id "
                f"AND {table}.rowid BETWEEN {low} AND {low + _RENAMED_AT_ONCE - 1}",
            )
    return renamed


class _Stations(Destination):
    """How stations are read."""

    kind: Kind = "stations"
    tables = ("new_stations",)

    def rows(self, relation: Relation, source: str, day_first: bool) -> Rows:
        columns = ", ".join((column_names("stations"), *_OTHER_IDS, "attributes"))
        return Rows("new_stations", columns, lambda selected: _station_rows(selected, relation))


def _station_rows(selected: str, relation: Relation) -> str:
    """Return SQL for the stations, one row for each row of `selected`."""
    if "attributes" in relation.layout.positions:
        attributes = relation.raw("attributes")
    else:
        pairs = ", ".join(
            f"{literal(normalised(name) or name)} || chr(31) || trim(c{index})"
            for index, name in enumerate(relation.layout.header)
        )
        attributes = f"concat_ws(chr(30), {pairs})"
    fields = ", ".join(f"{relation.text(name)} AS {name}_text" for name in FIELDS["stations"])
    texts = f"SELECT line, {fields}, {attributes} AS attributes FROM ({selected})"
    numbers = (
        "try_cast(lat_text AS DOUBLE) AS lat, try_cast(lng_text AS DOUBLE) AS lng, "
        "try_cast(capacity_text AS DOUBLE) AS capacity_number"
    )
    docks = "capacity_number"
    checks = [
        ("place_text IS NULL", "no station id"),
        too_long("place_text", "name_text", *(f"{name}_text" for name in _OTHER_IDS)),
        ("lat_text IS NULL OR lng_text IS NULL", "no lat and lon"),
        ("lat IS NULL OR NOT abs(lat) <= 90", "lat is not a latitude"),
        ("lng IS NULL OR NOT abs(lng) <= 180", "lon is not a longitude"),
        (f"capacity_text IS NOT NULL AND {docks} IS NULL", "capacity is not a number"),
        (f"NOT {docks} BETWEEN 0 AND 1000000 OR {docks} <> floor({docks})", "capacity makes no sense"),
    ]
    others = ", ".join(f"{name}_text AS {name}" for name in _OTHER_IDS)
    return f"""
        SELECT place_text AS place, name_text AS name, lat, lng, try_cast({docks} AS INTEGER) AS capacity,
            {others}, attributes, line, {reason_sql(checks)} AS reason, false AS left_out
        FROM (SELECT *, {numbers} FROM ({texts}))
    """


def _drop_repeated(con: Connection) -> int:
    before = count(con, "SELECT count(*) FROM new_stations")
    con.execute(
        "DELETE FROM new_stations WHERE rowid NOT IN (SELECT rowid FROM new_stations QUALIFY "
        "row_number() OVER (PARTITION BY place ORDER BY rowid DESC) = 1)"
    )
    return before - count(con, "SELECT count(*) FROM new_stations")


def _map_ids(con: Connection) -> list[str]:
    """Fill ``station_ids`` with every other id that belongs to exactly one station; return notes."""
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
    return [f"{unclear:,} ids belong to several stations and are ignored"] if unclear else []


def _keep_attributes(con: Connection) -> None:
    con.execute("DELETE FROM station_attributes")
    con.execute(
        r"""
        INSERT INTO station_attributes
        SELECT place, regexp_replace(lower(split_part(pair, chr(31), 1)), '[^\p{L}\p{N}\p{M}]+', '', 'g'),
            split_part(pair, chr(31), 2)
        FROM (SELECT place, unnest(string_split(attributes, chr(30))) AS pair FROM new_stations)
        ORDER BY ALL
        """
    )
