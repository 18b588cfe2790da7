"""Inputs of the quantile network: expected count, place, calendar, weather, lags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Calendar
from unmet.forecasting._parametric import Parametric

Floats = NDArray[np.float64]
WEEKS_BACK = 4


@dataclass(frozen=True)
class Scores:
    """Normal scores (P, T) of past counts under the negative binomial, with flags where they are bounds.

    Unknown scores are 0.
    """

    score: Floats
    censored: NDArray[np.bool_]

    def lags(self, period: NDArray[np.int64], week: int) -> list[Floats]:
        """Return scores and flags four to one weeks before each period, oldest first; columns (P, n).

        The lag is the smallest whole number of weeks that reaches known periods.
        """
        end = self.score.shape[1]
        back = np.maximum(1, -(-(period - end + 1) // week))  # whole weeks until the past is reached
        columns = []
        for extra in range(WEEKS_BACK - 1, -1, -1):
            at = period - (back + extra) * week
            inside = at >= 0
            take = np.maximum(at, 0)
            columns.append(np.where(inside, self.score[:, take], 0.0))
            columns.append(np.where(inside, self.censored[:, take], False).astype(np.float64))
        return columns


def inputs(
    model: Parametric,
    mean: Floats,
    shape: Floats,
    calendar: Calendar,
    covariates: Mapping[str, Floats],
    lags: list[Floats],
    short: Floats,
    places: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the columns of the network, rows by place, shape (P · n, columns).

    The first 8 columns are the sequence: score and flag of the same hour four to one weeks before. Then come
    log mean and shape of the negative binomial, the level of the place, how often the place runs out
    (`short`), the hour (by day the weekday, by week the season) as two waves, Saturday, Sunday and the
    covariates.
    """
    size = mean.shape
    along = _along(model, calendar, covariates)
    across = [model.rates.level if places is None else model.rates.level[places], short]
    parts = [*lags, np.log(np.maximum(mean, 1e-6)), np.log(shape)]
    parts += [np.broadcast_to(values[:, None], size) for values in across]
    parts += [np.broadcast_to(values, size) for values in along]
    return np.stack([np.ascontiguousarray(part).reshape(-1) for part in parts], axis=1)


def inputs_of_rows(
    model: Parametric,
    mean: Floats,
    shape: Floats,
    calendar: Calendar,
    covariates: Mapping[str, Floats],
    lag: Callable[[NDArray[np.int64]], tuple[Floats, NDArray[np.bool_]]],
    short: Floats,
    place: NDArray[np.int64],
    period: NDArray[np.int64],
    week: int,
) -> Floats:
    """Return the same columns for single rows (n,); `lag` returns their scores and flags at other periods."""
    parts: list[Floats] = []
    for back in range(WEEKS_BACK, 0, -1):
        score, flag = lag(period - back * week)
        parts += [score, flag.astype(np.float64)]
    parts += [np.log(np.maximum(mean, 1e-6)), np.log(shape), model.rates.level[place], short[place]]
    parts += [values[period] for values in _along(model, calendar, covariates)]
    return np.stack(parts, axis=1)


def _along(model: Parametric, calendar: Calendar, covariates: Mapping[str, Floats]) -> list[Floats]:
    """Return the columns that all places share, each (T,)."""
    share = {72: calendar.hour / 24, 7: calendar.weekday / 7}.get(calendar.cells, calendar.years % 1)
    turn = 2 * np.pi * share
    along = [np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn)]
    along += [(calendar.weekday == 5).astype(float), (calendar.weekday == 6).astype(float)]
    for name, known in model.terms.columns.items():
        usual = np.asarray(known["usual"])[calendar.hour]
        values = np.asarray(covariates.get(name, usual), np.float64)
        values = np.clip(np.where(np.isfinite(values), values, usual), known["lowest"], known["highest"])
        along.append((values - known["lowest"]) / (known["highest"] - known["lowest"]))
    return along
