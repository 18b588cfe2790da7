"""Covariates of the panel: the local calendar, holidays and a weather file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unmet.calendar import holiday_dates, local_seconds, weekday
from unmet.tables import identifier, literal_path

if TYPE_CHECKING:
    import duckdb

CALENDAR = ("hour", "weekday", "month")
_WHEN = ("ds", "date", "time", "datetime", "timestamp", "day", "valid_time")


def check_covariates(covariates: Sequence[str], holidays: str | None) -> tuple[str, ...]:
    """Return the calendar columns to add, each once; raise ValueError for unknown names."""
    if isinstance(covariates, str):
        raise ValueError(f"covariates must be a list of names, such as [{covariates!r}], got a text")
    wanted: list[str] = []
    for name in covariates:
        if name != "calendar" and name not in CALENDAR:
            raise ValueError(f"covariates must be among calendar, {', '.join(CALENDAR)}, got {name!r}")
        wanted += list(CALENDAR) if name == "calendar" else [name]
    if holidays is not None:
        holiday_dates(holidays, [2020])
    return tuple(dict.fromkeys(wanted))


def add_covariates(
    con: duckdb.DuckDBPyConnection,
    zone: str,
    calendar: Sequence[str],
    holidays: str | None,
    weather: str | os.PathLike[str] | None,
    weather_keep: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """Add columns to table ``panel`` and return their names."""
    if weather_keep and weather is None:
        raise ValueError("weather_keep= selects rows of a weather file; give weather= too")
    if not calendar and holidays is None and weather is None:
        return ()
    names = [*calendar, *(["holiday"] if holidays is not None else [])]
    columns = [f"m.{name}" for name in names]
    _write_moments(con, zone, holidays)
    joins = "JOIN _moments m USING (ds)"
    if weather is not None:
        values, moment = _read_weather(con, weather, weather_keep or {})
        joins += f" LEFT JOIN _weather w ON w.moment = {moment}"
        columns += [f"w.{identifier(value)}" for value in values]
        names += values
    con.execute(f"""
        CREATE OR REPLACE TABLE panel AS
        SELECT p.*, {", ".join(columns)} FROM panel p {joins} ORDER BY unique_id, ds""")
    con.execute("DROP TABLE _moments")
    return tuple(names)


def _write_moments(con: duckdb.DuckDBPyConnection, zone: str, holidays: str | None) -> None:
    """Write table ``_moments(ds, local, hour, weekday, month, holiday)`` for the periods of the panel."""
    ds = con.execute("SELECT DISTINCT ds FROM panel ORDER BY ds").fetchnumpy()["ds"].astype("datetime64[us]")
    local = local_seconds(ds, zone).astype("datetime64[s]")
    day = local.astype("datetime64[D]")
    years = np.unique(local.astype("datetime64[Y]").astype(int) + 1970).tolist()
    dates = [] if holidays is None else holiday_dates(holidays, years)
    moments = {
        "ds": ds,
        "local": local.astype("datetime64[us]"),
        "hour": (local - day).astype(np.int64) // 3600,
        "weekday": weekday(day.astype(np.int64)),
        "month": local.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "holiday": np.isin(day, np.array(dates, "datetime64[D]")),
    }
    con.register("_frame", moments)
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _moments AS
        SELECT ds, local, hour::TINYINT AS hour, weekday::TINYINT AS weekday, month::TINYINT AS month, holiday
        FROM _frame""")
    con.unregister("_frame")


def _read_weather(
    con: duckdb.DuckDBPyConnection, path: str | os.PathLike[str], keep: Mapping[str, str]
) -> tuple[list[str], str]:
    """Write table ``_weather(moment, …)``; return its columns and the SQL to join its ``moment`` with.

    Times are local, except in a column named ``ds``, which is in UTC as in the panel.
    """
    import duckdb

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"weather file {path} does not exist; check the path")
    reader = "read_parquet" if path.suffix.lower() == ".parquet" else "read_csv"
    source = f"{reader}({literal_path(path)})"
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    except duckdb.Error as error:
        raise ValueError(f"weather file {path} cannot be read: {str(error).splitlines()[0]}") from None
    kinds = {row[0]: row[1] for row in described}
    when = next((key for key in kinds if key.strip().lower() in _WHEN), None)
    if when is None:
        raise ValueError(f"weather file {path} needs a column 'date' or 'time'; found {', '.join(kinds)}")
    for key in keep:
        if key not in kinds:
            raise ValueError(f"weather_keep: {path} has no column {key!r}; found {', '.join(kinds)}")
    numbers = [key for key, kind in kinds.items() if key not in keep and key != when and _is_number(kind)]
    if not numbers:
        raise ValueError(f"weather file {path} has no column of numbers; found {', '.join(kinds)}")
    taken = {row[0] for row in con.execute("DESCRIBE panel").fetchall()}
    renamed = [f"weather_{key}" if key in taken else key for key in numbers]
    picked = ", ".join(
        f"{identifier(key)}::DOUBLE AS {identifier(new)}" for key, new in zip(numbers, renamed)
    )
    where = " AND ".join(f"{identifier(key)}::VARCHAR = ?" for key in keep) or "true"
    try:
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE _weather AS SELECT {identifier(when)}::TIMESTAMP AS moment, "
            f"{picked} FROM {source} WHERE {where}",
            list(keep.values()),
        )
    except duckdb.Error as error:
        raise ValueError(f"weather file {path} cannot be read: {str(error).splitlines()[0]}") from None
    step = _check_weather(con, path, keep)
    con.execute(f"UPDATE _weather SET moment = date_trunc('{step}', moment)")
    return renamed, f"date_trunc('{step}', {'ds' if when.strip().lower() == 'ds' else 'local'})"


def _is_number(kind: str) -> bool:
    return kind in ("DOUBLE", "FLOAT", "BOOLEAN") or "INT" in kind or "DECIMAL" in kind


def _check_weather(con: duckdb.DuckDBPyConnection, path: Path, keep: Mapping[str, str]) -> str:
    """Return ``"hour"`` or ``"day"``: the step of the file, which must have one row for each."""
    row = con.execute("""SELECT count(*), count(DISTINCT date_trunc('hour', moment)),
                                count(DISTINCT moment::DATE), bool_or(moment <> moment::DATE)
                         FROM _weather""").fetchone()
    assert row is not None
    if not row[0]:
        if not keep:
            raise ValueError(f"weather file {path} has no rows")
        wanted = ", ".join(f"{value!r} in column {key!r}" for key, value in keep.items())
        raise ValueError(f"weather_keep: no row of {path} has {wanted}")
    step = "hour" if row[3] else "day"
    if row[0] > (row[1] if row[3] else row[2]):
        raise ValueError(
            f"weather file {path} has several rows for one {step}; keep those of one place with "
            "weather_keep, for instance '94107' in column 'zip_code'"
        )
    return step
