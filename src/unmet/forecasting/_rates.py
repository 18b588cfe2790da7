"""The rate of demand by place and period: log-linear, aware of exposure, with shrinkage."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unmet.calendar import Calendar

Floats = NDArray[np.float64]

# Standard deviations of the normal priors that shrink each kind of effect (log scale).
_LEVEL, _CELL, _WEEK, _LOADING, _FACTOR, _TERM = 1.5, 1.0, 0.1, 1.0, 0.7, 0.3
_LONGEST_STEP = 1.0
_SMALLEST = 1e-4


@dataclass(frozen=True)
class RateModel:
    """log λ = level of the place + cell + hour of the week + Σₖ loading × factor of the cell + terms of time.

    Attributes
    ----------
    level : (P,)
    cell : (C,) hour by kind of day; `week` : (W,) difference of an hour of the week from its cell.
    loading, factor : (P, K) and (C, K), how profiles differ between kinds of places.
    slope : (q,) slopes of the time terms.
    """

    level: Floats
    cell: Floats
    week: Floats
    loading: Floats
    factor: Floats
    slope: Floats

    def log_rate(self, calendar: Calendar, terms: Floats, places: NDArray[np.int64] | None = None) -> Floats:
        """Return log λ, shape (P, T), of all places or some."""
        rows = slice(None) if places is None else places
        profile = self.level[rows, None] + self.cell + self.loading[rows] @ self.factor.T
        common = self.week[calendar.week] + terms @ self.slope
        return profile[:, calendar.cell] + common


def start_rates(y: Floats, exposure: Floats, cells: int, weeks: int, terms: int, rank: int) -> RateModel:
    """Return a model with levels from plain ratios and everything else flat."""
    overall = max(y.sum(), 1.0) / max(exposure.sum(), 1.0)
    level = np.log((y.sum(axis=1) + 5 * overall) / (exposure.sum(axis=1) + 5))
    rank = max(0, min(rank, len(y) - 1, cells - 1))
    return RateModel(
        np.maximum(level, np.log(_SMALLEST)),
        np.zeros(cells),
        np.zeros(weeks),
        np.zeros((len(y), rank)),
        np.zeros((cells, rank)),
        np.zeros(terms),
    )


def fit_rates(
    model: RateModel,
    y: Floats,
    exposure: Floats,
    shape: Floats | float,
    calendar: Calendar,
    terms: Floats,
    *,
    spill: Floats | None = None,
    rounds: int = 12,
) -> RateModel:
    """Improve a rate model by Fisher scoring, block by block.

    The log-likelihood of a row is that of a Poisson process with gamma shock, observed for the share
    `exposure` of the period (0 if not observed at all):

        y log λ − (r + y) log(r + λ e) + …       score r (y − λe) / (r + λe)

    It is exact although e depends on demand. `exposure` may include a known factor, such as a forecast shock.

    Parameters
    ----------
    shape : r, one number or one per row.
    spill : expected pickups by people who came from an empty neighbour; y is split in proportion.
    rounds : sweeps over the blocks.
    """
    cells = np.zeros((len(calendar.cell), calendar.cells))
    cells[np.arange(len(cells)), calendar.cell] = 1.0
    weeks = np.zeros((len(calendar.week), calendar.weeks))
    weeks[np.arange(len(weeks)), calendar.week] = 1.0
    common = np.hstack([cells, weeks, terms])
    sizes = (calendar.cells, calendar.weeks, terms.shape[1])
    prior = np.repeat([1 / _CELL**2, 1 / _WEEK**2, 1 / _TERM**2], sizes)

    def residuals(model: RateModel) -> tuple[Floats, Floats]:
        mean = np.exp(model.log_rate(calendar, terms)) * exposure
        own = y if spill is None else y * mean / np.maximum(mean + spill, 1e-12)
        damp = 1 / (1 + mean / shape)
        return (own - mean) * damp, mean * damp

    for sweep in range(rounds):
        score, weight = residuals(model)
        centre = model.level.mean()
        pull = (score.sum(axis=1) - (model.level - centre) / _LEVEL**2) / (weight.sum(axis=1) + 1 / _LEVEL**2)
        model = replace(model, level=model.level + _bounded(pull))

        score, weight = residuals(model)
        now = np.concatenate([model.cell, model.week, model.slope])
        curvature = (common * weight.sum(axis=0)[:, None]).T @ common + np.diag(prior)
        step = _bounded(np.linalg.solve(curvature, common.T @ score.sum(axis=0) - prior * now))
        ends = np.cumsum(sizes)[:2]
        cell, week, slope = np.split(now + step, ends)
        model = replace(model, cell=cell, week=week, slope=slope)

        if model.loading.shape[1] and sweep >= 2:
            score, weight = residuals(model)
            model = _fit_kinds(model, score @ cells, weight @ cells, first=not model.loading.any())
            score, weight = residuals(model)
            model = _fit_factors(model, score @ cells, weight @ cells)
    return model


def _fit_kinds(model: RateModel, score: Floats, weight: Floats, first: bool) -> RateModel:
    """Fit loadings of the places given the factors. Both start from the largest singular vectors."""
    rank = model.loading.shape[1]
    if first:
        ratio = score / (weight + 4.0)  # one step of each cell on its own, shrunk
        strength = np.sqrt(weight.sum(axis=0) / weight.sum())
        left, values, right = np.linalg.svd(ratio * strength, full_matrices=False)
        sign = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])[:rank]
        loading = left[:, :rank] * sign * np.sqrt(len(left))
        factor = (right[:rank].T * sign * values[:rank]) / np.sqrt(len(left))
        return replace(model, loading=loading, factor=factor / np.maximum(strength, 1e-6)[:, None])
    pull = score @ model.factor - model.loading / _LOADING**2
    curvature = np.einsum("pc,ck,cl->pkl", weight, model.factor, model.factor, optimize=True)
    curvature += np.eye(rank) / _LOADING**2
    return replace(model, loading=model.loading + _bounded(_solve(curvature, pull)))


def _fit_factors(model: RateModel, score: Floats, weight: Floats) -> RateModel:
    rank = model.loading.shape[1]
    pull = score.T @ model.loading - model.factor / _FACTOR**2
    curvature = np.einsum("pc,pk,pl->ckl", weight, model.loading, model.loading, optimize=True)
    curvature += np.eye(rank) / _FACTOR**2
    return replace(model, factor=model.factor + _bounded(_solve(curvature, pull)))


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrices, vectors[..., None])[..., 0], np.float64)


def _bounded(step: Floats) -> Floats:
    return np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
