"""Read GBFS, MDS and CSV status into tables `status` and `vehicles`."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import Account, StatusReport
from unmet.mobility.sources._clock import check_times, to_utc
from unmet.mobility.sources._duplicates import drop_repeated_records
from unmet.mobility.sources._encoding import check_encoding
from unmet.mobility.sources._files import MAX_BYTES, Paths
from unmet.mobility.sources._formats import Kind
from unmet.mobility.sources._reading import Choices, Destination, Progress, SourceReader
from unmet.mobility.sources._recognition import check_columns
from unmet.mobility.sources._relation import LONGEST_ID, Relation, Rows, reason_sql, too_long
from unmet.mobility.sources._stamps import (
    EARLIEST,
    LATEST,
    absolute_time,
    guess,
    plain_time,
    posix_time,
    posix_unit,
    years_of,
)
from unmet.mobility.sources._stations import use_station_ids
from unmet.mobility.sources._store import ReadStore
from unmet.mobility.sources._tables import (
    begin_table,
    column_names,
    count,
    drop_new,
    ensure_tables,
    replace_rejects,
    replace_table,
)
from unmet.mobility.sources._zone_check import misfit_of_rides, misfit_of_status
from unmet.tables import transaction

_MOST = 1_000_000  # vehicles or docks at one place
_COUNTS = {"available": "number of vehicles", "docks": "number of docks"}
_FLAGS = ("renting", "returning", "installed")


def read_status(
    con: Connection,
    paths: Paths,
    *,
    zone: str | None = None,
    times: str = "local",
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    day_first: bool | None = None,
    max_reject_share: float = 0.5,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
    store: ReadStore | None = None,
) -> StatusReport:
    """Read availability over time into tables ``status`` and ``vehicles``.

    ``status`` has one row per place and time. It is read from GBFS ``station_status`` (versions 1 to 3), as
    single snapshots or folders of them, and from CSV files of status events. A place that is not installed
    counts as neither renting nor returning. ``vehicles`` has one row per vehicle and time. It is read from
    ``free_bike_status``, ``vehicle_status`` and MDS status changes. Invalid items go to table ``rejects``.
    The tables are replaced once everything is read.

    If trips were read before, their pickups are held against the records. Records without a zone that match
    at another shift are read in the zone that fits. If the rides seem to be in the wrong zone, a note tells.

    Parameters
    ----------
    zone, times : as for :func:`read_trips`; used only for CSV files without POSIX times.
    columns : for an unknown layout, field → column: ``{"place": "Id", "at": "When", "available": "Bikes"}``.
    max_reject_share : stop if a larger share of the rows is rejected.
    encoding, day_first, max_bytes, progress, store : as for :func:`read_trips`.
    """
    check_times(zone, times)
    mapping = check_columns(columns, "status", "status_columns")
    choices = Choices(mapping, (), max_bytes, check_encoding(encoding), day_first)
    ensure_tables(con)
    try:
        account, naive = _read(con, paths, choices, zone, times, max_reject_share, progress, store)
        note = None
        used = zone if times == "local" and zone is not None else "UTC"
        if naive and (misfit := misfit_of_status(con, "new_status", used)) is not None:
            other = misfit.zone
            account, _ = _read(con, paths, choices, other, "local", max_reject_share, progress, store)
            note = (
                f"times of the status are in {other}, not {used}: at pickups the stock falls by "
                f"{misfit.fall:.2f} on average, instead of {misfit.fall_now:.2f}; read so"
            )
        elif not naive and (misfit := misfit_of_rides(con, "new_status", used)) is not None:
            note = (
                f"times of the trips seem to be in {misfit.zone}, not {used}: at pickups the stock then "
                f"falls by {misfit.fall:.2f} on average, not {misfit.fall_now:.2f}; check the zone"
            )
        account.notes += [note] if note else []
        reasons = account.reasons()
        use_station_ids(con, "new_vehicles", ("place",))
        drop_repeated_records(con, "new_status")
        with transaction(con):
            replace_table(con, "status")
            con.execute("DELETE FROM vehicles")
            con.execute("INSERT INTO vehicles SELECT DISTINCT * FROM new_vehicles ORDER BY ALL")
            replace_rejects(con, "status")
    except duckdb.Error as error:
        raise ValueError(f"DuckDB could not read the status: {' '.join(str(error).split())[:300]}") from error
    finally:
        drop_new(con, "status", "vehicles", "rejects")
    return _report(con, account, reasons)


def _read(
    con: Connection,
    paths: Paths,
    choices: Choices,
    zone: str | None,
    times: str,
    max_reject_share: float,
    progress: Progress | None,
    store: ReadStore | None,
) -> tuple[Account, bool]:
    """Fill ``new_status`` and ``new_vehicles``; return the account, and whether all times lack a zone."""
    destination = _begin(con, zone, times)
    account = SourceReader(con, destination, choices, store).read(paths, progress)
    rows = sum(count(con, f"SELECT count(*) FROM new_{name}") for name in ("status", "vehicles"))
    account.check(rows, max_reject_share)
    use_station_ids(con, "new_status", ("place",))
    return account, destination.kinds_of_time == {True}


def _begin(con: Connection, zone: str | None, times: str) -> "_Status":
    """Make the tables that status is read into."""
    begin_table(con, "status")
    begin_table(con, "vehicles")
    destination = _Status(zone, times)
    destination.again = partial(_begin, zone=zone, times=times)
    return destination


class _Status(Destination):
    """How status is read: records of places into one table, those of vehicles into another."""

    kind: Kind = "status"
    time_field = "at"
    tables = ("new_status", "new_vehicles")

    def __init__(self, zone: str | None, times: str) -> None:
        self.zone, self.times = zone, times
        self.settings = {"zone": zone, "times": times}
        self.kinds_of_time: set[bool] = set()  # whether times are without a zone, over all sources
        self._new: set[bool] = set()

    def rows(self, relation: Relation, source: str, day_first: bool) -> Rows:
        naive = guess(relation.sampled("at"), day_first) is not None
        zone = self.local_zone(relation, source, naive)
        self.kinds_of_time.add(naive)
        self._new.add(naive)
        if "vehicle_id" in relation.layout.positions:
            columns = column_names("vehicles")
            return Rows("new_vehicles", columns, lambda selected: _vehicle_rows(selected, relation, zone))
        return Rows(
            "new_status",
            column_names("status"),
            lambda selected: _status_rows(selected, relation, zone, day_first),
            sound="sound",
        )

    def remember(self, first: int) -> dict[str, Any]:
        noted, self._new = sorted(self._new), set()
        return {"kinds_of_time": noted}

    def recall(self, noted: dict[str, Any], first: int) -> None:
        self.kinds_of_time |= set(noted["kinds_of_time"])


def _status_rows(selected: str, relation: Relation, zone: str | None, day_first: bool) -> str:
    """Return SQL for the records of places, one row for each row of `selected`."""
    fields = ", ".join(f"{relation.text(name)} AS {name}_text" for name in ("place", "at", *_COUNTS, *_FLAGS))
    counts = ", ".join(f"try_cast({name}_text AS DOUBLE) AS {name}_number" for name in _COUNTS)
    flags = ", ".join(f"{_truth(relation, name)} AS {name}_flag" for name in _FLAGS)
    texts = f"SELECT line, {fields} FROM ({selected})"
    moment = _moment(relation, zone, day_first)
    read = f"SELECT *, {moment} AS moment, {counts}, {flags} FROM ({texts})"
    checks = [*_time_checks(), ("place_text IS NULL", "no station id"), too_long("place_text")]
    checks.append(("available_text IS NULL", "no number of vehicles"))
    for name, words in _COUNTS.items():
        number = f"{name}_number"
        checks += [
            (f"{name}_text IS NOT NULL AND {number} IS NULL", f"{words} is not a number"),
            (f"{number} < 0", f"{words} is negative"),
            (f"NOT {number} <= {_MOST}", f"{words} is absurdly large"),
            (f"{number} <> floor({number})", f"{words} is not whole"),
        ]
    checks += [
        (f"{name}_text IS NOT NULL AND {name}_flag IS NULL", f"is_{name} is neither true nor false")
        for name in _FLAGS
    ]
    sound = f"moment >= {EARLIEST} AND moment < {LATEST} AND strlen(place_text) <= {LONGEST_ID} "
    sound += f"AND {_whole('available')}"
    sound += f" AND (docks_text IS NULL OR {_whole('docks')})"
    sound += "".join(f" AND (({name}_text IS NULL) = ({name}_flag IS NULL))" for name in _FLAGS)
    installed = "coalesce(installed_flag, true)"
    return f"""
        SELECT place_text AS place, moment AS "at", try_cast(available_number AS INTEGER) AS available,
            try_cast(docks_number AS INTEGER) AS docks,
            coalesce(renting_flag, true) AND {installed} AS renting,
            coalesce(returning_flag, true) AND {installed} AS "returning",
            line, {reason_sql(checks, sound)} AS reason, {sound} AS sound, false AS left_out
        FROM ({read})
    """


def _whole(name: str) -> str:
    """Return an SQL condition: a count is a whole number within limits."""
    number = f"{name}_number"
    return f"{number} BETWEEN 0 AND {_MOST} AND {number} = floor({number})"


def _vehicle_rows(selected: str, relation: Relation, zone: str | None) -> str:
    """Return SQL for the records of vehicles, which only feeds have."""
    names = ("vehicle_id", "at", "place", "lat", "lng", "state", "event")
    fields = ", ".join(f"{relation.text(name)} AS {name}_text" for name in names)
    read = (
        f"SELECT *, {_moment(relation, zone, False)} AS moment FROM (SELECT line, {fields} FROM ({selected}))"
    )
    checks = [*_time_checks(), too_long("vehicle_id_text", "place_text")]
    return f"""
        SELECT vehicle_id_text AS vehicle_id, moment AS "at", place_text AS place,
            try_cast(lat_text AS DOUBLE) AS lat, try_cast(lng_text AS DOUBLE) AS lng,
            state_text AS state, event_text AS event,
            line, {reason_sql(checks)} AS reason, false AS left_out
        FROM ({read})
    """


def _moment(relation: Relation, zone: str | None, day_first: bool) -> str:
    """Return SQL for the time in UTC, trying one form of stamp after another."""
    samples = relation.sampled("at")
    posix = posix_time("at_text", posix_unit(samples) or "s")
    if relation.type("at") == "BIGINT":
        return posix
    clock = plain_time("at_text", guess(samples, day_first), day_first)
    utc = clock if zone is None else to_utc(f"({clock})", zone, years_of(samples))
    return f"coalesce({posix}, {utc}, {absolute_time('at_text')})"


def _truth(relation: Relation, name: str) -> str:
    """Return SQL for a flag; NULL if the cell is neither true nor false."""
    text = f"{name}_text"
    if relation.type(name) == "BOOLEAN":
        return text
    decimal = f"CASE {text} WHEN '1.0' THEN true WHEN '0.0' THEN false END"
    return f"coalesce(try_cast({text} AS BOOLEAN), {decimal})"


def _time_checks() -> list[tuple[str, str]]:
    milliseconds = "try_cast(at_text AS BIGINT) BETWEEN 631152000000 AND 4102444799999"
    return [
        ("at_text IS NULL", "no time"),
        (f"moment IS NULL AND {milliseconds}", "time is in milliseconds"),
        ("moment IS NULL", "time not understood"),
        (f"moment < {EARLIEST} OR moment >= {LATEST}", "time outside 1990-2100"),
    ]


def _report(con: Connection, account: Account, reasons: dict[str, int]) -> StatusReport:
    con.execute(  # read all records only once
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
    accepted = sum(file.accepted for file in account.files)
    return StatusReport(
        files=tuple(account.files),
        reasons=reasons,
        notes=tuple(account.notes),
        first=first,
        last=last,
        duplicates=accepted - found[2] - vehicles,
        rows=found[2],
        vehicles=vehicles,
        places=places,
        unmapped=tuple(row[0] for row in unmapped),
    )
