"""The rate of demand by place and period: log-linear, aware of exposure, with shrinkage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmet.calendar import Calendar

Floats = NDArray[np.float64]

# Standard deviations of the normal priors that shrink each kind of effect (log scale).
_LEVEL, _CELL, _WEEK, _LOADING, _FACTOR, _TERM = 1.5, 1.0, 0.1, 1.0, 0.7, 0.3
_LONGEST_STEP = 1.0
_SMALLEST = 1e-4
_AT_ONCE = 1 << 16  # rows whose matrices fit a cache


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

    def factors_of(self, calendar: Calendar, terms: Floats) -> tuple[Floats, Floats]:
        """Return λ as a product: a factor of each place and cell (P, C), and one of each period (T,)."""
        profile = self.level[:, None] + self.cell + self.loading @ self.factor.T
        return np.exp(profile), np.exp(self.week[calendar.week] + terms @ self.slope)

    def rate(self, calendar: Calendar, terms: Floats) -> Floats:
        """Return λ, shape (P, T)."""
        profile, common = self.factors_of(calendar, terms)
        found = profile[:, calendar.cell]
        found *= common
        return found


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
    sums = _Sums(y, exposure, shape, calendar, terms, spill)
    common = _Common(calendar, terms)
    sizes = common.sizes
    prior = np.repeat([1 / _CELL**2, 1 / _WEEK**2, 1 / _TERM**2], sizes)
    for sweep in range(rounds):
        score, weight = sums.by_place(model)
        centre = model.level.mean()
        pull = (score - (model.level - centre) / _LEVEL**2) / (weight + 1 / _LEVEL**2)
        model = replace(model, level=model.level + _bounded(pull))

        score, weight = sums.by_period(model)
        now = np.concatenate([model.cell, model.week, model.slope])
        curvature = common.products(weight) + np.diag(prior)
        step = _bounded(np.linalg.solve(curvature, common.sums(score) - prior * now))
        ends = np.cumsum(sizes)[:2]
        cell, week, slope = np.split(now + step, ends)
        model = replace(model, cell=cell, week=week, slope=slope)

        if model.loading.shape[1] and sweep >= 2:
            model = _fit_kinds(model, *sums.by_cell(model), first=not model.loading.any())
            model = _fit_factors(model, *sums.by_cell(model))
    return model


def _indicator(index: NDArray[np.int64], count: int) -> sparse.csr_array:
    """Return the matrix (count, n) that sums values by their index."""
    ones = np.ones(len(index))
    return sparse.csr_array((ones, (index, np.arange(len(index)))), shape=(count, len(index)))


@dataclass(frozen=True)
class _Common:
    """The columns that all places share: cells, hours of the week, and time terms.

    Each period has one cell and one hour of the week, so their products are counts by both.
    """

    calendar: Calendar
    terms: Floats

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.calendar.cells, self.calendar.weeks, self.terms.shape[1]

    @cached_property
    def _kinds(self) -> sparse.csr_array:
        """Cell and hour of the week of each period, as a matrix (C + W, T)."""
        calendar = self.calendar
        both = _indicator(calendar.cell, calendar.cells), _indicator(calendar.week, calendar.weeks)
        return sparse.csr_array(sparse.vstack(both))

    def sums(self, values: Floats) -> Floats:
        """Return the sum over periods of each column times `values` (T,)."""
        return np.concatenate([self._kinds @ values, values @ self.terms])

    def products(self, weight: Floats) -> Floats:
        """Return the sums over periods of each column times each other, weighted."""
        cells, weeks, _ = self.sizes
        cell, week = self.calendar.cell, self.calendar.week
        found = np.zeros((sum(self.sizes), sum(self.sizes)))
        kinds, terms = slice(None, cells + weeks), slice(cells + weeks, None)
        np.fill_diagonal(found[kinds, kinds], self._kinds @ weight)
        both = np.bincount(cell * weeks + week, weight, cells * weeks).reshape(cells, weeks)
        found[:cells, cells : cells + weeks], found[cells : cells + weeks, :cells] = both, both.T
        weighted = weight[:, None] * self.terms
        mixed = self._kinds @ weighted
        found[kinds, terms], found[terms, kinds] = mixed, mixed.T
        found[terms, terms] = self.terms.T @ weighted
        return found


@dataclass(frozen=True)
class _Sums:
    """Sums of scores and weights of all rows, by a few places at a time: no matrix of all rows is made.

    Each sum runs over places one by one, so the number of places at a time does not change a bit of it.
    """

    y: Floats
    exposure: Floats
    shape: Floats | float
    calendar: Calendar
    terms: Floats
    spill: Floats | None

    @cached_property
    def cells(self) -> sparse.csr_array:
        return _indicator(self.calendar.cell, self.calendar.cells)

    def by_place(self, model: RateModel) -> tuple[Floats, Floats]:
        """Return scores and weights of each place, (P,)."""
        found = [(score.sum(axis=1), weight.sum(axis=1)) for score, weight in self._rows(model)]
        return np.concatenate([s for s, _ in found]), np.concatenate([w for _, w in found])

    def by_period(self, model: RateModel) -> tuple[Floats, Floats]:
        """Return scores and weights of each period, (T,)."""
        scores, weights = np.zeros(self.y.shape[1]), np.zeros(self.y.shape[1])
        for score, weight in self._rows(model):
            for one, other in zip(score, weight):
                scores += one
                weights += other
        return scores, weights

    def by_cell(self, model: RateModel) -> tuple[Floats, Floats]:
        """Return scores and weights of each place and cell, (P, C)."""
        found = [((self.cells @ s.T).T, (self.cells @ w.T).T) for s, w in self._rows(model)]
        both = (np.concatenate([part[k] for part in found]) for k in (0, 1))
        score, weight = (np.ascontiguousarray(part) for part in both)  # the order of later sums rests on it
        return score, weight

    def _rows(self, model: RateModel) -> Iterator[tuple[Floats, Floats]]:
        """Yield scores and weights (n, T) of some places at a time; the next ones overwrite them."""
        profile, common = model.factors_of(self.calendar, self.terms)
        periods = self.y.shape[1]
        step = max(1, _AT_ONCE // periods)
        room = np.empty((3, min(step, len(self.y)), periods))
        for begin in range(0, len(self.y), step):
            part = slice(begin, begin + step)
            mean, score, damp = room[:, : len(self.y[part])]
            np.take(profile[part], self.calendar.cell, axis=1, out=mean, mode="clip")
            mean *= common
            mean *= self.exposure[part]
            shape = self.shape[part] if isinstance(self.shape, np.ndarray) else self.shape
            if self.spill is None:
                np.subtract(self.y[part], mean, out=score)
            else:
                np.add(mean, self.spill[part], out=score)
                np.maximum(score, 1e-12, out=score)
                np.divide(mean, score, out=score)
                score *= self.y[part]
                score -= mean
            np.add(mean, shape, out=damp)
            np.divide(shape, damp, out=damp)
            score *= damp
            mean *= damp
            yield score, mean


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
