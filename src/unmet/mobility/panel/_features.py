"""Features from the past of a panel: lags, marked if they are only lower bounds, and rolling means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmet.mobility.panel._covariates import CALENDAR


def add_features(
    panel: Any,
    *,
    lags: Sequence[int] = (1,),
    rolling: Sequence[int] = (),
    calendar: Sequence[str] = (),
    zone: str | None = None,
) -> Any:
    """Return the panel with features added, as pandas or Polars and in the order that was given.

    Features use only what is known before the period starts: earlier rows of the same place.

    - ``lag_n``: y of n periods ago. ``lag_n_censored``: 1 if the place ran out then, so that y is only a
      lower bound of demand; 0 if y is exact. Both are NaN if the panel does not go back that far, or if
      nothing is known of that period (a panel with ``exposure``, which is then null).
    - ``mean_n``: mean of y over the last n periods, without those in which the place ran out or was unknown;
      NaN if there are no others.
    - ``hour``, ``weekday`` (Monday is 0), ``month``: local, at the start of the period; they need `zone`.

    Parameters
    ----------
    panel : data frame with ``unique_id, ds, y, censored`` and one row for every place and period, as
        :func:`build_panel` writes it. A missing period is an error, because it would shift the lags.
    """
    import narwhals as nw

    for name, numbers in (("lags", lags), ("rolling", rolling)):
        if any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1 for n in numbers):
            raise ValueError(f"{name} must be whole numbers of at least 1, got {list(numbers)!r}")
    wrong = [name for name in calendar if name not in CALENDAR]
    if wrong:
        raise ValueError(f"calendar must be among {', '.join(CALENDAR)}, got {wrong[0]!r}")
    if calendar and zone is None:
        raise ValueError("calendar must come with a time zone, for instance zone='America/New_York'")
    frame = nw.from_native(panel, eager_only=True)
    missing = [name for name in ("unique_id", "ds", "y", "censored") if name not in frame.columns]
    if missing:
        raise ValueError(f"panel has no column {missing[0]!r}; it needs unique_id, ds, y and censored")
    places = np.unique(frame["unique_id"].to_numpy().astype(str), return_inverse=True)[1]
    moments = frame["ds"].to_numpy().astype("datetime64[us]")
    order = np.lexsort((moments, places))
    start = _starts(places[order], moments[order])
    y = frame["y"].to_numpy().astype(float)[order]
    censored = frame["censored"].to_numpy().astype(bool)[order]
    known = np.ones(len(y), bool)
    if "exposure" in frame.columns:
        known = np.isfinite(frame["exposure"].to_numpy().astype(float))[order]
    y = np.where(known, y, np.nan)
    made: dict[str, np.ndarray] = {}
    for n in dict.fromkeys(lags):
        made[f"lag_{n}"] = _shift(y, start, n)
        made[f"lag_{n}_censored"] = _shift(np.where(known, censored, np.nan), start, n)
    for n in dict.fromkeys(rolling):
        made[f"mean_{n}"] = _mean(y, ~censored & known, start, n)
    back = np.empty(len(order), int)
    back[order] = np.arange(len(order))
    columns = {name: values[back] for name, values in made.items()}
    columns |= _calendar(frame["ds"], calendar, zone)
    native = nw.get_native_namespace(frame)
    new = [nw.new_series(name, values, backend=native) for name, values in columns.items()]
    if frame.implementation.is_pandas_like():
        index = nw.to_native(frame).index
        new = [nw.from_native(_with_index(nw.to_native(column), index), series_only=True) for column in new]
    return nw.to_native(frame.with_columns(*new))


def _with_index(series: Any, index: Any) -> Any:
    series.index = index
    return series


def _starts(places: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return, for each row, the first row of its place; raise ValueError if a period is missing."""
    if not len(places):
        return np.zeros(0, int)
    first = np.concatenate([[True], places[1:] != places[:-1]])
    grid = np.searchsorted(np.unique(moments), moments)
    gaps = np.flatnonzero(~first[1:] & (np.diff(grid) != 1))
    if len(gaps):
        what = "repeated" if grid[gaps[0] + 1] == grid[gaps[0]] else "missing"
        raise ValueError(
            f"panel must have one row for every place and period; after {moments[gaps[0]]} a row is {what}"
        )
    return np.maximum.accumulate(np.where(first, np.arange(len(places)), 0))


def _shift(values: np.ndarray, start: np.ndarray, n: int) -> np.ndarray:
    source = np.arange(len(values)) - n
    return np.where(source >= start, values[np.maximum(source, 0)], np.nan)


def _mean(values: np.ndarray, exact: np.ndarray, start: np.ndarray, n: int) -> np.ndarray:
    sums = np.r_[0.0, np.cumsum(np.where(exact, values, 0.0))]
    counts = np.r_[0, np.cumsum(exact)]
    here = np.arange(len(values))
    begin = np.maximum(here - n, start)
    seen = counts[here] - counts[begin]
    with np.errstate(invalid="ignore"):
        return np.where(seen > 0, (sums[here] - sums[begin]) / np.maximum(seen, 1), np.nan)


def _calendar(ds: Any, names: Sequence[str], zone: str | None) -> dict[str, np.ndarray]:
    if not names or zone is None:
        return {}
    import narwhals as nw

    local = ds.cast(nw.Datetime("us")).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    found = {
        "hour": local.dt.hour().to_numpy(),
        "weekday": local.dt.weekday().to_numpy() - 1,
        "month": local.dt.month().to_numpy(),
    }
    return {name: found[name].astype(np.int8) for name in names}
