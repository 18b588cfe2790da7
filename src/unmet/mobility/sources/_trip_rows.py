"""SQL that turns a source into rides."""

from dataclasses import dataclass

from unmet.mobility.sources._clock import is_doubled, to_utc
from unmet.mobility.sources._formats import DEGREES
from unmet.mobility.sources._relation import Relation, reason_sql, too_long
from unmet.mobility.sources._stamps import EARLIEST, LATEST, absolute_time, plain_time, posix_time, seconds_of
from unmet.tables import literal

_TEXTS = ("ride", "vehicle", "start_place", "start_name", "end_place", "end_name", "trip_type")
_A_DAY, _A_MINUTE = 86_400_000_000, 60_000_000  # microseconds
_LONGEST = 2_592_000  # seconds; a longer duration makes no sense
# Stations for the operator, not for riders. Compared with the name, or the id if there is none, in any case.
_TEST_STATIONS = (
    r"\btest(ing)?\b",
    r"_test",
    r"-test\b",
    r"\b8d\b",
    r"^(\w*bs )?depot\b",
    r"\bwarehouse\)?$",
    r"\bworkshop\b",
    r"\bbike checking\b",
    r"\brepair mobile\b",
    r"^kiosk in a box",
)
_RIDER_TRIPS = ("rider", "private", "shared", "reservation")  # MDS types that are demand


@dataclass(frozen=True)
class TripRules:
    """How to read the times of a source, and which of its rows to keep."""

    zone: str | None  # None: times are UTC
    day_first: bool
    form: str | None  # form of time stamps to try first
    years: tuple[int, int]  # first and last year in the samples
    posix: str | None  # unit of POSIX times; None if times are written in another way
    names: bool  # whether the names of start places are wanted
    keep: dict[str, tuple[str, ...]]  # column of the source → values to keep
    keep_places: bool  # keep only rides that start at one of `kept_places`


def trip_rows(selected: str, relation: Relation, rules: TripRules, source: str) -> str:
    """Return SQL for the rides of a source, one row for each row of `selected`.

    It has the columns of ``trips``, `reason`, `left_out`, and what :func:`resolve` needs to settle an hour
    that occurs twice: `doubled`, `start_clock`, `end_clock` and `seconds`.
    """
    fields = [*(f"{relation.text(name)} AS {name}" for name in _TEXTS)]
    for name in ("start", "end"):
        fields += [f"{relation.text(name)} AS {name}_stamp"]
    for name in DEGREES:
        fields += [f"{relation.text(name)} AS {name}_text"]
    kept = [
        f"coalesce(trim(CAST(c{relation.layout.column(column)} AS VARCHAR)) "
        f"IN ({', '.join(literal(value) for value in values)}), false)"
        for column, values in rules.keep.items()
    ]
    fields.append(f"NOT ({' AND '.join(kept)}) AS left_by_column" if kept else "false AS left_by_column")
    fields.append(f"{relation.text(_duration_field(relation) or 'seconds')} AS duration")
    texts = f"SELECT line, {', '.join(fields)} FROM ({selected})"
    degrees = ", ".join(f"try_cast({name}_text AS DOUBLE) AS {name}" for name in DEGREES)
    clocks = ", ".join(f"{_clock(relation, rules, name)} AS {name}_clock" for name in ("start", "end"))
    read = f"SELECT *, {clocks}, {degrees} FROM ({texts})"
    moments = (
        f"{_moment(relation, rules, 'start')} AS started_at, {_moment(relation, rules, 'end')} AS ended_at"
    )
    timed = f"SELECT *, {moments} FROM ({read})"
    if _duration_field(relation):
        timed = f"SELECT * REPLACE ({_end_by_duration(relation)} AS ended_at) FROM ({timed})"
    return f"""
        SELECT ride AS ride_id, vehicle AS vehicle_id, started_at, ended_at,
            coalesce(start_place, start_name) AS start_place, coalesce(end_place, end_name) AS end_place,
            start_lat, start_lng, end_lat, end_lng, {_flag(relation)} AS flag,
            {literal(source)} AS source, line, {_reason()} AS reason, {_left_out(rules)} AS left_out,
            {_doubled(rules)} AS doubled, start_clock, end_clock, {_seconds(relation)} AS seconds,
            {"start_name" if rules.names else "NULL::VARCHAR"} AS start_name
        FROM ({timed})
    """


def _duration_field(relation: Relation) -> str | None:
    return next((name for name in ("minutes", "seconds") if name in relation.layout.positions), None)


def _seconds(relation: Relation) -> str:
    """Return SQL for the stated duration in seconds."""
    return seconds_of("duration", 60 if _duration_field(relation) == "minutes" else 1)


def _end_by_duration(relation: Relation) -> str:
    """Return SQL for the end: start plus duration if stamps are rounded to the same time, or have no end."""
    seconds = _seconds(relation)  # computed only for the rows that need it
    stated = f"{seconds} > 0 AND {seconds} <= {_LONGEST}"
    later = f"started_at + to_microseconds(CAST(round(({seconds}) * 1000000) AS BIGINT))"
    if "end" not in relation.layout.positions:
        return f"CASE WHEN {stated} THEN {later} END"
    rounded = f"ended_at = started_at AND epoch_us(started_at) % {_A_MINUTE} = 0"
    return f"CASE WHEN {rounded} AND {stated} THEN {later} ELSE ended_at END"


def _clock(relation: Relation, rules: TripRules, name: str) -> str:
    """Return SQL for the time as written; NULL if it has a zone or an offset."""
    stamp = f"{name}_stamp"
    if relation.type(name) == "TIMESTAMP":
        return stamp
    if name not in relation.layout.positions or rules.posix:
        return "NULL::TIMESTAMP"
    return plain_time(stamp, rules.form, rules.day_first)


def _moment(relation: Relation, rules: TripRules, name: str) -> str:
    """Return SQL for a time in UTC."""
    clock, stamp = f"{name}_clock", f"{name}_stamp"
    utc = clock if rules.zone is None else to_utc(clock, rules.zone, rules.years)
    if relation.type(name) == "TIMESTAMP" or name not in relation.layout.positions:
        return utc
    if rules.posix:
        return posix_time(stamp, rules.posix)
    # Times with a zone are rare and slow to parse: try that last.
    other = f"CASE WHEN {clock} IS NULL AND {stamp} IS NOT NULL THEN {absolute_time(stamp)} END"
    return f"coalesce({utc}, {other})"


def _doubled(rules: TripRules) -> str:
    """Return an SQL condition: the start or the end lies in an hour that occurs twice."""
    if rules.zone is None:
        return "false"
    sides = [is_doubled(f"{name}_clock", rules.zone, rules.years) for name in ("start", "end")]
    return " OR ".join(f"coalesce({side}, false)" for side in sides)


def _left_out(rules: TripRules) -> str:
    if not rules.keep_places:
        return "left_by_column"
    place = "coalesce(start_place, start_name)"
    return f"left_by_column OR NOT coalesce({place} IN (SELECT place FROM kept_places), false)"


def _reason() -> str:
    """Return SQL for the reason why a row is rejected; NULL for a valid row."""
    checks = [
        ("start_stamp IS NULL", "no start time"),
        ("started_at IS NULL", "start time not understood"),
        (f"started_at < {EARLIEST} OR started_at >= {LATEST}", "start time outside 1990-2100"),
        ("end_stamp IS NOT NULL AND ended_at IS NULL", "end time not understood"),
        (f"ended_at < {EARLIEST} OR ended_at >= {LATEST}", "end time outside 1990-2100"),
        too_long(*_TEXTS[:6]),
    ]
    for name, limit in DEGREES.items():
        checks.append((f"{name}_text IS NOT NULL AND {name} IS NULL", f"{name} is not a number"))
        checks.append((f"NOT abs({name}) <= {limit}", f"{name} outside ±{limit}"))
    return reason_sql(checks)


def length_flag() -> str:
    """Return SQL WHEN clauses that flag a ride by its duration."""
    return (
        "WHEN ended_at < started_at THEN 'ends-before-start' WHEN ended_at = started_at THEN 'zero-length' "
        f"WHEN epoch_us(ended_at) - epoch_us(started_at) > {_A_DAY} THEN 'over-a-day'"
    )


def is_test(name: str) -> str:
    """Return an SQL condition: the name, or the id, of a station says that it is not for riders."""
    return f"regexp_matches({name}, {literal('(?i)' + '|'.join(_TEST_STATIONS))})"


def _flag(relation: Relation) -> str:
    """Return SQL for the flag of a ride. One that ends at a depot after more than a day is over-a-day."""

    def test(side: str) -> str:
        return f"WHEN {is_test(f'coalesce({side}_name, {side}_place)')} THEN 'test-station'"

    riders = ", ".join(literal(word) for word in _RIDER_TRIPS)
    service = f"WHEN lower(trip_type) NOT IN ({riders}) THEN 'service' "
    return (
        f"CASE {service if 'trip_type' in relation.layout.positions else ''}{test('start')} "
        f"WHEN epoch_us(ended_at) - epoch_us(started_at) > {_A_DAY} THEN 'over-a-day' {test('end')} "
        f"{length_flag()} END"
    )
