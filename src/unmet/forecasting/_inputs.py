"""Inputs of the quantile network: expected count, place, calendar, weather, lags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Calendar
from unmet.forecasting._parametric import Parametric

Floats = NDArray[np.float64]
AHEAD = ("day", "period")
_WEEKS_BACK = 4
_RECENT = 4  # periods before this one that a forecast of the next period sees


@dataclass(frozen=True)
class Ahead:
    """How far ahead forecasts are made.

    Attributes
    ----------
    name : "day" for a whole day, from what was known at its start; "period" for one period, from all before.
    every : periods between two forecasts.
    lags : periods back at which a network sees scores, longest first.
    """

    name: str
    every: int
    lags: tuple[int, ...]

    @property
    def each_period(self) -> bool:
        return self.name == "period"


def make_ahead(name: str, per_day: int, per_week: int) -> Ahead:
    """Return how far ahead a panel with this many periods a day and week is forecast."""
    if name not in AHEAD:
        raise ValueError(f"ahead must be 'day' or 'period', not {name!r}")
    if name == "day":
        return Ahead(name, per_day, tuple(back * per_week for back in range(_WEEKS_BACK, 0, -1)))
    if per_day == 1:
        raise ValueError("ahead='period' is for panels with several periods a day: leave it out")
    return Ahead(name, 1, (per_week, per_day, *range(_RECENT, 0, -1)))


@dataclass(frozen=True)
class Scores:
    """Normal scores (P, T) of past counts under the negative binomial, with flags where they are bounds.

    Unknown scores are 0. `signal` is what a place tells those around it, None if no network asks.
    """

    score: Floats
    censored: NDArray[np.bool_]
    signal: Floats | None = None

    def lags(self, period: NDArray[np.int64], back: tuple[int, ...], week: int) -> list[Floats]:
        """Return scores and flags this many periods back, longest lag first; columns (P, n).

        Lags grow by the smallest whole number of weeks that reaches known periods.
        """
        period = self.reached(period, back, week)
        columns = []
        for lag in back:
            at = period - lag
            inside = at >= 0
            take = np.maximum(at, 0)
            columns.append(np.where(inside, self.score[:, take], 0.0))
            columns.append(np.where(inside, self.censored[:, take], False).astype(np.float64))
        return columns

    def reached(self, period: NDArray[np.int64], back: tuple[int, ...], week: int) -> NDArray[np.int64]:
        """Return periods whole weeks earlier, as few as make all lags known."""
        last = period - min(back) - self.score.shape[1] + 1
        return np.asarray(period - week * np.maximum(0, -(-last // week)), np.int64)


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

    The first columns are the sequence: score and flag at each lag, by default of the same hour four to one
    weeks before. Then come log mean and shape of the negative binomial, the level of the place, how often
    the place runs out (`short`), the hour (by day the weekday, by week the season) as two waves, Saturday,
    Sunday and the covariates.
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
    back: tuple[int, ...],
) -> Floats:
    """Return the same columns for single rows (n,); `lag` returns their scores and flags at other periods."""
    parts: list[Floats] = []
    for periods in back:
        score, flag = lag(period - periods)
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
