"""A fitted model's view of a grid: forecast counts, scores of actual counts, rows to train on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import make_calendar
from unmet.forecasting._counts import count_step, draw_counts
from unmet.forecasting._grid import HOLIDAY, Grid
from unmet.forecasting._inputs import Ahead, Scores, inputs, inputs_of_rows, make_ahead
from unmet.forecasting._level_correction import score
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._network import rows_to_train
from unmet.forecasting._parametric import Parametric, Past, look_ahead, look_back, split_groups

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
TrainingRows = tuple[Floats, Floats, tuple[Whole, Whole]]
_PRIOR = 1.5  # expected counts that weigh as much as the usual


@dataclass(frozen=True)
class View:
    """A model and its forecasts of the periods of a grid, by default a day ahead; matrices (P, T).

    Attributes
    ----------
    counts : whole pickups of people who wanted this place: y minus a draw of those from neighbours.
    mean, shape : of the negative-binomial forecast; an incomplete first day uses the plain rate.
    uniform : draws that make probability-integral values continuous.
    ahead : how far ahead forecasts are made.
    """

    model: Parametric
    grid: Grid
    past: Past
    counts: Floats
    mean: Floats
    shape: Floats
    uniform: Floats
    ahead: Ahead

    @property
    def short(self) -> Floats:
        """The share of each place's known periods in which it ran out."""
        return self.grid.censored.sum(axis=1) / np.maximum(self.grid.known.sum(axis=1), 1)

    def step(self, first: int, last: int) -> tuple[Floats, Floats]:
        """Return F(counts − 1) and f(counts) of the forecasts of periods [first, last)."""
        part = (slice(None), slice(first, last))
        return count_step(self.counts[part], self.mean[part], self.shape[part])

    def scores(self, first: int, last: int) -> Scores:
        """Return the scores of periods [first, last); periods before the grid are unknown."""
        begin = max(first, 0)
        part = (slice(None), slice(begin, last))
        below, mass = self.step(begin, last)
        found = self._score(part, below, mass)
        missing = np.zeros((len(found), begin - first))
        flags = np.hstack([missing > 0, self.grid.censored[part]])
        return Scores(np.hstack([missing, found]), flags)

    def signal(self, first: int = 0, last: int | None = None) -> Floats:
        """Return what places tell those around them of periods [first, last), (P + 1, n); last all together.

        It is log (c + y) / (c + μe), with c = 1.5: the logarithm of the shock that a count y suggests where
        μe was expected, drawn to 0 where little was expected. Nothing known: 0.
        """
        begin, end = max(first, 0), len(self.grid.ds) if last is None else last
        part = (slice(None), slice(begin, end))
        known = self.grid.known[part]
        seen = np.where(known, self.counts[part], 0.0)
        expected = np.where(known, self.mean[part] * self.grid.exposure[part], 0.0)
        seen, expected = (np.vstack([values, values.sum(axis=0)]) for values in (seen, expected))
        found = np.log((_PRIOR + seen) / (_PRIOR + expected))
        return np.hstack([np.zeros((len(found), begin - first)), found])

    def inputs(self, first: int, last: int, scores: Scores, since: int) -> Floats:
        """Return the columns of the network for periods [first, last), rows by place.

        Scores are those of the periods from `since` on.
        """
        covariates = {name: values[first:last] for name, values in self.grid.covariates.items()}
        ds, holiday = self.grid.ds[first:last], covariates.get(HOLIDAY)
        calendar = make_calendar(ds, self.grid.zone, self.grid.by, holiday)
        lags = scores.lags(np.arange(first, last) - since, self.ahead.lags, self.grid.per_week)
        mean, shape = self.mean[:, first:last], self.shape[:, first:last]
        return inputs(self.model, mean, shape, calendar, covariates, lags, self.short)

    def inputs_of(self, place: Whole, period: Whole) -> Floats:
        """Return the columns of the network for single rows."""

        def lag(at: Whole) -> tuple[Floats, NDArray[np.bool_]]:
            there = (place, np.maximum(at, 0))
            below, mass = count_step(self.counts[there], self.mean[there], self.shape[there])
            return np.where(at >= 0, self._score(there, below, mass), 0.0), self.grid.censored[there] & (
                at >= 0
            )

        rows = (place, period)
        return inputs_of_rows(
            self.model,
            self.mean[rows],
            self.shape[rows],
            self.grid.calendar,
            self.grid.covariates,
            lag,
            self.short,
            place,
            period,
            self.ahead.lags,
        )

    def completed(self, rng: np.random.Generator, place: Whole, period: Whole) -> Floats:
        """Return counts plus a draw of the unobserved rest: gamma-mixed Poisson with mean λ(1−e)·shock.

        All rows are drawn, so that a row does not depend on which rows are asked for.
        """
        mean = rng.standard_gamma(self.past.shape)
        mean /= self.past.inverse_scale
        mean *= self.past.rate * self.grid.missing
        return self.counts[place, period] + draw_counts(rng, mean, self.model.shocks.groups)[place, period]

    def _score(self, rows: Any, below: Floats, mass: Floats) -> Floats:
        """Return normal scores of rows; those of rows that ran out are bounds, unknown ones are 0."""
        grid = self.grid
        pit = np.where(grid.censored[rows], below, below + self.uniform[rows] * mass)
        return np.where(grid.known[rows], score(pit), 0.0)


def make_view(
    model: Parametric,
    grid: Grid,
    near: NearbyPlaces | None,
    seed: int,
    origins_from: int | None = None,
    ahead: Ahead | None = None,
) -> View:
    """Return a model's view of a grid. Forecasts start at `origins_from` and whole days around it."""
    ahead = make_ahead("day", grid.per_day, grid.per_week) if ahead is None else ahead
    past = look_back(model, grid, near, origins_from, each_period=ahead.each_period)
    rng = np.random.default_rng([seed, 7])
    counts = grid.y.copy()
    split = split_groups(model.shocks, grid) if ahead.each_period else None
    for row in range(len(counts)):
        if split is not None:  # smoothed shocks would tell of later periods
            share = np.clip((past.own[row] - split[row]) / np.maximum(grid.y[row], 1), 0, 1)
            counts[row] = rng.binomial(grid.y[row].astype(np.int64), np.where(grid.y[row] > 0, share, 1.0))
            continue
        level = past.rate[row] * grid.exposure[row] * past.shape[row] / past.inverse_scale[row]
        came = past.came[row]
        share = np.where(came > 0, came / np.maximum(level + came, 1e-12), 0.0)
        counts[row] -= rng.binomial(grid.y[row].astype(np.int64), np.clip(share, 0, 1))
    periods = len(grid.ds)
    first = (periods if origins_from is None else origins_from) % ahead.every
    mean = past.foreseen.copy()
    shape = np.empty_like(mean)
    begun = mean[:, :first]
    usual = np.ones_like(begun), np.full_like(begun, model.shocks.variance)
    shape[:, :first] = model.shocks.shape(begun, *usual)
    mean[:, first:], shape[:, first:] = look_ahead(model, past, first, periods, ahead.every)
    uniform = np.random.default_rng([seed, 13]).uniform(size=mean.shape)
    return View(model, grid, past, counts, mean, shape, uniform, ahead)


def training_rows(view: View, seed: int, use: str = "exposure") -> tuple[Floats, Floats, tuple[Whole, Whole]]:
    """Return columns and scores of the rows that train a network, a sample of all, and place and period.

    Rows in which there was never a vehicle say nothing and are left out.

    Parameters
    ----------
    use : "exposure" completes censored counts by a draw of the rest, "seen" takes counts as they are.
    """
    grid = view.grid
    week, periods = grid.per_week, len(grid.ds)
    first = (
        week if periods >= 2 * week else grid.per_day
    )  # use rows without any lag only if there are few others
    found = np.flatnonzero((grid.known & (grid.exposure > 0))[:, first:])
    found = found[rows_to_train(len(found), seed, many=view.ahead.each_period)]
    place, period = found // (periods - first), found % (periods - first) + first
    rows = (place, period)
    counts = view.counts[rows]
    if use == "exposure":
        counts = view.completed(np.random.default_rng([seed, 17]), *rows)
    below, mass = count_step(counts, view.mean[rows], view.shape[rows])
    return view.inputs_of(*rows), score(below + view.uniform[rows] * mass), rows
