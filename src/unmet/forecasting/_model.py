"""The fitted demand model: forecasts, rates, lost rides, calibration."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.calendar import make_calendar, next_periods, step_of
from unmet.calibration import LevelMap
from unmet.forecasting._ahead import RecentEffects, known_ahead, usual_effect
from unmet.forecasting._counts import count_quantiles
from unmet.forecasting._daily import sum_over_days
from unmet.forecasting._day_spread import DaySpread
from unmet.forecasting._grid import HOLIDAY
from unmet.forecasting._inputs import Scores, inputs, make_ahead
from unmet.forecasting._level_correction import raw_levels_by_band
from unmet.forecasting._lost_rides import Lost
from unmet.forecasting._network import Network
from unmet.forecasting._parametric import Parametric
from unmet.forecasting._self_check import SelfCheck
from unmet.runs import available_cores

Floats = NDArray[np.float64]
Columns = dict[str, np.ndarray]
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_PLACES_AT_ONCE = 512


@dataclass(frozen=True)
class DemandModel:
    """Latent demand of all places, from `fit_demand` or `load_demand`.

    Attributes
    ----------
    levels, places, zone, by, last : nominal levels, ids, time zone, step, last period of panel.
    parametric, network, network_name : the negative binomial and the quantile network that corrects it.
    shock_mean, shock_variance : shock of each place, given the last counts.
    city_state : mean and variance of the city's level on the last day.
    scores : normal scores of the last weeks, for lags. `short`: how often each place ran out.
    map, daily_map : levels to use, by band of predicted rate.
    recent : effects of the covariates in the last four weeks, for those that a forecast is not given.
    days : how far whole days lie from their forecasts, holidays and others.
    holidays : region whose public holidays forecasts know; None if the panel does not say.
    ahead : "day", or "period" for a model that forecasts the next period only.
    backtest, calibration, measures : columns, coverage report and comparison of models; None after loading.
    self_check : rides hidden by virtual stock-outs and their estimate; None if not asked for or loaded.
    daily_backtest : daily sums in the backtest: demand (completed by a draw), mean, quantiles.
    """

    levels: tuple[float, ...]
    places: NDArray[Any]
    zone: str
    by: str
    last: np.datetime64
    parametric: Parametric
    network: Network | None
    network_name: str
    shock_mean: Floats
    shock_variance: Floats
    city_state: tuple[float, float]
    scores: Scores
    short: Floats
    map: LevelMap
    daily_map: LevelMap | None
    recent: RecentEffects
    days: DaySpread
    seed: int
    holidays: str | None = None
    ahead: str = "day"
    backtest: Columns | None = None
    daily_backtest: Columns | None = None
    calibration: dict[str, Any] | None = None
    measures: list[dict[str, Any]] | None = None
    past: Lost | None = None
    self_check: SelfCheck | None = None
    unused: tuple[str, ...] = ()

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates that explain demand."""
        return tuple(self.parametric.terms.columns)

    @property
    def per_day(self) -> int:
        return step_of(self.by).per_day

    def forecast(
        self,
        horizon: int,
        *,
        places: Sequence[str] | None = None,
        start: Any = None,
        covariates: Mapping[str, ArrayLike] | None = None,
    ) -> Columns:
        """Return calibrated quantiles of demand for the next periods.

        Parameters
        ----------
        horizon : number of periods.
        places : ids; all by default.
        start : first period (naive UTC); by default the one after the panel.
        covariates : covariates of the panel by name, such as a weather forecast, one value per period; or
            with an entry ``ds`` (naive UTC) that says which periods the values are for. Public holidays come
            from the calendar if the panel has them. What is not known, or NaN, has its mean effect in the
            last four weeks; the intervals do not include that uncertainty.

        Returns
        -------
        columns unique_id, ds, mean, q05 … q95, identified_up_to, and unmet, unmet-lo-90, unmet-hi-90,
        unmet-lo-50, unmet-hi-50. The q columns are quantiles of demand + U, U uniform. Their whole part is
        the quantile of the count, which the `unmet` columns hold. Unidentified quantiles are inf.
        """
        index, ds, offset = self._ask(horizon, places, start)
        if self.ahead == "period" and offset + horizon > 1:
            raise ValueError(
                "horizon must be 1 and start the period after the panel: this model forecasts one period "
                "from all before it; fit with ahead='day' for more"
            )
        ahead = known_ahead(self.parametric.terms, covariates, ds, self.zone, self.holidays)
        chunks = [index[begin : begin + _PLACES_AT_ONCE] for begin in range(0, len(index), _PLACES_AT_ONCE)]

        def run(chunk: Any) -> tuple[Floats, Floats, Floats]:
            return self._quantiles(chunk, ds, offset, ahead)

        if len(chunks) == 1:
            parts = [run(chunks[0])]
        else:  # NumPy releases Python's lock, so threads are enough
            with ThreadPoolExecutor(available_cores()) as pool:
                parts = list(pool.map(run, chunks))
        mean, quantiles, identified = (np.concatenate(part) for part in zip(*parts))
        columns: Columns = {
            "unique_id": np.repeat(self.places[index], horizon),
            "ds": np.tile(ds, len(index)),
            "mean": mean,
        }
        columns |= {column_name(level): quantiles[:, k] for k, level in enumerate(self.levels)}
        columns["identified_up_to"] = identified
        return columns | nixtla_names(self.levels, quantiles)

    def forecast_days(
        self,
        days: int,
        *,
        places: Sequence[str] | None = None,
        start: Any = None,
        covariates: Mapping[str, ArrayLike] | None = None,
    ) -> Columns:
        """Return quantiles of the sums over the next days, with their own calibration."""
        if self.ahead == "period":
            raise ValueError("forecast_days is not for a model of the next period: fit with ahead='day'")
        if self.daily_map is None:
            raise ValueError(
                f"forecast_days is for panels with several periods a day, not by {self.by}: use forecast"
            )
        index, ds, offset = self._ask(days * self.per_day if days >= 1 else 0, places, start)
        ahead = known_ahead(self.parametric.terms, covariates, ds, self.zone, self.holidays)
        mean, shape = self._foreseen(index, ds, offset, ahead)
        common = self._common(offset + 1 + np.arange(len(ds)), ahead)[1]
        total, form = sum_over_days(mean, shape, self.parametric.shocks, self.per_day, common)
        total, form = total.reshape(-1), form.reshape(-1)
        quantiles = count_quantiles(self.daily_map.levels(total), total, form)
        columns: Columns = {
            "unique_id": np.repeat(self.places[index], days),
            "ds": np.tile(ds[:: self.per_day], len(index)),
            "mean": total,
        }
        return columns | {column_name(level): quantiles[:, k] for k, level in enumerate(self.levels)}

    def forecast_total(
        self, days: int, *, start: Any = None, covariates: Mapping[str, ArrayLike] | None = None
    ) -> Columns:
        """Return mean and quantiles of the demand of all places together on the next days, or weeks.

        Days err as a whole: the spread of past days, and on a holiday that of past holidays, is part of the
        interval.
        """
        index, ds, offset = self._ask(days * self.per_day if days >= 1 else 0, None, start)
        ahead = known_ahead(self.parametric.terms, covariates, ds, self.zone, self.holidays)
        mean, shape = self._foreseen(index, ds, offset, ahead)
        common = self._common(offset + 1 + np.arange(len(ds)), ahead)[1]
        by_place, form = sum_over_days(mean, shape, self.parametric.shocks, self.per_day, common)
        shared = common.reshape(days, self.per_day).mean(axis=1)
        total = by_place.sum(axis=0)
        own = (by_place**2 * np.maximum(1 / form - shared, 0.0)).sum(axis=0)
        variance = own / np.maximum(total, 1e-12) ** 2 + shared + self.days.ordinary
        wanted = np.broadcast_to(np.array(self.levels), (days, len(self.levels)))
        quantiles = count_quantiles(wanted, total, 1 / variance)
        columns: Columns = {"ds": ds[:: self.per_day], "mean": total}
        return columns | {column_name(level): quantiles[:, k] for k, level in enumerate(self.levels)}

    def rates(
        self,
        horizon: int,
        *,
        places: Sequence[str] | None = None,
        start: Any = None,
        covariates: Mapping[str, ArrayLike] | None = None,
    ) -> Columns:
        """Return mean (`rate`) and shape of the negative binomial of demand for the next periods."""
        index, ds, offset = self._ask(horizon, places, start)
        ahead = known_ahead(self.parametric.terms, covariates, ds, self.zone, self.holidays)
        mean, shape = self._foreseen(index, ds, offset, ahead)
        return {
            "unique_id": np.repeat(self.places[index], horizon),
            "ds": np.tile(ds, len(index)),
            "rate": mean.reshape(-1),
            "shape": shape.reshape(-1),
        }

    def known_ahead(
        self, horizon: int, *, start: Any = None, covariates: Mapping[str, ArrayLike] | None = None
    ) -> Columns:
        """Return ``ds`` and what is known of the next periods: covariates that are given, and holidays.

        Values are NaN where nobody knows; forecasts then take the mean effect of the last four weeks.
        """
        _, ds, _ = self._ask(horizon, [], start)
        return {"ds": ds} | known_ahead(self.parametric.terms, covariates, ds, self.zone, self.holidays)

    def lost(self) -> Columns:
        """Return every row of the panel with its demand and lost rides."""
        return self._seen().columns

    def lost_total(self) -> dict[str, Any]:
        """Return totals with 90% intervals: all places, each place, each day."""
        return self._seen().total

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model to a folder as safetensors and JSON, without pickle."""
        from unmet.forecasting._files import save_demand

        save_demand(self, folder)

    def _seen(self) -> Lost:
        if self.past is None:
            raise ValueError(
                "a loaded model does not hold the past: read lost.parquet of the run, or fit the panel again"
            )
        return self.past

    def _ask(self, horizon: int, places: Sequence[str] | None, start: Any) -> tuple[Any, Any, int]:
        """Return the requested places, starts of periods, and the periods between panel and first one."""
        most = step_of(self.by).per_year
        if (
            not isinstance(horizon, (int, np.integer))
            or isinstance(horizon, bool)
            or not 1 <= horizon <= most
        ):
            raise ValueError(f"horizon must be a whole number of periods from 1 to {most}, not {horizon!r}")
        offset = 0
        if start is not None:
            try:
                wanted = np.datetime64(start, "us")
            except ValueError:
                raise ValueError(f"start must be a moment such as 2024-06-01T00:00, not {start!r}") from None
            known = next_periods(self.last, most, self.zone, self.by)
            at = int(np.searchsorted(known, wanted))
            if at == len(known) or known[at] != wanted:
                raise ValueError(
                    f"start must be the start of a period within a year after {self.last}, not {start!r}"
                )
            offset = at
        ds = next_periods(self.last, offset + int(horizon), self.zone, self.by)[offset:]
        if places is None:
            return np.arange(len(self.places)), ds, offset
        position = {place: k for k, place in enumerate(self.places)}
        unknown = [place for place in places if place not in position]
        if unknown:
            raise ValueError(
                f"places: no place {unknown[0]!r} in the panel, which has {len(position)} other places"
            )
        return np.array([position[place] for place in places], np.int64), ds, offset

    def _foreseen(
        self, index: Any, ds: Any, offset: int, covariates: dict[str, Floats]
    ) -> tuple[Floats, Floats]:
        calendar = make_calendar(ds, self.zone, self.by, covariates.get(HOLIDAY))
        model = self.parametric
        level = model.rates.log_rate(calendar, model.terms.matrix(calendar, covariates), index)
        rate = np.exp(level + usual_effect(model.terms, self.recent, calendar, covariates))
        steps = offset + 1 + np.arange(len(ds))
        mean, variance = model.shocks.ahead(
            self.shock_mean[index, None], self.shock_variance[index, None], steps
        )
        level, common = self._common(steps, covariates)
        count = rate * level * mean
        return count, 1 / (1 / model.shocks.shape(count, mean, variance) + common)

    def _common(self, steps: NDArray[Any], covariates: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Return the city's level this many periods after the panel, and its relative variance."""
        days = (steps - 1) // self.per_day + 1
        after, spread = (np.full(len(steps), value) for value in self.city_state)
        mean, variance = self.parametric.city.ahead(after, spread, days)
        return mean, variance / mean**2 + self.days.common(covariates.get(HOLIDAY), len(steps))

    def _quantiles(
        self, index: Any, ds: Any, offset: int, covariates: dict[str, Floats]
    ) -> tuple[Floats, Floats, Floats]:
        mean, shape = self._foreseen(index, ds, offset, covariates)
        rate = mean.reshape(-1)
        if self.network is None:
            levels = self.map.levels(rate)
        else:
            part = Scores(self.scores.score[index], self.scores.censored[index])
            week = step_of(self.by).per_week
            back = make_ahead(self.ahead, self.per_day, week).lags
            period = part.score.shape[1] + offset + np.arange(len(ds))
            lags = part.lags(period, back, week)
            calendar = make_calendar(ds, self.zone, self.by, covariates.get(HOLIDAY))
            X = inputs(self.parametric, mean, shape, calendar, covariates, lags, self.short[index], index)
            around, signal = self.network.around, self.scores.signal
            if around is not None and signal is not None:
                place, at = np.repeat(index, len(ds)), np.tile(part.reached(period, back, week), len(index))
                X = around.columns(X, signal, place, at, back)
            table = np.array([band.level for band in self.map.bands])
            levels = raw_levels_by_band(self.network.predict_quantiles(X), self.map.band(rate), table)
        quantiles = count_quantiles(levels, rate, shape.reshape(-1))
        return rate, quantiles, self.map.identified_up_to(rate)


def column_name(level: float, prefix: str = "q") -> str:
    """Return the column name of a level, such as q05 for 0.05."""
    return f"{prefix}{round(100 * level):02d}"


def nixtla_names(levels: tuple[float, ...], quantiles: Floats) -> Columns:
    """Return the columns that users of Nixtla's libraries expect, as whole counts."""
    place = {round(100 * level): k for k, level in enumerate(levels)}
    wanted = {"unmet": 50, "unmet-lo-90": 5, "unmet-hi-90": 95, "unmet-lo-50": 25, "unmet-hi-50": 75}
    return {name: np.floor(quantiles[:, place[level]]) for name, level in wanted.items() if level in place}
