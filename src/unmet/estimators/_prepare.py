"""Turn data and settings into training jobs."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, mirror_levels
from unmet.estimators._rows import canonical_rows
from unmet.estimators._scaling import Scaling, find_scaling
from unmet.estimators._settings import Settings
from unmet.networks import LocationScale, ModelSpec, NetworkSpec, TobitShape, layout
from unmet.training import (
    Hyper,
    Job,
    ProgramSpec,
    blank,
    padded_batches,
    padded_columns,
    padded_rows,
    slots,
    views,
)

# batch_size="auto": full batch up to this many rows, then mini-batches of _AUTO_BATCH.
_FULL_BATCH_ROWS = 16384
_AUTO_BATCH = 2048
# Gradient steps if max_epochs is None.
_AUTO_STEPS = 2000
_LEAST_EPOCHS = 10


@dataclass(frozen=True)
class Prepared:
    """The jobs of one fit: a network per group of levels and restart, tagged (group, restart).

    Left-censored problems are mirrored: jobs, scaling and levels then belong to −y.
    """

    jobs: tuple[Job, ...]
    members: tuple[tuple[float, ...], ...]  # the levels of each group
    scaling: Scaling
    mirrored: bool


def fitted_levels(settings: Settings, kind: str) -> tuple[float, ...]:
    """Return the levels to fit: the requested ones, and a grid if the model needs one."""
    levels = set(settings.quantiles)
    if isinstance(settings.head, LocationScale):
        levels |= set(settings.head.grid)
    elif kind == "flags" and settings.loss == "censored" and isinstance(settings.head, str):
        levels |= set(LocationScale().grid)
    return tuple(sorted(levels))


def prepare(
    X: NDArray[np.float64],
    observed: Observed,
    weight: NDArray[np.float64] | None,
    validation: NDArray[np.bool_] | None,
    settings: Settings,
    seed: int,
) -> Prepared:
    """Do everything between data and trainer: canonical rows, split, scaling, padding."""
    mirrored = observed.side == "left"
    if mirrored:  # q_θ of y is −q_{1−θ} of −y, so one implementation serves both sides
        observed = observed.mirrored()
    kind = observed.kind
    if settings.loss == "published" and kind != "none":
        cap = np.where(observed.censored, observed.observed, np.inf)
        objective = "quantile"
        if isinstance(settings.head, LocationScale):  # the published loss alone, without the likelihood term
            settings = replace(settings, head=replace(settings.head, likelihood=0.0))
    else:
        cap = observed.cap
        objective = "portnoy" if kind == "flags" else "quantile"
    if isinstance(settings.head, TobitShape):
        objective = "tobit"
    if objective == "portnoy" and not settings.joint:
        raise ValueError(
            "joint=False needs threshold= beside censored=, because the weights of flagged rows use all "
            "quantiles together: pass threshold=, or set joint=True or loss='published'"
        )
    table = np.empty((len(observed), X.shape[1] + 4))
    table[:, :-4] = X
    table[:, -4], table[:, -3], table[:, -2] = observed.observed, cap, observed.censored
    table[:, -1] = False if validation is None else validation
    index, share = canonical_rows(table, weight)
    stopping = settings.patience is not None or validation is not None
    held = _held_out(len(index), None if validation is None else validation[index], settings, seed)
    if held is not None:  # training rows first
        place = np.argsort(held, kind="stable")
        index, share = index[place], share[place]
    train = len(index) if held is None else len(index) - int(np.count_nonzero(held))
    columns = table[index].T  # features, then y, cap, flag, validation
    scaling, location, scale = find_scaling(
        columns[:-4, :train],
        columns[-4, :train],
        share[:train],
        bool(columns[-2, :train].any()),
        settings.standardise,
    )
    if settings.fixed_scale is not None:
        scale = settings.fixed_scale / (scaling.y_scale or 1.0)

    levels = fitted_levels(settings, kind)
    if mirrored:
        levels = mirror_levels(levels)
    members = (levels,) if settings.joint else tuple((level,) for level in levels)
    spec, epochs = _program_spec(settings, objective, X.shape[1], train, len(index) - train, members[0])
    floats, integers, problem = blank(spec)
    _fill(problem.train, spec.batches, columns[:, :train], share[:train], scaling)
    if stopping:
        _fill(problem.stop, 1, columns[:, train:], share[train:], scaling)
    seen = columns[-4, :train]
    highest, span = float(seen.max()), float(seen.max() - seen.min())
    far = (highest + max(span, scaling.y_scale, 1e-12) - scaling.y_center) / (scaling.y_scale or 1.0)
    problem.real[: X.shape[1]] = 1
    numbers = layout(spec.model).noise
    rates = (settings.learning_rate, settings.l2, settings.clip_norm, far, location, scale)
    jobs: list[Job] = []
    for group, member in enumerate(members):
        for restart in range(settings.n_restarts):
            if jobs:
                floats, integers = floats.copy(), integers.copy()
                problem = views(spec, floats, integers)
            first = group * 65536 + restart
            problem.hyper[:] = Hyper(*rates, 0.5 if restart else 0.0)
            integers[:] = (first, seed, epochs, settings.patience or epochs)
            problem.levels[:] = member
            if numbers:
                bits = np.random.Philox(key=np.array([first, seed], np.uint64))
                np.random.Generator(bits).standard_normal(numbers, np.float32, out=problem.noise)
            jobs.append(Job((group, restart), spec, floats, integers))
    return Prepared(tuple(jobs), members, scaling, mirrored)


def _held_out(
    rows: int, validation: NDArray[np.bool_] | None, settings: Settings, seed: int
) -> NDArray[np.bool_] | None:
    """Return the mask of rows that decide when to stop, or None if all rows train."""
    if validation is None and settings.patience is None:
        return None
    held = validation
    if held is None:
        held = np.zeros(rows, bool)
        count = min(max(1, round(settings.validation_fraction * rows)), rows - 1)
        held[np.random.RandomState(seed).permutation(rows)[:count]] = True
    if held.all() or not held.any():
        raise ValueError(
            "validation must leave some rows to train on and some to stop on, but it holds "
            f"{int(held.sum())} of {rows} distinct rows: change it, or set patience=None to train on all"
        )
    return held


def complete_network(network: NetworkSpec, columns: int) -> NetworkSpec:
    """Return the network for this many columns. By default an LSTM reads all, one feature per step."""
    if network.kind != "lstm":
        return network
    steps, features = network.sequence
    if steps == 0:
        steps, features = columns, 1
    if steps * features > columns:
        raise ValueError(
            f"sequence=({steps}, {features}) needs {steps * features} columns, but X has {columns}: "
            "shorten sequence or add columns"
        )
    return replace(network, sequence=(steps, features))


def model_spec(settings: Settings, columns: int, levels: tuple[float, ...]) -> ModelSpec:
    """Return the model for data with this many columns."""
    network = complete_network(settings.network, columns)
    padded = padded_columns(columns) if network.kind in ("linear", "mlp") else columns
    negated = settings.side == "left" and settings.initialiser == "ones"
    return ModelSpec(
        network,
        settings.head,
        padded,
        len(levels),
        settings.initialiser,
        settings.intercept,
        negated,
        levels if isinstance(settings.head, LocationScale) else (),
    )


@lru_cache(maxsize=4096)
def _program_spec(
    settings: Settings, objective: str, columns: int, rows: int, stop_rows: int, levels: tuple[float, ...]
) -> tuple[ProgramSpec, int]:
    """Return the program for a problem of this shape, and its number of epochs."""
    model = model_spec(settings, columns, levels)
    batch = settings.batch_size
    if batch == "auto":
        batch = None if rows <= _FULL_BATCH_ROWS else _AUTO_BATCH
    if not isinstance(batch, int) or batch >= rows:
        batches, size = 1, padded_rows(rows)
    else:
        batches, size = padded_batches(ceil(rows / batch)), batch
    epochs = settings.max_epochs or max(_LEAST_EPOCHS, ceil(_AUTO_STEPS / batches))
    spec = ProgramSpec(
        model=model,
        objective=objective,
        rows=size * batches,
        stop_rows=padded_rows(stop_rows) if stop_rows else 0,
        batches=batches,
        segments=gcd(size, 16) if batches > 1 else 1,
        slots=slots(size, _activations(model)),
        schedule=settings.schedule,
        smoothing=float(settings.smoothing),
    )
    return spec, epochs


def _activations(model: ModelSpec) -> int:
    """Return the number of floats that one row keeps alive in a training step."""
    network = model.network
    body = model.columns + sum(network.hidden) + 2 * network.units * network.sequence[0]
    scale = sum(model.head.scale_hidden) if isinstance(model.head, LocationScale) else 0
    return body + scale + 3 * model.levels


def _fill(
    rows: Any, batches: int, columns: NDArray[np.float64], share: NDArray[np.float64], scaling: Scaling
) -> None:
    """Write rows in the network's units. Mini-batches get equal numbers of real rows."""
    count, total = columns.shape[1], len(rows.y)
    place: Any = slice(0, count)
    if batches > 1:
        number = np.arange(count)
        place = (number % batches) * (total // batches) + number // batches
    unit = scaling.y_scale or 1.0
    rows.x[: len(columns) - 4, place] = (columns[:-4] - scaling.x_center[:, None]) / scaling.x_scale[:, None]
    rows.y[place] = (columns[-4] - scaling.y_center) / unit
    rows.cap[place] = (columns[-3] - scaling.y_center) / unit
    rows.censored[place] = columns[-2]
    rows.weight[place] = share / share.sum()
