"""A fitted model's view of a grid: forecast counts, scores of actual counts, rows to train on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import make_calendar
from unmet.forecasting._counts import count_step, draw_counts
from unmet.forecasting._grid import HOLIDAY, Grid
from unmet.forecasting._inputs import Scores, inputs
from unmet.forecasting._level_correction import score
from unmet.forecasting._parametric import Parametric, Past, look_ahead, look_back
from unmet.forecasting._spill import Neighbours

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A model and its day-ahead forecasts of the periods of a grid; matrices have shape (P, T).

    Attributes
    ----------
    counts : whole pickups of people who wanted this place: y minus a draw of those from neighbours.
    mean, shape : of the negative-binomial forecast; an incomplete first day uses the plain rate.
    below, mass : F(counts − 1) and f(counts) of the forecast.
    uniform : draws that make probability-integral values continuous.
    """

    model: Parametric
    grid: Grid
    past: Past
    counts: Floats
    mean: Floats
    shape: Floats
    below: Floats
    mass: Floats
    uniform: Floats
    scores: Scores

    @property
    def short(self) -> Floats:
        """The share of each place's known periods in which it ran out."""
        return self.grid.censored.sum(axis=1) / np.maximum(self.grid.known.sum(axis=1), 1)

    def inputs(self, first: int, last: int) -> Floats:
        """Return the columns of the network for periods [first, last), rows by place."""
        covariates = {name: values[first:last] for name, values in self.grid.covariates.items()}
        ds, holiday = self.grid.ds[first:last], covariates.get(HOLIDAY)
        calendar = make_calendar(ds, self.grid.zone, self.grid.by, holiday)
        lags = self.scores.lags(np.arange(first, last), self.grid.per_week)
        mean, shape = self.mean[:, first:last], self.shape[:, first:last]
        return inputs(self.model, mean, shape, calendar, covariates, lags, self.short)

    def completed(self, rng: np.random.Generator) -> Floats:
        """Return counts plus a draw of the unobserved rest: gamma-mixed Poisson with mean λ(1−e)·shock."""
        missing = self.past.rate * self.grid.missing
        shock = rng.standard_gamma(self.past.shape) / self.past.inverse_scale
        return self.counts + draw_counts(rng, missing * shock, self.model.shocks.groups)


def make_view(
    model: Parametric, grid: Grid, near: Neighbours | None, seed: int, origins_from: int | None = None
) -> View:
    """Return a model's view of a grid. Forecasts start at `origins_from` and whole days around it."""
    past = look_back(model, grid, near, origins_from)
    rng = np.random.default_rng([seed, 7])
    level = past.rate * grid.exposure * past.shape / past.inverse_scale
    share = np.where(past.came > 0, past.came / np.maximum(level + past.came, 1e-12), 0.0)
    counts = grid.y - rng.binomial(grid.y.astype(np.int64), np.clip(share, 0, 1))
    periods = len(grid.ds)
    first = (periods if origins_from is None else origins_from) % grid.per_day
    mean = past.foreseen.copy()
    shape = model.shocks.shape(mean, np.ones_like(mean), np.full_like(mean, model.shocks.variance))
    mean[:, first:], shape[:, first:] = look_ahead(model, past, first, periods, grid.per_day)
    below, mass = count_step(counts, mean, shape)
    uniform = np.random.default_rng([seed, 13]).uniform(size=mean.shape)
    pit = np.where(grid.censored, below, below + uniform * mass)
    scores = Scores(np.where(grid.known, score(pit), 0.0), grid.censored)
    return View(model, grid, past, counts, mean, shape, below, mass, uniform, scores)


def training_rows(view: View, seed: int, use: str = "exposure") -> tuple[Floats, Floats, Floats | None]:
    """Return columns, scores and thresholds of the training rows of a network.

    Rows in which there was never a vehicle say nothing and are left out.

    Parameters
    ----------
    use : "exposure" completes censored counts by a draw of the rest, "threshold" takes scores of
        min(y, threshold) with the threshold, "seen" takes counts as they are.
    """
    grid = view.grid
    week, periods = grid.per_week, len(grid.ds)
    first = (
        week if periods >= 2 * week else grid.per_day
    )  # use rows without any lag only if there are few others
    rows = (grid.known & (grid.exposure > 0))[:, first:].reshape(-1)
    X = view.inputs(first, periods)[rows]
    rng = np.random.default_rng([seed, 17])
    if use == "exposure":
        below, mass = count_step(view.completed(rng), view.mean, view.shape)
    else:
        below, mass = view.below, view.mass
    scores = score(below + view.uniform * mass)[:, first:].reshape(-1)[rows]
    if use != "threshold":
        return X, scores, None
    cap = np.where(np.isfinite(grid.threshold), grid.threshold, 0.0)
    caps = score(count_step(cap, view.mean, view.shape)[0])[:, first:].reshape(-1)[rows]
    return X, scores, caps
