"""Read trip files of any known layout into table ``trips``."""

from collections.abc import Mapping, Sequence

import duckdb

from unmet.mobility.sources._account import Account, TripsReport
from unmet.mobility.sources._clock import Doubtful, check_times, doubled_in_utc, resolve
from unmet.mobility.sources._duplicates import drop_repeated_rides
from unmet.mobility.sources._files import MAX_BYTES, Paths
from unmet.mobility.sources._formats import Kind
from unmet.mobility.sources._layouts import check_columns, normalised
from unmet.mobility.sources._reading import Inserted, Progress, Rows, SourceReader
from unmet.mobility.sources._relation import Relation
from unmet.mobility.sources._stamps import guess, years_of
from unmet.mobility.sources._stations import use_station_ids
from unmet.mobility.sources._tables import (
    begin_table,
    column_names,
    count,
    drop_new,
    ensure_tables,
    replace_rejects,
    replace_table,
)
from unmet.mobility.sources._trip_rows import TripRules, length_flag, trip_rows
from unmet.tables import literal, transaction

Keep = Mapping[str, str | Sequence[str]]


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
    """Read trips into table ``trips``, and rows that cannot be read into table ``rejects``.

    Takes files and folders: CSV, gzip, zip, Parquet and MDS JSON. Files are recognised by their header, not
    by their name. Every line is a header, accepted, or rejected with a reason. Both tables are replaced once
    everything is read; after an error they are unchanged.

    Parameters
    ----------
    con : from :func:`unmet.mobility.connect`.
    zone : local time zone, such as ``"America/New_York"``; required if times are local.
    times : whether times without a zone are ``"local"`` or ``"utc"``. Times with Z or an offset are always
        understood, and so are columns whose header says UTC.
    columns : for an unknown layout, field → column: ``{"start": "Departure", "station": "From"}``.
    keep : column → value or values to keep, such as ``{"landmark": "San Francisco"}``. The column may be in
        the trip file, or in the stations file (read it first), where it describes the station at which a
        ride starts.
    max_reject_share : stop if a larger share of the rows is rejected.
    max_bytes : largest size of a source, uncompressed.
    progress : called with (name of the source, number of sources done, number of sources).

    Notes
    -----
    For local times in the hour that occurs twice, the duration of the ride decides, then the order of lines,
    else the first occurrence is assumed.
    """
    check_times(zone, times)
    mapping = check_columns(columns)
    destination = _Trips(con, zone, times, _check_keep(keep))
    ensure_tables(con)
    begin_table(con, "trips")
    con.execute("CREATE OR REPLACE TEMP TABLE kept_places(place VARCHAR)")
    try:
        reader = SourceReader(con, destination, mapping, tuple(destination.keep), max_bytes)
        account = reader.read(paths, progress)
        account.check(count(con, "SELECT count(*) FROM new_trips"), max_reject_share)
        use_station_ids(con, "new_trips", ("start_place", "end_place"))
        duplicates = drop_repeated_rides(con, destination.firsts)
        reasons = account.reasons()
        with transaction(con):
            replace_table(con, "trips")
            replace_rejects(con, "trips")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the trips: {' '.join(str(error).split())[:300]}") from error
    finally:
        drop_new(con, "trips", "rejects")
        con.execute("DROP TABLE IF EXISTS kept_places")
    return _report(con, account, reasons, duplicates, zone)


class _Trips:
    """How trips are read, and where the rows of each source start."""

    kind: Kind = "trips"

    def __init__(
        self, con: duckdb.DuckDBPyConnection, zone: str | None, times: str, keep: dict[str, tuple[str, ...]]
    ) -> None:
        self.con, self.zone, self.times, self.keep = con, zone, times, keep
        self.firsts: list[tuple[int, str]] = []  # first rowid and format of each source

    def rows(self, relation: Relation, source: str) -> Rows:
        layout = relation.layout
        local = self.times == "local" and layout.format.times != "utc"
        by_column = {name: values for name, values in self.keep.items() if layout.column(name) is not None}
        by_station = {name: values for name, values in self.keep.items() if name not in by_column}
        if by_station:
            _keep_places(self.con, by_station, source, relation)
        starts = relation.sampled("start")
        day_first = _day_first(self.con, relation)
        form = guess(starts, day_first)
        if local and self.zone is None and form is not None:
            raise ValueError(
                f"{source} has local times: give their zone, for instance zone='America/New_York', "
                "or times='utc' if they are UTC"
            )
        zone = self.zone if local else None
        rules = TripRules(zone, day_first, form, years_of(starts), by_column, bool(by_station))
        return Rows(
            "new_trips",
            column_names("trips"),
            lambda selected: trip_rows(selected, relation, rules, source),
            filtered=bool(self.keep),
        )

    def finish(self, relation: Relation, rows: Rows, inserted: Inserted) -> None:
        """Number the lines, and settle times in an hour that occurs twice."""
        if not inserted.rows:
            return
        first = count(self.con, "SELECT max(rowid) FROM new_trips") - inserted.rows + 1
        self.firsts.append((first, relation.layout.format.name))
        if not inserted.numbered:
            self.con.execute(f"UPDATE new_trips SET line = rowid - {first} + 2 WHERE rowid >= {first}")
        local = self.times == "local" and relation.layout.format.times != "utc"
        if local and self.zone is not None:
            self._settle_doubled(relation, rows, first, self.zone)

    def _settle_doubled(self, relation: Relation, rows: Rows, first: int, zone: str) -> None:
        years = years_of(relation.sampled("start"))
        touched = " OR ".join(doubled_in_utc(name, zone, years) for name in ("started_at", "ended_at"))
        if not count(self.con, f"SELECT count(*) FROM new_trips WHERE rowid >= {first} AND ({touched})"):
            return
        doubtful: list[Doubtful] = self.con.execute(
            f"SELECT line, start_clock, end_clock, seconds FROM ({rows.sql(relation.select(True))}) "
            "WHERE doubled AND reason IS NULL ORDER BY line"
        ).fetchall()
        moves = ", ".join(
            f"({line}, {a.total_seconds():.0f}, {b.total_seconds():.0f})"
            for line, (a, b) in resolve(doubtful, zone).items()
        )
        if not moves:
            return
        moved = f"FROM (VALUES {moves}) AS m(at_line, a, b) WHERE rowid >= {first} AND line = m.at_line"
        self.con.execute(
            "UPDATE new_trips SET started_at = started_at + to_seconds(m.a), "
            f"ended_at = ended_at + to_seconds(m.b) {moved}"
        )
        self.con.execute(
            f"UPDATE new_trips SET flag = CASE {length_flag()} END {moved} "
            "AND (flag IS NULL OR flag NOT IN ('service', 'test-station'))"
        )


def _check_keep(keep: Keep | None) -> dict[str, tuple[str, ...]]:
    result = {}
    for name, values in dict(keep or {}).items():
        chosen = (values,) if isinstance(values, str) else tuple(values)
        if not normalised(name) or not chosen or not all(isinstance(value, str) for value in chosen):
            raise ValueError(f"keep must give one or more texts for each column, got {values!r} for {name!r}")
        result[name] = chosen
    return result


def _keep_places(
    con: duckdb.DuckDBPyConnection, wanted: dict[str, tuple[str, ...]], source: str, relation: Relation
) -> None:
    """Fill ``kept_places`` with all ids of the stations that have all `wanted` attributes."""
    con.execute("DELETE FROM kept_places")
    parts = []
    for name, values in wanted.items():
        same = f"attribute = {literal(normalised(name))}"
        if not count(con, f"SELECT count(*) FROM station_attributes WHERE {same}"):
            raise ValueError(
                f"keep: {name!r} is neither a column of {source} ({', '.join(relation.layout.header)}) "
                "nor of the stations read before"
            )
        listed = ", ".join(literal(value) for value in values)
        parts.append(f"SELECT place FROM station_attributes WHERE {same} AND value IN ({listed})")
    con.execute("INSERT INTO kept_places " + " INTERSECT ".join(parts))
    con.execute(
        "INSERT INTO kept_places SELECT id FROM station_ids WHERE place IN (SELECT place FROM kept_places)"
    )


def _day_first(con: duckdb.DuckDBPyConnection, relation: Relation) -> bool:
    """Return whether dates with slashes have the day first: only their first numbers exceed 12."""
    where = relation.layout.positions["start"]
    if relation.type("start") != "VARCHAR" or not any(
        row[where[0]].find("/") in (1, 2) for row in relation.samples
    ):
        return False
    text = f"c{where[0]}"
    found = con.execute(
        f"SELECT max(try_cast(split_part({text}, '/', 1) AS INTEGER)), "
        f"max(try_cast(split_part({text}, '/', 2) AS INTEGER)) FROM ({relation.select(False)})"
    ).fetchone()
    return bool(found and found[0] is not None and 12 < found[0] <= 31 and (found[1] or 0) <= 12)


def _report(
    con: duckdb.DuckDBPyConnection,
    account: Account,
    reasons: dict[str, int],
    duplicates: int,
    zone: str | None,
) -> TripsReport:
    con.execute(  # read all rides only once
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
        files=tuple(account.files),
        reasons=reasons,
        notes=tuple(account.notes),
        first=found[0],
        last=found[1],
        duplicates=duplicates,
        left_out=account.left_out,
        flags=dict(flags),
        vehicles=count(con, "SELECT count(v) FROM (SELECT vehicle_id AS v FROM trips GROUP BY 1)"),
        unmapped=dict(unmapped),
        zone=zone,
    )
