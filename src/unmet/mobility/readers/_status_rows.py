"""The SQL that turns a file's cells into canonical status records."""

from unmet.mobility.readers._clock import to_utc
from unmet.mobility.readers._csv import Relation
from unmet.mobility.readers._quick import even_text, stop_unless
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._stamps import (
    EARLIEST,
    LATEST,
    absolute_time,
    guess,
    is_posix,
    plain_time,
    posix_time,
    years_of,
)
from unmet.mobility.readers._trip_rows import cell
from unmet.tables import literal

_MOST = 1_000_000


def _truth(text: str) -> str:
    return (
        f"CASE WHEN lower({text}) IN ('1', 'true', 't', 'yes', 'y', '1.0') THEN true "
        f"WHEN lower({text}) IN ('0', 'false', 'f', 'no', 'n', '0.0') THEN false END"
    )


def status_sql(relation: Relation, layout: Layout, zone: str | None, number: int) -> str:
    """SELECT with the columns of the staging table, one row per row of the relation, nothing dropped."""
    if relation.quick:
        return _quick_sql(relation, layout, number)
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
    texts = ", ".join(f"{cell(layout, name)} AS {name}_text" for name in fields)
    samples = [row[layout.positions["at"][0]] for row in relation.samples]
    form = guess(samples)
    counts = ", ".join(f"try_cast({name}_text AS DOUBLE) AS {name}_number" for name in ("available", "docks"))
    flags = ", ".join(
        f"{_truth(f'{name}_text')} AS {name}_flag" for name in ("renting", "returning", "installed")
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
            line, number, {_reason("vehicle_id" in layout.positions)}{own_columns}
        FROM ({level_3}) AS rows LEFT JOIN station_ids AS a ON a.id = place_text
    """


def _quick_sql(relation: Relation, layout: Layout, number: int) -> str:
    """The same from typed cells; whatever the careful way would reject or change ends it."""

    def column(name: str) -> str | None:
        return cell(layout, name, quick=True) if name in layout.positions else None

    place, at, available = (cell(layout, name, quick=True) for name in ("place", "at", "available"))
    docks = column("docks")
    sound = [is_posix(at), f"{place} IS NOT NULL", even_text(place)]
    sound += [f"{available} BETWEEN 0 AND {_MOST}", f"{available} = floor({available})"]
    if docks:
        sound.append(f"({docks} IS NULL OR ({docks} BETWEEN 0 AND {_MOST} AND {docks} = floor({docks})))")

    def flag(name: str) -> str:
        parts = [f"coalesce({part}, true)" for part in (column(name), column("installed")) if part]
        return " AND ".join(parts) or "true"

    return f"""
        SELECT coalesce(a.place, {place}), make_timestamp({at} * 1000000), {available}::INTEGER,
            {f"{docks}::INTEGER" if docks else "NULL::INTEGER"}, {flag("renting")}, {flag("returning")},
            line, {number}, {stop_unless(sound)}
        FROM ({relation.sql}) AS rows LEFT JOIN station_ids AS a ON a.id = {place}
    """


def _reason(vehicles: bool) -> str:
    """SQL: why a row cannot be used; NULL for a sound row."""
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
    return "CASE " + " ".join(f"WHEN {test} THEN {literal(words)}" for test, words in checks) + " END"
