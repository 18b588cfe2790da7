"""What is known of periods ahead: holidays from the calendar, covariates that are given, else the usual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.calendar import Calendar, is_holiday, make_calendar
from unmet.forecasting._grid import HOLIDAY, Grid
from unmet.forecasting._parametric import Parametric
from unmet.forecasting._terms import TimeTerms

Floats = NDArray[np.float64]
_RECENT_DAYS = 28


def known_ahead(
    terms: TimeTerms,
    given: Mapping[str, ArrayLike] | None,
    ds: NDArray[np.datetime64],
    zone: str,
    holidays: str | None,
) -> dict[str, Floats]:
    """Return the covariates known of the periods `ds`, by name; NaN where nobody knows.

    Parameters
    ----------
    given : one value per period; or, with an entry ``ds`` (naive UTC), values of other periods, of which
        those of `ds` are taken.
    holidays : region whose public holidays fill the column ``holiday`` where it is not given.
    """
    found: dict[str, Floats] = {}
    columns = {str(name): np.asarray(values) for name, values in (given or {}).items()}
    moments = columns.pop("ds", None)
    for name, values in columns.items():
        if name not in terms.columns and (name != HOLIDAY or holidays is None):
            raise ValueError(
                f"covariates has {name!r}, but the panel has no such covariate; it has "
                f"{', '.join(terms.columns) or 'none'}"
            )
        found[name] = _aligned(name, np.asarray(values, np.float64), moments, ds)
    if holidays is not None:
        by_calendar = is_holiday(ds, zone, holidays).astype(np.float64)
        told = found.get(HOLIDAY, np.full(len(ds), np.nan))
        found[HOLIDAY] = np.where(np.isfinite(told), told, by_calendar)
    return found


def _aligned(name: str, values: Floats, moments: Any, ds: NDArray[np.datetime64]) -> Floats:
    if moments is None:
        if values.shape != ds.shape:
            raise ValueError(
                f"covariates[{name!r}] must have one value per period, {len(ds)}, not {values.shape}; "
                "or give their periods as covariates['ds']"
            )
        return values
    at = np.asarray(moments, "datetime64[us]")
    if values.shape != at.shape or len(np.unique(at)) != len(at):
        raise ValueError(
            f"covariates[{name!r}] must have one value for each of covariates['ds'], all distinct"
        )
    order = np.argsort(at)
    place = np.minimum(np.searchsorted(at[order], ds), len(at) - 1)
    return np.where(at[order][place] == ds, values[order][place], np.nan)


@dataclass(frozen=True)
class RecentEffects:
    """Effect of each covariate in the last four weeks, log scale, less the effect of its usual value.

    `hour` is the local hour of each recent period (R,), `effect` has one column per covariate (R, C).
    """

    hour: NDArray[np.int64]
    effect: Floats

    def mean(self, hour: NDArray[np.int64], missing: NDArray[np.bool_]) -> Floats:
        """Return, for each period, the log mean effect of the covariates that are missing (n, C) there.

        Rain cuts demand for an hour; mean rain would cut it a little in every hour.
        """
        found = np.zeros(len(hour))
        if not missing.any():
            return found
        for row in np.unique(np.column_stack([missing, hour]), axis=0):
            here = self.hour == row[-1]
            if here.any() and row[:-1].any():
                together = self.effect[here][:, row[:-1].astype(bool)].sum(axis=1)
                same = (hour == row[-1]) & (missing == row[:-1].astype(bool)).all(axis=1)
                found[same] = np.log(np.exp(together).mean())
        return found


def recent_effects(model: Parametric, grid: Grid) -> RecentEffects:
    """Return the effects of the covariates in the last four weeks of a grid."""
    recent = slice(-_RECENT_DAYS * grid.per_day, None)
    covariates = {name: values[recent] for name, values in grid.covariates.items()}
    calendar = make_calendar(grid.ds[recent], grid.zone, grid.by)
    seen = model.terms.matrix(calendar, covariates) - model.terms.matrix(calendar, {})
    parts = [(seen[:, block] @ model.rates.slope[block]) for block in model.terms.blocks.values()]
    effect = np.column_stack(parts) if parts else np.zeros((len(seen), 0))
    return RecentEffects(calendar.hour, effect)


def usual_effect(
    terms: TimeTerms, recent: RecentEffects, calendar: Calendar, covariates: Mapping[str, Floats]
) -> Floats:
    """Return what to add to the log rate (n,) for the covariates that are not known."""
    count = len(calendar.hour)
    unknown = [~np.isfinite(covariates.get(name, np.full(count, np.nan))) for name in terms.columns]
    missing = np.column_stack(unknown) if unknown else np.zeros((count, 0), bool)
    return recent.mean(calendar.hour, missing)
