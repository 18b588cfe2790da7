"""The day to plan for: demand ahead, usual stock and usual returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unmet.calendar import DAY_STARTS, Calendar, PlaceGrid, lay_out, make_calendar
from unmet.forecasting import DemandModel
from unmet.planning._planned_day import KNOWN_DAY
from unmet.planning._stock_value import balanced_returns
from unmet.planning._usage import rates_by_class

# Days of history that show the usual stock of a place and its usual returns.
_USUAL_DAYS = 28


def lost_share(total: Mapping[str, Any]) -> float:
    """Return the share of unserved requests that were lost; the others were served next door.

    Parameters
    ----------
    total : what `DemandModel.lost_total` gives; without unserved requests the share is 1.
    """
    unserved = float(total.get("unserved", total["lost"])["mean"] or 0.0)
    return float(np.clip(total["lost"]["mean"] / unserved, 0.01, 1.0)) if unserved > 0 else 1.0


def usual_day(
    panel: Any,
    model: DemandModel,
    lost: float | Mapping[str, Any] = 0.0,
    *,
    start: Any = None,
    covariates: Mapping[str, Any] | None = None,
) -> dict[str, np.ndarray]:
    """Return the demand of the first whole day ahead, and the usual stock and returns of such a day.

    ``rate``, ``shape``, ``returns`` have the shape (places, periods of a day), ``stock`` and ``identified``
    (places,), ``ds`` holds the periods. The day starts at four o'clock local time. Stock is the mean over
    the last four weeks at the start of the day. Returns are those of the last four weeks by place, local
    hour, and working day or weekend (:func:`rates_by_class`: four such weekdays alone would be mostly
    noise), at the level of the demand ahead. Holidays are weekends.

    Parameters
    ----------
    panel : Panel with the places of the model.
    lost : what `DemandModel.lost_total` gives: returns then bear the same ratio to demand as they did on
        such days. Or a number, the estimated lost rides of the whole panel: what was served of all demand
        comes back (:func:`balanced_returns`).
    start : period (naive UTC) from which on to look for a whole day; by default the one after the panel.
    covariates : what is known of the days ahead, with their ``ds``, as for `DemandModel.forecast`.
    """
    per_day = model.per_day
    ahead = model.rates(2 * per_day, start=start, covariates=covariates)
    periods = ahead["ds"][: 2 * per_day]
    clock = make_calendar(periods, model.zone, model.by)
    known = model.known_ahead(2 * per_day, start=start, covariates=covariates)
    free = _free(clock, known.get("holiday"))
    first = int(np.flatnonzero(clock.hour == DAY_STARTS)[0]) if per_day > 1 else 0
    day = slice(first, first + per_day)
    shape = (len(model.places), 2 * per_day)
    quantiles = model.forecast(2 * per_day, start=start, covariates=covariates)
    identified = quantiles["identified_up_to"].reshape(shape)[:, day].min(axis=1) >= 0.5
    layout = lay_out(panel, model.zone)
    if not layout.complete or layout.ids != model.places.astype(str).tolist():
        raise ValueError("panel must have the places of the model and one row for every place and period")
    blank = _blank(panel, layout)
    # The last four weeks of which anything is known.
    recent = np.flatnonzero(np.isfinite(blank).any(axis=0))[-_USUAL_DAYS * per_day :]
    times = layout.times[recent]
    past = make_calendar(times, model.zone, model.by)
    returns, stock = (
        (layout.matrix(panel[name].astype(float)) + blank)[:, recent] for name in ("returns", "stock_start")
    )
    rate = ahead["rate"].reshape(shape)[:, day]
    marked = "holiday" in getattr(panel, "columns", panel)
    holiday = layout.matrix(panel["holiday"].astype(float))[0, recent] if marked else None
    off = _free(past, holiday)
    classes, wanted = past.hour + 24 * off, (clock.hour + 24 * free)[day]
    seen = rates_by_class(np.nan_to_num(returns), np.isfinite(returns).astype(float), classes)[:, wanted]
    level = _demand_of_such_days(lost, past, off, bool(free[first]), per_day)
    if level is not None:
        come_back = seen * (rate.sum() / level)
    else:
        gone = float(lost["lost"]["mean"] or 0.0 if isinstance(lost, Mapping) else lost)
        demand = np.nan_to_num(panel["y"].astype(float)).sum() + gone
        come_back = balanced_returns(rate, seen, float(np.clip(1.0 - gone / max(demand, 1.0), 0.0, 1.0)))
    starts = past.hour == DAY_STARTS if per_day > 1 else np.ones(len(times), bool)
    seen_at = np.isfinite(stock[:, starts])  # days on which the stock was unknown do not count
    standing = np.where(seen_at, stock[:, starts], 0.0).sum(axis=1) / np.maximum(seen_at.sum(axis=1), 1)
    return {
        "rate": rate,
        "shape": ahead["shape"].reshape(shape)[:, day],
        "returns": come_back,
        "stock": standing,
        "identified": identified,
        "ds": periods[day],
    }


def _blank(panel: Any, layout: PlaceGrid) -> np.ndarray:
    """Return NaN where nothing is known of a place, else 0; its returns and stock are then not zero."""
    if not {"observed", "inferred"} <= set(getattr(panel, "columns", panel)):
        return np.zeros(layout.shape)
    known = (layout.matrix(panel["observed"]) > 0) | (layout.matrix(panel["inferred"]) < 1)  # or closed
    return np.where(known, 0.0, np.nan)


def _free(calendar: Calendar, holiday: np.ndarray | None) -> np.ndarray:
    """Return which periods are at a weekend or on a holiday."""
    weekend = calendar.weekday >= 5
    return weekend if holiday is None else weekend | (np.nan_to_num(holiday) > 0)


def _demand_of_such_days(
    lost: float | Mapping[str, Any], past: Calendar, off: np.ndarray, free: bool, per_day: int
) -> float | None:
    """Return the mean demand of all places on past working days, or free days; None if it is unknown."""
    if not isinstance(lost, Mapping):
        return None
    days, begin, count = np.unique(past.day, return_index=True, return_counts=True)
    such = days[(count >= per_day - 1) & (off[begin] == free)]
    dates = set(such.astype("datetime64[D]").astype(str).tolist())
    entries = lost.get("days", ())
    least = KNOWN_DAY * max((one.get("known", 1.0) for one in entries), default=1.0)
    found = [
        float(one["demand"]) for one in entries if one["date"] in dates and one.get("known", 1.0) >= least
    ]
    mean = float(np.mean(found)) if found else 0.0
    return mean if mean > 0 else None
