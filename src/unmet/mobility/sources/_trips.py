"""Read trip files of any known layout into table ``trips``."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import Account, TripsReport
from unmet.mobility.sources._belonging import Area, leave_out_rides
from unmet.mobility.sources._clock import Doubtful, check_times, doubled_in_utc, resolve
from unmet.mobility.sources._duplicates import First, drop_repeated_rides
from unmet.mobility.sources._encoding import check_encoding
from unmet.mobility.sources._files import MAX_BYTES, Paths
from unmet.mobility.sources._formats import Kind
from unmet.mobility.sources._reading import Choices, Destination, Progress, SourceReader
from unmet.mobility.sources._recognition import check_columns, normalised
from unmet.mobility.sources._relation import Inserted, Relation, Rows
from unmet.mobility.sources._same_stations import join_same_stations
from unmet.mobility.sources._stamps import guess, is_rounded, posix_unit, years_of
from unmet.mobility.sources._stations import use_station_ids
from unmet.mobility.sources._store import ReadStore
from unmet.mobility.sources._tables import (
    begin_table,
    column_names,
    count,
    drop_new,
    ensure_tables,
    next_row,
    replace_rejects,
    replace_table,
)
from unmet.mobility.sources._trip_rows import TripRules, length_flag, trip_rows
from unmet.tables import literal, transaction

Keep = Mapping[str, str | Sequence[str]]


def read_trips(
    con: Connection,
    paths: Paths,
    *,
    zone: str | None = None,
    times: str = "local",
    columns: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    encoding: str | None = None,
    day_first: bool | None = None,
    min_duration: float = 60.0,
    area: Area | None = None,
    max_reject_share: float = 0.01,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
    store: ReadStore | None = None,
) -> TripsReport:
    """Read trips into table ``trips``, and rows that cannot be read into table ``rejects``.

    Takes files and folders: CSV, JSON Lines, Parquet and MDS JSON, plain or packed with gzip, bzip2, xz,
    Zstandard or zip. Files are recognised by their header, not by their name. Every line is a header,
    accepted, or rejected with a reason. Both tables are replaced once everything is read; after an error they
    are unchanged.

    Parameters
    ----------
    con : from :func:`unmet.mobility.connect`.
    zone : local time zone, such as ``"America/New_York"``; required if times are local.
    times : whether times without a zone are ``"local"`` or ``"utc"``. Times with Z or an offset are always
        understood, and so are POSIX times and columns whose header says UTC.
    columns : for an unknown layout, field → column: ``{"start": "Departure", "station": "From"}``. A date and
        a time in two columns are ``"date+time"``. Durations are ``seconds`` (also h:mm:ss) or ``minutes``.
    keep : column → value or values to keep, such as ``{"landmark": "San Francisco"}``. The column may be in
        the trip file, or in the stations file (read it first), where it describes the station at which a
        ride starts.
    encoding : of text files, such as ``"cp949"``; None tells it by their bytes.
    day_first : whether dates such as 3/4/2019 have the day first; None decides it by all files of a layout.
    min_duration : flag rides that end where they began after fewer seconds; they are not counted as demand.
    area : keep only rides that start in this area.
    max_reject_share : stop if a larger share of the rows is rejected.
    max_bytes : largest size of a source, uncompressed.
    progress : called with (name of the source, number of sources done, number of sources).
    store : rows of files that were read before; only other files are read.

    Notes
    -----
    For local times in the hour that occurs twice, the duration of the ride decides, then the order of lines,
    else the first occurrence is assumed. A ride whose rounded stamps are equal ends after its stated
    duration. Without a stations file, ids that are one station by name and position are joined, and names
    come from the trips.
    """
    check_times(zone, times)
    mapping = check_columns(columns)
    if not 0 <= min_duration < float("inf"):
        raise ValueError(f"min_duration must be a number of seconds of at least 0, got {min_duration!r}")
    ensure_tables(con)
    destination = _begin(con, zone, times, _check_keep(keep))
    try:
        choices = Choices(mapping, tuple(destination.keep), max_bytes, check_encoding(encoding), day_first)
        account = SourceReader(con, destination, choices, store).read(paths, progress)
        account.check(count(con, "SELECT count(*) FROM new_trips"), max_reject_share)
        if destination.names:
            account.notes += join_same_stations(con)
        use_station_ids(con, "new_trips", ("start_place", "end_place"))
        duplicates = drop_repeated_rides(con, destination.firsts)
        if area is not None:
            account.left_out += leave_out_rides(con, area)
        _flag_short(con, min_duration)
        reasons = account.reasons()
        con.execute("ALTER TABLE new_trips DROP COLUMN start_name")
        with transaction(con):
            replace_table(con, "trips")
            replace_rejects(con, "trips")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the trips: {' '.join(str(error).split())[:300]}") from error
    finally:
        drop_new(con, "trips", "rejects")
        con.execute("DROP TABLE IF EXISTS kept_places")
    return _report(con, account, reasons, duplicates, zone)


def _begin(con: Connection, zone: str | None, times: str, keep: dict[str, tuple[str, ...]]) -> "_Trips":
    """Make the tables that trips are read into."""
    destination = _Trips(con, zone, times, keep)
    begin_table(con, "trips", ", start_name VARCHAR")
    con.execute("CREATE OR REPLACE TEMP TABLE kept_places(place VARCHAR)")
    destination.again = partial(_begin, zone=zone, times=times, keep=keep)
    return destination


class _Trips(Destination):
    """How trips are read, and where the rows of each source start."""

    kind: Kind = "trips"
    time_field = "start"
    tables = ("new_trips",)

    def __init__(
        self, con: Connection, zone: str | None, times: str, keep: dict[str, tuple[str, ...]]
    ) -> None:
        self.con, self.zone, self.times, self.keep = con, zone, times, keep
        self.names = not count(con, "SELECT count(*) FROM stations")  # whether names come from the trips
        self.firsts: list[First] = []
        self.settings = {"zone": zone, "times": times, "keep": keep, "names": self.names}
        if keep:  # which rides are kept depends on the stations
            self.settings["stations"] = [
                con.execute(f"SELECT count(*), sum(hash({table}))::VARCHAR FROM {table}").fetchone()
                for table in ("station_attributes", "station_ids")
            ]

    def rows(self, relation: Relation, source: str, day_first: bool) -> Rows:
        layout = relation.layout
        by_column = {name: values for name, values in self.keep.items() if layout.column(name) is not None}
        by_station = {name: values for name, values in self.keep.items() if name not in by_column}
        if by_station:
            _keep_places(self.con, by_station, source, relation)
        starts = relation.sampled("start")
        form = guess(starts, day_first)
        rules = TripRules(
            zone=self.local_zone(relation, source, naive=form is not None),
            day_first=day_first,
            form=form,
            years=years_of(starts),
            posix=posix_unit(starts),
            names=self.names,
            keep=by_column,
            keep_places=bool(by_station),
        )
        return Rows(
            "new_trips",
            f"{column_names('trips')}, start_name",
            lambda selected: trip_rows(selected, relation, rules, source),
            filtered=bool(self.keep),
        )

    def finish(self, relation: Relation, rows: Rows, inserted: Inserted) -> None:
        """Number the lines, and settle times in an hour that occurs twice."""
        if not inserted.rows:
            return
        first = next_row(self.con, "new_trips") - inserted.rows
        fields = relation.layout.positions
        rounded = bool({"seconds", "minutes"} & set(fields)) and is_rounded(relation.sampled("start"))
        self.firsts.append(First(first, relation.layout.format.name, rounded))
        if not inserted.numbered:
            self.con.execute(f"UPDATE new_trips SET line = rowid - {first} + 2 WHERE rowid >= {first}")
        zone = self.local_zone(relation, "")
        if zone is not None:
            self._settle_doubled(relation, rows, first, zone)

    def remember(self, first: int) -> dict[str, Any]:
        return {
            "firsts": [[one.row - first, one.format, one.rounded] for one in self.firsts if one.row >= first]
        }

    def recall(self, noted: dict[str, Any], first: int) -> None:
        self.firsts += [First(row + first, format, rounded) for row, format, rounded in noted["firsts"]]

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
    con: Connection, wanted: dict[str, tuple[str, ...]], source: str, relation: Relation
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


def _flag_short(con: Connection, least: float) -> None:
    """Flag rides that end where they began after fewer than `least` seconds: nobody rode anywhere."""
    con.execute(
        "UPDATE new_trips SET flag = 'too-short' WHERE flag IS NULL AND "
        f"epoch_us(ended_at) - epoch_us(started_at) < {int(least * 1_000_000)} AND start_place = end_place"
    )


def _report(
    con: Connection, account: Account, reasons: dict[str, int], duplicates: int, zone: str | None
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
