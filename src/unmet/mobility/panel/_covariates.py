"""Covariates of the panel: the local calendar, holidays and a weather file; and those of periods ahead."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.calendar import holiday_dates, is_holiday, local_seconds, weekday
from unmet.mobility.sources import WeatherReport, read_weather
from unmet.tables import Columns, connect, identifier, plain

CALENDAR = ("hour", "weekday", "month")


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
    con: Connection,
    zone: str,
    calendar: Sequence[str],
    holidays: str | None,
    weather: str | os.PathLike[str] | None,
    weather_keep: Mapping[str, str] | None,
    max_reject_share: float,
) -> tuple[tuple[str, ...], WeatherReport | None]:
    """Add columns to table ``panel``; return their names, and what the weather file was like."""
    if weather_keep and weather is None:
        raise ValueError("weather_keep= selects rows of a weather file; give weather= too")
    if not calendar and holidays is None and weather is None:
        return (), None
    names = [*calendar, *(["holiday"] if holidays is not None else [])]
    columns = [f"m.{name}" for name in names]
    ds = con.execute("SELECT DISTINCT ds FROM panel ORDER BY ds").fetchnumpy()["ds"]
    _write_moments(con, ds.astype("datetime64[us]"), zone, holidays)
    joins = "JOIN _moments m USING (ds)"
    report = None
    if weather is not None:
        taken = [row[0] for row in con.execute("DESCRIBE panel").fetchall()] + names
        report = read_weather(
            con, weather, keep=weather_keep or {}, taken=taken, max_reject_share=max_reject_share
        )
        moment = _join_on(report)
        joins += f" LEFT JOIN _weather w ON w.moment = {moment}"
        columns += [f"w.{identifier(value)}" for value in report.columns]
        names += report.columns
        report = _with_gaps(con, report, moment)
    con.execute(f"""
        CREATE OR REPLACE TABLE panel AS
        SELECT p.*, {", ".join(columns)} FROM panel p {joins} ORDER BY unique_id, ds""")
    con.execute("DROP TABLE _moments")
    return tuple(names), report


def _with_gaps(con: Connection, report: WeatherReport, moment: str) -> WeatherReport:
    """Return the report with a note about periods for which the file has no row."""
    [(periods, without)] = con.execute(
        f"SELECT count(*), count(*) FILTER (w.moment IS NULL) FROM _moments LEFT JOIN _weather w "
        f"ON w.moment = {moment}"
    ).fetchall()
    if not without:
        return report
    name = report.files[0].source
    return replace(
        report, notes=(*report.notes, f"{name}: no weather for {without:,} of {periods:,} periods")
    )


def read_covariates(path: str | os.PathLike[str], ds: np.ndarray, zone: str) -> Columns:
    """Return the columns of a CSV or Parquet file, such as a weather forecast, at the periods `ds`.

    Parameters
    ----------
    path : one row per local day or hour, as for ``weather`` of :func:`build_panel`.
    ds : starts of periods, naive UTC, ascending.

    Returns
    -------
    ``ds`` and the columns of numbers; NaN where the file says nothing. Periods after the last that the file
    knows are left out.
    """
    with connect(memory_limit="500MB", inputs=[path]) as con:
        _write_moments(con, np.asarray(ds, "datetime64[us]"), zone, None)
        report = read_weather(con, path, keep={}, what="covariates")
        columns = ", ".join(f"w.{identifier(value)}" for value in report.columns)
        found = con.execute(
            f"SELECT ds, {columns} FROM _moments LEFT JOIN _weather w ON w.moment = {_join_on(report)} "
            "ORDER BY ds"
        ).fetchnumpy()
    columns_ahead = {name: plain(values) for name, values in found.items()}
    told = np.zeros(len(ds), bool)
    for name in report.columns:
        columns_ahead[name] = columns_ahead[name].astype(np.float64)
        told |= np.isfinite(columns_ahead[name])
    if not told.any():
        raise ValueError(
            f"covariates file {path} says nothing about the periods from {ds[0]} to {ds[-1]} (UTC); "
            "give one with rows for the days to forecast"
        )
    until = int(np.flatnonzero(told)[-1]) + 1
    return {name: values[:until] for name, values in columns_ahead.items()}


def _join_on(report: WeatherReport) -> str:
    """Return SQL for the time of a period by which it finds its row of the weather file."""
    return f"date_trunc('{report.step}', {'ds' if report.in_utc else 'local'})"


def _write_moments(con: Connection, ds: np.ndarray, zone: str, holidays: str | None) -> None:
    """Write table ``_moments(ds, local, hour, weekday, month, holiday)`` for periods."""
    local = local_seconds(ds, zone).astype("datetime64[s]")
    day = local.astype("datetime64[D]")
    moments = {
        "ds": ds,
        "local": local.astype("datetime64[us]"),
        "hour": (local - day).astype(np.int64) // 3600,
        "weekday": weekday(day.astype(np.int64)),
        "month": local.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "holiday": np.zeros(len(ds), bool) if holidays is None else is_holiday(ds, zone, holidays),
    }
    con.register("_frame", moments)
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _moments AS
        SELECT ds, local, hour::TINYINT AS hour, weekday::TINYINT AS weekday, month::TINYINT AS month, holiday
        FROM _frame""")
    con.unregister("_frame")
