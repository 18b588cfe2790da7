"""Forecast the series of a long frame, by the column names that users of Nixtla's libraries know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.adapters._series import Series, read_frame, write_frame


def forecast_frame(
    df: Any, h: int, *, season: int = 1, level: Sequence[float] = (90,), model: Any = None
) -> Any:
    """Forecast every series of a frame `h` periods ahead, with intervals that know of capped rows.

    One model is fitted to all series. It sees, each relative to the mean of its series, the same point of
    earlier seasons and whether it was capped, the mean of recent periods, and the place in the season.

    Parameters
    ----------
    df : pandas or Polars frame in long format: `unique_id`, `ds` (one step apart within a series), `y`, and
        optionally `threshold` (the cap of every row) or `censored` (flags of the capped rows).
    h : periods ahead.
    season : length of a season in periods, such as 7 for days or 52 for weeks.
    level : coverage of the central intervals, in percent.
    model : estimator to use; a `CensoredQuantileRegressor` by default.

    Returns
    -------
    frame of the same kind
        `unique_id`, `ds`, `unmet` (the median), and `unmet-lo-90`, `unmet-hi-90` for each level. Values are
        at least 0 if no y was negative.
    """
    series = read_frame(df)
    columns = _forecast(series, _whole(h, "h"), _whole(season, "season"), level, model)
    return write_frame(df, columns)


def cross_validate_frame(
    df: Any,
    h: int,
    *,
    season: int = 1,
    level: Sequence[float] = (90,),
    n_windows: int = 1,
    step_size: int | None = None,
    model: Any = None,
) -> Any:
    """Forecast the end of every series as if it had not been seen, from several cutoffs.

    Parameters are those of `forecast_frame`; `n_windows` and `step_size` mean what they mean in Nixtla's
    `cross_validation`: the last window ends with the data, and cutoffs are `step_size` periods apart (`h` by
    default).

    Returns
    -------
    frame of the same kind
        As `forecast_frame`, with `cutoff` (the last period that was seen), `y`, and the columns `threshold`
        and `censored` that the frame has: a capped y is a bound, not a value to be measured against.
    """
    series = read_frame(df)
    ahead, windows = _whole(h, "h"), _whole(n_windows, "n_windows")
    step = ahead if step_size is None else _whole(step_size, "step_size")
    parts = []
    for window in range(windows):
        left_out = ahead + (windows - 1 - window) * step
        seen = [one.until(len(one.y) - left_out) for one in series]
        found = _forecast(seen, ahead, _whole(season, "season"), level, model)
        found["cutoff"] = np.repeat([one.ds[-1] for one in seen], ahead)
        for name in ("y", "threshold", "censored"):
            values = [one.column(name) for one in series]
            if all(value is not None for value in values):
                ends = [len(one.y) - left_out for one in series]
                kept = [value[end : end + ahead] for value, end in zip(values, ends) if value is not None]
                found[name] = np.concatenate(kept)
        parts.append(found)
    return write_frame(df, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _forecast(
    series: list[Series], h: int, season: int, level: Sequence[float], model: Any
) -> dict[str, NDArray[Any]]:
    levels = [float(one) for one in level]
    if not levels or not all(0 < one < 100 for one in levels):
        raise ValueError(f"level must hold percentages between 0 and 100, got {list(level)!r}")
    tails = {one: ((100 - one) / 200, 1 - (100 - one) / 200) for one in levels}
    wanted = sorted({0.5, *(end for ends in tails.values() for end in ends)})
    tables = [one.features(h, season) for one in series]
    X = np.concatenate([table.past for table in tables])
    y = np.concatenate([table.y for table in tables])
    if len(y) < 20:
        raise ValueError(
            f"season={season} and h={h} leave {len(y)} rows to fit: give longer series or a shorter season"
        )
    caps = {}
    for name in ("threshold", "censored"):
        values = [getattr(table, name) for table in tables]
        if all(value is not None for value in values):
            caps[name] = np.concatenate(values)
    if model is None:
        from unmet.estimators import CensoredQuantileRegressor

        model = CensoredQuantileRegressor(random_state=0)
    from sklearn.base import clone

    fitted = clone(model).set_params(quantiles=tuple(wanted)).fit(X, y, **caps)
    ahead = fitted.predict_quantiles(np.concatenate([table.ahead for table in tables]), wanted)
    ahead = ahead * np.repeat([table.scale for table in tables], h)[:, None]
    if all((one.y[np.isfinite(one.y)] >= 0).all() for one in series):
        ahead = np.maximum(ahead, 0.0)
    found: dict[str, NDArray[Any]] = {
        "unique_id": np.repeat([one.unique_id for one in series], h).astype(object),
        "ds": np.concatenate([one.next_periods(h) for one in series]),
        "unmet": ahead[:, wanted.index(0.5)],
    }
    for one, (low, high) in tails.items():
        found[f"unmet-lo-{one:g}"] = ahead[:, wanted.index(low)]
        found[f"unmet-hi-{one:g}"] = ahead[:, wanted.index(high)]
    return found


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)
