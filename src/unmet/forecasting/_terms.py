"""Terms of the rate that depend only on time: piecewise linear weather, trend, yearly season."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Calendar

Floats = NDArray[np.float64]
_KNOTS = (0.25, 0.5, 0.75, 0.95)
_LEAST_ABOVE = 24  # periods above a knot
# A trend continues for four weeks beyond the data and then stays constant.
_TREND_AHEAD = 28 / 365.25


@dataclass(frozen=True)
class TimeTerms:
    """How covariates and the calendar become columns of about unit size.

    Attributes
    ----------
    columns : name → lowest, highest, knots, usual value by hour of day. Values are clipped to the range seen.
    last : end of the data in years.
    seasonal : whether there is a yearly wave, which needs a year of data.
    """

    columns: dict[str, dict[str, Any]]
    centre: Floats
    scale: Floats
    last: float
    seasonal: bool

    @property
    def blocks(self) -> dict[str, slice]:
        """The columns of the matrix that belong to each covariate."""
        found, begin = {}, 3 if self.seasonal else 1
        for name, known in self.columns.items():
            found[name] = slice(begin, begin + 1 + len(known["knots"]))
            begin = found[name].stop
        return found

    def matrix(self, calendar: Calendar, covariates: Mapping[str, Floats]) -> Floats:
        """Return the columns of the terms, shape (T, q)."""
        return (self._raw(calendar, covariates) - self.centre) / self.scale

    def _raw(self, calendar: Calendar, covariates: Mapping[str, Floats]) -> Floats:
        parts = [np.minimum(calendar.years - self.last, _TREND_AHEAD)]
        if self.seasonal:
            parts += [np.sin(2 * np.pi * calendar.years), np.cos(2 * np.pi * calendar.years)]
        for name, known in self.columns.items():
            usual = np.asarray(known["usual"])[calendar.hour]
            values = np.asarray(covariates.get(name, usual), np.float64)
            values = np.clip(np.where(np.isfinite(values), values, usual), known["lowest"], known["highest"])
            parts += [values, *(np.maximum(values - knot, 0.0) for knot in known["knots"])]
        return np.column_stack(parts)


def make_terms(calendar: Calendar, covariates: Mapping[str, Floats]) -> TimeTerms:
    """Choose knots and units from the data. Each covariate gets a piecewise line with up to four knots."""
    columns: dict[str, dict[str, Any]] = {}
    for name, values in sorted(covariates.items()):  # the order in a saved model
        finite = values[np.isfinite(values)]
        lowest, highest = float(finite.min()), float(finite.max())
        if lowest == highest:
            continue
        inner = finite[finite > lowest]  # many equal lowest values, such as hours without rain, set no knot
        # A bend that a few periods decide would carry the rate to any height.
        knots = [
            float(knot)
            for knot in np.unique(np.quantile(inner, _KNOTS))
            if lowest < knot < highest and (finite > knot).sum() >= _LEAST_ABOVE
        ]
        recent = np.flatnonzero(np.isfinite(values))[-28 * 24 :]
        usual = [
            float(values[recent[calendar.hour[recent] == hour]].mean())
            if (calendar.hour[recent] == hour).any()
            else float(finite.mean())
            for hour in range(24)
        ]
        columns[name] = {"lowest": lowest, "highest": highest, "knots": knots, "usual": usual}
    last = float(calendar.years[-1])
    plain = TimeTerms(columns, np.zeros(1), np.ones(1), last, last - float(calendar.years[0]) > 1.0)
    raw = plain._raw(calendar, covariates)
    scale = raw.std(axis=0)
    scale[0] = 0.25  # trend per quarter, for any length of the data
    return TimeTerms(columns, raw.mean(axis=0), np.where(scale > 1e-9, scale, 1.0), last, plain.seasonal)
