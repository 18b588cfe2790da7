"""Turn data and settings into training jobs, for a stack of problems of equal shape at once.

A stack of one takes the same steps in the same order, so that its jobs are the same to the bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._fitted import Fitted
from unmet.estimators._held_out import count_folds, held_out, holds_out, parts_of
from unmet.estimators._programs import (
    find_l2,
    find_normal_ridge,
    find_scale_ridge,
    fitted_levels,
    program_spec,
    suit_few_rows,
)
from unmet.estimators._rows import canonical_rows, distinct_rows
from unmet.estimators._scaling import Scaling, Units, find_units, units_of, without_outliers
from unmet.estimators._screen import PLENTY, scale_columns
from unmet.estimators._settings import Settings
from unmet.estimators._start import latent_start
from unmet.estimators._warm_start import check_same, scale_uses
from unmet.networks import LocationScale, TobitShape, layout
from unmet.training import Hyper, Job, blank

Floats = NDArray[np.float64]

# Rows of a table that are gathered at a time.
_BLOCK = 2**16


@dataclass(frozen=True)
class Prepared:
    """The jobs of one fit: a network per group and restart, tagged (group, restart).

    A group is one level, or all levels together. Groups with equal levels are averaged.

    Left-censored problems are mirrored: jobs, scaling and levels then belong to −y.
    """

    jobs: tuple[Job, ...]
    members: tuple[tuple[float, ...], ...]  # the levels of each group
    scaling: Scaling
    side: Side  # of the data as given


@dataclass(frozen=True)
class _Terms:
    """What is minimised, and the columns beside the features: each of shape (problems, rows)."""

    objective: str
    levels: tuple[float, ...]
    settings: Settings
    y: Floats
    cap: Floats
    flag: Floats
    floor: Floats | None  # if two-sided

    def columns(self) -> list[Floats]:
        return [*([] if self.floor is None else [self.floor]), self.y, self.cap, self.flag]


class _Features:
    """Columns of X in canonical order, (problems, columns, rows), a block of rows at a time."""

    def __init__(self, X: NDArray[Any], index: NDArray[np.intp]) -> None:
        self.X, self.index = X, index
        self.only = self._gather(slice(None)) if index.shape[1] <= _BLOCK else None

    def blocks(self, end: int) -> Iterator[tuple[slice, Floats]]:
        """Yield the first `end` rows in blocks."""
        if self.only is not None:
            yield slice(0, end), self.only[:, :, :end]
            return
        for begin in range(0, end, _BLOCK):
            part = slice(begin, min(begin + _BLOCK, end))
            yield part, self._gather(part)

    def _gather(self, part: slice) -> Floats:
        problems, rows, columns = self.X.shape
        if problems == 1 and not self.X.flags.c_contiguous:
            # Frames store one column after the other, and `take` along rows would first copy all of them.
            return np.ascontiguousarray(self.X[0].T[:, self.index[0, part]], np.float64)[None]
        place = self.index[:, part] + (np.arange(problems) * rows)[:, None]
        found = self.X.reshape(-1, columns).take(place.ravel(), axis=0)
        found = found.reshape(problems, -1, columns).swapaxes(1, 2)
        return np.ascontiguousarray(found, np.float64)


def prepare(
    X: NDArray[Any],
    observed: Observed,
    weight: Floats | None,
    validation: NDArray[np.bool_] | None,
    settings: Settings,
    seed: int,
    before: Fitted | None = None,
) -> Prepared:
    """Do everything between data and trainer: canonical rows, split, scaling, padding.

    `before` is a fit to go on from.
    """
    held = None if validation is None else validation[None]
    (found,) = prepare_stack(X[None], observed, weight, held, settings, [seed], before)
    assert found is not None
    return found


def prepare_stack(
    X: NDArray[Any],
    observed: Observed,
    weight: Floats | None,
    validation: NDArray[np.bool_] | None,
    settings: Settings,
    seeds: Sequence[int],
    before: Fitted | None = None,
) -> list[Prepared | None]:
    """Prepare problems of equal shape and kind. None stands for one that must be prepared alone.

    Parameters
    ----------
    X : array (problems, rows, columns)
    observed : their rows one after the other, all of one `kind`.
    weight : array (rows,), of a single problem.
    validation : array (problems, rows), optional
    before : of a single problem, a fit to go on from.
    """
    side, alone = observed.side, len(X) == 1
    terms = _terms(observed, settings, X.shape[:2])
    settings = terms.settings
    own = [*terms.columns(), np.zeros(X.shape[:2]) if validation is None else validation.astype(np.float64)]
    if alone:
        kept, share = canonical_rows(X[0], [column[0] for column in own], weight)
        index, used = kept[None], np.arange(1)
    else:
        index, distinct = distinct_rows(X, own)
        share, used = np.full(X.shape[1], 1 / X.shape[1]), np.flatnonzero(distinct)
    rows = index.shape[1]
    settings, folds = suit_few_rows(settings, rows, count_folds(rows, validation, settings))
    if folds > 1 and not alone:
        return [None] * len(X)
    held = None
    if folds == 1 and holds_out(rows, validation, settings):
        held = held_out(index, validation, settings, seeds)
        stop = np.count_nonzero(held, axis=1)
        wrong = (stop == 0) | (stop == rows)
        if alone and wrong[0]:
            raise ValueError(
                "validation must leave some rows to train on and some to stop on, but it holds "
                f"{int(stop[0])} of {rows} distinct rows: change it, or set patience=None to train on all"
            )
        used = used[~wrong[used]]
        used = used[stop[used] == stop[used[:1]]]
    found: list[Prepared | None] = [None] * len(X)
    if not len(used):
        return found
    train = rows
    if held is not None:  # training rows first
        place = np.argsort(held, axis=1, kind="stable")
        index = np.take_along_axis(index, place, axis=1)
        train = rows - int(stop[used[0]])
        if alone:
            share = share[place[0]]
    if len(used) < len(X):
        X, index = X[used], index[used]
    features = _Features(X, index)
    terms = _in_order(terms, used, index)
    own_seeds = [seeds[int(i)] for i in used]
    jobs = _jobs(features, terms, share, train, folds, settings, own_seeds, side, before)
    for number, prepared in zip(used, jobs):
        found[number] = prepared
    return found


def _terms(observed: Observed, settings: Settings, shape: tuple[int, int]) -> _Terms:
    """Return what is minimised. q_θ of y is −q_{1−θ} of −y, so one implementation serves both sides."""
    if observed.side == "left":
        observed = observed.mirrored()
    kind, floor = observed.kind, None
    flag = observed.censored.astype(np.float64)
    if observed.side == "both":
        if settings.loss == "published":
            raise ValueError(
                "loss='published' is for one side only: use loss='censored' for a floor and a cap"
            )
        floor, cap = (observed.lower, observed.upper) if kind == "intervals" else observed.limits
        objective = "intervals" if kind == "intervals" else "quantile"
        flag = observed.direction
    elif settings.loss == "published" and kind != "none":
        cap = np.where(observed.censored, observed.observed, np.inf)
        objective = "quantile"
        if isinstance(settings.head, LocationScale):  # the published loss alone, without the likelihood term
            settings = replace(settings, head=replace(settings.head, likelihood=0.0))
    else:
        cap = observed.cap
        objective = "portnoy" if kind == "flags" else "quantile"
    if isinstance(settings.head, TobitShape):
        objective = "tobit"
    if objective in ("portnoy", "intervals") and not settings.joint:
        raise ValueError(
            "joint=False is not for rows known by lower= and upper= alone, whose weights use all quantiles "
            "together: set joint=True, or use TobitRegressor"
            if objective == "intervals"
            else "joint=False needs threshold= beside censored=, because the weights of flagged rows use all "
            "quantiles together: pass threshold=, or set joint=True or loss='published'"
        )
    levels = fitted_levels(settings, kind)
    y, cap, flag = (column.reshape(shape) for column in (observed.observed, cap, flag))
    floor = None if floor is None else floor.reshape(shape)
    return _Terms(objective, levels, settings, y, cap, flag, floor)


def _in_order(terms: _Terms, used: NDArray[np.intp], index: NDArray[np.intp]) -> _Terms:
    """Return the columns of the used problems with their rows in the order of the index."""

    def ordered(column: Floats) -> Floats:
        return np.take_along_axis(column[used], index, axis=1)

    floor = None if terms.floor is None else ordered(terms.floor)
    return replace(terms, y=ordered(terms.y), cap=ordered(terms.cap), flag=ordered(terms.flag), floor=floor)


def _jobs(
    features: _Features,
    terms: _Terms,
    share: Floats,
    train: int,
    folds: int,
    settings: Settings,
    seeds: Sequence[int],
    side: Side,
    before: Fitted | None,
) -> Iterator[Prepared]:
    """Yield the jobs of each problem. Rows are in canonical order, those to train on first."""
    count, rows = terms.y.shape
    columns, weight = features.X.shape[2], share[:train] / share[:train].sum()
    seen = terms.y[:, :train]
    robust = isinstance(settings.head, LocationScale)
    tame = without_outliers(seen, weight) if robust else seen
    censored = (terms.flag[:, :train] != 0).any(axis=1)
    if before is None:
        units = find_units(lambda: features.blocks(train), tame, weight, censored, settings.standardise)
    else:
        units = units_of(before.scaling)
    levels = mirror_levels(terms.levels) if side == "left" else terms.levels
    members = (levels,) * folds if settings.joint else tuple((level,) for level in levels)
    stop = rows - train if folds == 1 else ceil(train / folds)
    training = train if folds == 1 else train - train // folds
    shape = (columns, training, stop)
    two_sided = terms.floor is not None
    spec, epochs = program_spec(settings, terms.objective, two_sided, *shape, members[0], folds)
    if before is not None:
        check_same(before, spec.model, members, columns, side)
    y_unit = np.where(units.y_scale == 0, 1.0, units.y_scale)
    most, least = seen.max(axis=1), seen.min(axis=1)
    span = np.maximum(most - least, units.y_scale)
    span[span == 0] = 1e-12
    if two_sided and terms.objective == "intervals":
        _close(terms, span)
    hyper = np.empty((count, len(Hyper._fields)))
    l2 = find_l2(settings, columns, training)
    scale = units.scale if settings.fixed_scale is None else settings.fixed_scale / y_unit
    hyper[:, :3] = settings.learning_rate, l2, settings.clip_norm
    hyper[:, 3], hyper[:, 4], hyper[:, 5] = (most + span - units.y_center) / y_unit, units.location, scale
    if folds > 1 and not two_sided:  # stopping early, a network has no time to find what is hidden
        hyper[:, 4:6] = _latent_starts(tame, terms.flag[:, :train] != 0, weight, units, hyper[:, 4:6])
    hyper[:, 7] = find_scale_ridge(settings, training)
    hyper[:, 8] = find_normal_ridge(settings, training)
    varying: Any = 1
    if before is not None:
        varying = scale_uses(before.members[0], columns)
    elif robust and settings.network.kind == "linear":
        varying = _scale_columns(features, terms.flag[:, :train], tame, weight, units)
    single = len(members) * settings.n_restarts == 1
    jobs: list[list[Job]] = [[] for _ in seeds]
    for group, member in enumerate(members):
        if group == 0 or folds > 1:
            floats, integers, problem = blank(spec, count)
            problem.real[:, :columns], problem.scaling[:, :columns] = 1, varying
            _fill(problem, spec.batches, features, terms, share, parts_of(group, folds, train, rows), units)
        for restart in range(settings.n_restarts):
            first = group * 65536 + restart
            hyper[:, 6] = 0.5 if restart else 0.0
            problem.hyper[:], problem.levels[:] = hyper, member
            integers[:, 0], integers[:, 1] = first, seeds
            integers[:, 2:] = epochs, settings.patience or epochs
            if layout(spec.model).noise:
                _draw(first, seeds, problem.noise)
            begin = before.members[group].weights if before is not None and restart == 0 else None
            for number in range(count):
                own = (floats[number], integers[number])
                parts = own if single else (own[0].copy(), own[1].copy())
                jobs[number].append(Job((group, restart), spec, *parts, begin))
    for number, mine in enumerate(jobs):
        yield Prepared(tuple(mine), members, units.scaling(number), side)


def _latent_starts(
    y: Floats, hidden: NDArray[np.bool_], weight: Floats, units: Units, seen: Floats
) -> Floats:
    """Return location and scale to start each problem from: of latent values where they can be found."""
    scaled = (y - units.y_center[:, None]) / np.where(units.y_scale == 0, 1.0, units.y_scale)[:, None]
    found = (latent_start(*rows, weight) for rows in zip(scaled, hidden))
    return np.array([default if start is None else start for start, default in zip(found, seen)])


def _draw(first: int, seeds: Sequence[int], noise: NDArray[np.float32]) -> None:
    """Write standard normal numbers that depend on `first` and the seed of each problem alone."""
    bits = np.random.Philox(key=np.zeros(2, np.uint64))
    numbers, state = np.random.Generator(bits), bits.state
    for seed, row in zip(seeds, noise):
        state["state"]["key"][:] = first, seed
        bits.state = state  # a new generator for each would cost four times as much
        numbers.standard_normal(dtype=np.float32, out=row)


def _close(terms: _Terms, span: Floats) -> None:
    """Put open ends of intervals beyond all data: there the unseen mass of their rows goes."""
    assert terms.floor is not None
    for floor, cap, far in zip(terms.floor, terms.cap, span):
        ends = np.concatenate([floor[np.isfinite(floor)], cap[np.isfinite(cap)]])
        floor[np.isinf(floor)] = ends.min() - far
        cap[np.isinf(cap)] = ends.max() + far


def _scale_columns(
    features: _Features, flag: Floats, y: Floats, weight: Floats, units: Units
) -> NDArray[np.bool_]:
    """Return which columns a scale network may use. Residuals of a line say so for linear networks only."""
    count, rows = y.shape
    columns = features.X.shape[2]
    if rows >= PLENTY * columns:
        return np.ones((count, columns), bool)
    _, block = next(features.blocks(rows))
    x = (block - units.x_center[:, :, None]) / units.x_scale[:, :, None]
    y = (y - units.y_center[:, None]) / np.where(units.y_scale == 0, 1.0, units.y_scale)[:, None]
    hidden = flag == 1  # floors and intervals count as seen
    return np.array([scale_columns(x[i], y[i], hidden[i], weight) for i in range(count)])


def _fill(
    problem: Any,
    batches: int,
    features: _Features,
    terms: _Terms,
    share: Floats,
    parts: tuple[Any, Any],
    units: Units,
) -> None:
    """Write rows in the network's units. Mini-batches get equal numbers of real rows."""
    columns = features.X.shape[2]
    position = np.arange(terms.y.shape[1])
    unit = np.where(units.y_scale == 0, 1.0, units.y_scale)[:, None]
    center = units.y_center[:, None]
    for target, part, size in ((problem.train, parts[0], batches), (problem.stop, parts[1], 1)):
        if target is None:
            continue
        chosen = position[part]
        total, count = target.y.shape[1], len(chosen)
        place: Any = slice(0, count)
        if size > 1:
            number = np.arange(count)
            place = (number % size) * (total // size) + number // size
        target.y[:, place] = (terms.y[:, part] - center) / unit
        target.cap[:, place] = (terms.cap[:, part] - center) / unit
        target.censored[:, place] = terms.flag[:, part]
        if terms.floor is not None:
            target.floor[:, place] = (terms.floor[:, part] - center) / unit
        target.weight[:, place] = share[part] / share[part].sum()
        slots = np.empty(len(position), np.intp)
        slots[chosen] = np.arange(total)[place]
        inside = np.zeros(len(position), bool)
        inside[chosen] = True
        for rows, block in features.blocks(len(position)):
            mine = inside[rows]
            if not mine.any():
                continue
            whole = isinstance(part, slice) and size == 1 and features.only is not None
            scaled = block[:, :, part if whole else mine] - units.x_center[:, :, None]
            scaled /= units.x_scale[:, :, None]
            if whole:
                target.x[:, :columns, :count] = scaled
            else:
                target.x[:, :columns, slots[rows][mine]] = scaled
