"""The SQL that turns a file's text columns into canonical trips."""

from dataclasses import dataclass

from unmet.mobility.readers._clock import is_doubled, to_utc
from unmet.mobility.readers._formats import RIDER_TRIPS, TEST_STATIONS, TRIP_FIELDS
from unmet.mobility.readers._quick import TRIP_TEXTS, even_text, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._stamps import EARLIEST, LATEST, absolute_time, plain_time
from unmet.tables import literal

# Columns of the staging table beyond those of `trips`, dropped at the end.
KEPT = "source_number INTEGER"
EXTRA = (
    "reason VARCHAR, left_out BOOLEAN, local_start TIMESTAMP, local_end TIMESTAMP, seconds DOUBLE, "
    "format UTINYINT"
)
LIMITS = {"start_lat": 90, "start_lng": 180, "end_lat": 90, "end_lng": 180}
A_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Reading:
    """What the caller said about the stamps and rows of a file."""

    zone: str | None  # None: stamps are UTC
    day_first: bool
    form: str | None  # the form of stamps that is tried first
    years: tuple[int, int]  # the first and last year that samples show
    keep: dict[str, tuple[str, ...]]  # column of the file → values to keep
    keep_places: bool  # keep only rides that start in `kept_places`
    reconcile: bool  # give places their station's one id
    quick: bool = False  # cells are typed and taken as they are; a doubt stops the reading
    stamped: bool = False  # times are typed too


def cell(layout: Layout, name: str, quick: bool = False) -> str:
    """SQL of one field as trimmed text (quick: as it is); NULL where the file has no such column."""
    where = layout.positions.get(name, ())
    if not where:
        return "NULL::VARCHAR"
    if quick:
        return f"c{where[0]}"
    if len(where) == 1:
        # Trimming every cell would cost as much as all the rest: most have no blank at either end.
        text = f"c{where[0]}"
        padded = f"prefix({text}, ' ') OR suffix({text}, ' ')"
        return f"CASE WHEN {padded} THEN nullif(trim({text}), '') ELSE {text} END"
    return f"nullif(trim(concat_ws(' ', {', '.join(f'c{index}' for index in where)})), '')"


def trip_sql(relation: str, layout: Layout, reading: Reading, source: str, number: int, format: int) -> str:
    """SELECT with the columns of the staging table, one row per row of the relation, nothing dropped."""
    texts = ", ".join(f"{cell(layout, name, reading.quick)} AS {name}_text" for name in TRIP_FIELDS)
    kept = [
        f"coalesce(trim(c{layout.column(column)}) IN ({', '.join(literal(v) for v in values)}), false)"
        for column, values in reading.keep.items()
    ]
    left_out = f"NOT ({' AND '.join(kept)})" if kept else "false"
    level_1 = f"SELECT line, {texts}, {left_out} AS left_by_column FROM ({relation})"

    def plain(name: str) -> str:
        if reading.stamped:
            return f"{name}_text::TIMESTAMP AS {name}_plain"
        if reading.quick:
            return f"try_strptime({name}_text, '{reading.form}') AS {name}_plain"
        return f"{plain_time(f'{name}_text', reading.form, reading.day_first)} AS {name}_plain"

    numbers = ", ".join(
        f"try_cast({name}_text AS DOUBLE) AS {name}" for name in TRIP_FIELDS if name[-4:] in ("_lat", "_lng")
    )
    level_2 = f"SELECT *, {plain('start')}, {plain('end')}, {numbers} FROM ({level_1})"

    def utc(name: str) -> str:
        local = f"{name}_plain"
        changed = local if reading.zone is None else to_utc(local, reading.zone, reading.years)
        if reading.quick:
            return changed
        other = (
            f"CASE WHEN {local} IS NULL AND {name}_text IS NOT NULL THEN {absolute_time(f'{name}_text')} END"
        )
        return f"coalesce({changed}, {other})"

    level_3 = f"SELECT *, {utc('start')} AS started, {utc('end')} AS ended FROM ({level_2})"
    doubled = "false"
    if reading.zone is not None:
        doubled = " OR ".join(
            f"coalesce({is_doubled(f'{name}_plain', reading.zone, reading.years)}, false)"
            for name in ("start", "end")
        )
    level_4 = f"SELECT *, {_reason(layout, reading)} AS reason, {doubled} AS doubled FROM ({level_3})"
    return f"""
        SELECT ride_text, vehicle_text, started, ended,
            {_place("start", reading)} AS start_place, {_place("end", reading)} AS end_place,
            start_lat, start_lng, end_lat, end_lng,
            {_flag(layout)} AS flag, {literal(source)} AS source, line, {number},
            reason, {_left_out(reading)} AS left_out,
            CASE WHEN doubled THEN start_plain END, CASE WHEN doubled THEN end_plain END,
            CASE WHEN doubled THEN try_cast(seconds_text AS DOUBLE) END,
            {format}
        FROM ({level_4}) AS rows {_joins(reading)}
    """


def _place(side: str, reading: Reading) -> str:
    found = f"{side}_ids.place, " if reading.reconcile else ""
    return f"coalesce({found}{side}_place_text, {side}_name_text)"


def _joins(reading: Reading) -> str:
    if not reading.reconcile:
        return ""
    return " ".join(
        f"LEFT JOIN station_ids AS {side}_ids "
        f"ON {side}_ids.id = coalesce({side}_place_text, {side}_name_text)"
        for side in ("start", "end")
    )


def _left_out(reading: Reading) -> str:
    if not reading.keep_places:
        return "left_by_column"
    place = _place("start", reading)
    return f"left_by_column OR NOT coalesce({place} IN (SELECT place FROM kept_places), false)"


def _reason(layout: Layout, reading: Reading) -> str:
    """SQL: why a row cannot be used; NULL for a sound row."""
    if reading.quick:
        return stop_unless(_sound(layout))
    checks = [
        ("start_text IS NULL", "no start time"),
        ("started IS NULL", "start time not understood"),
        (f"started < {EARLIEST} OR started >= {LATEST}", "start time outside 1990-2100"),
        ("end_text IS NOT NULL AND ended IS NULL", "end time not understood"),
        (f"ended < {EARLIEST} OR ended >= {LATEST}", "end time outside 1990-2100"),
    ]
    for name, limit in LIMITS.items():
        checks.append((f"{name}_text IS NOT NULL AND {name} IS NULL", f"{name} is not a number"))
        checks.append((f"NOT abs({name}) <= {limit}", f"{name} outside ±{limit}"))
    return "CASE " + " ".join(f"WHEN {test} THEN {literal(words)}" for test, words in checks) + " END"


def _sound(layout: Layout) -> list[str]:
    """SQL conditions of the quick way: none of these reasons, no cell that the careful way would change."""
    sound = [f"started >= {EARLIEST}", f"started < {LATEST}"]
    if "end" in layout.positions:
        sound.append(f"end_text IS NULL OR (ended >= {EARLIEST} AND ended < {LATEST})")
    for name, limit in LIMITS.items():
        if name in layout.positions:
            sound.append(f"{name} IS NULL OR {name} BETWEEN -{limit} AND {limit}")
    return sound + [even_text(f"{name}_text") for name in TRIP_TEXTS if name in layout.positions]


def is_test(name: str) -> str:
    """SQL condition: a name is that of a place at which no rider starts."""
    return f"regexp_matches({name}, {literal('(?i)' + '|'.join(TEST_STATIONS))})"


def length_flag(start: str = "started", end: str = "ended") -> str:
    """SQL WHEN clauses that flag a ride by its length."""
    return (
        f"WHEN {end} < {start} THEN 'ends-before-start' WHEN {end} = {start} THEN 'zero-length' "
        f"WHEN epoch_us({end}) - epoch_us({start}) > {A_DAY} THEN 'over-a-day'"
    )


def _flag(layout: Layout) -> str:
    """SQL: what is special about a ride. A vehicle lost by a rider and found at the depot is over-a-day."""
    riders = ", ".join(literal(word) for word in RIDER_TRIPS)
    service = f"WHEN lower(trip_type_text) NOT IN ({riders}) THEN 'service' "

    def test(side: str) -> str:
        return f"WHEN {is_test(f'coalesce({side}_name_text, {side}_place_text)')} THEN 'test-station'"

    return (
        f"CASE {service if 'trip_type' in layout.positions else ''}{test('start')} "
        f"WHEN epoch_us(ended) - epoch_us(started) > {A_DAY} THEN 'over-a-day' {test('end')} "
        f"{length_flag()} END"
    )
