"""Turn data and settings into training jobs."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._rows import canonical_rows
from unmet.estimators._scaling import Scaling, find_scaling, without_outliers
from unmet.estimators._screen import scale_columns
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
# Columns of the table beside the features: y, cap, flag, validation.
_OWN = 4
# Automatic stopping: an MLP on a full batch becomes this many networks, each stopped on rows it did not see.
_FOLDS = 5
_FOLD_EPOCHS = 200
# With fewer rows nothing is held out.
_LEAST_HELD_OUT_ROWS = 20
# Automatic penalties. A linear network's is this times columns per row: right if all of y is signal, and
# too weak to do harm otherwise.
_LINEAR_L2, _MLP_L2 = 0.5, 0.001
# Below this many rows the ridge of a scale network grows.
_RIDGE_ROWS = 300


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


def fitted_levels(settings: Settings, kind: str) -> tuple[float, ...]:
    """Return the levels to fit: the requested ones, and a grid if the model needs one."""
    levels = set(settings.quantiles)
    if isinstance(settings.head, LocationScale):
        levels |= set(settings.head.grid)
    elif kind in ("flags", "intervals") and settings.loss == "censored" and isinstance(settings.head, str):
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
    side = observed.side
    mirrored = side == "left"
    if mirrored:  # q_θ of y is −q_{1−θ} of −y, so one implementation serves both sides
        observed = observed.mirrored()
    kind = observed.kind
    two_sided = observed.side == "both"
    if two_sided and settings.loss == "published":
        raise ValueError("loss='published' is for one side only: use loss='censored' for a floor and a cap")
    if two_sided:
        floor, cap = (observed.lower, observed.upper) if kind == "intervals" else observed.limits
        objective = "intervals" if kind == "intervals" else "quantile"
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
            "joint=False needs threshold= beside censored=, because the weights of flagged rows use all "
            "quantiles together: pass threshold=, or set joint=True or loss='published'"
        )
    own = _OWN + two_sided  # columns that are not features
    table = np.empty((len(observed), X.shape[1] + own))
    table[:, :-own] = X
    table[:, -4], table[:, -3], table[:, -2] = observed.observed, cap, observed.censored
    if two_sided:
        table[:, -5], table[:, -2] = floor, observed.direction
    table[:, -1] = False if validation is None else validation
    index, share = canonical_rows(table, weight)
    if validation is not None:
        validation = validation[index]
    folds = _folds(len(index), validation, settings)
    held = None if folds > 1 else _held_out(len(index), validation, settings, seed)
    if held is not None:  # training rows first
        place = np.argsort(held, kind="stable")
        index, share = index[place], share[place]
    train = len(index) if held is None else len(index) - int(np.count_nonzero(held))
    columns = table[index].T  # features, then floor if two-sided, y, cap, flag, validation
    scaling, location, scale = find_scaling(
        columns[:-own, :train],
        columns[-4, :train],
        share[:train],
        bool(columns[-2, :train].any()),
        settings.standardise,
        robust=isinstance(settings.head, LocationScale),
    )
    if settings.fixed_scale is not None:
        scale = settings.fixed_scale / (scaling.y_scale or 1.0)

    levels = fitted_levels(settings, kind)
    if mirrored:
        levels = mirror_levels(levels)
    members = (levels,) * folds if settings.joint else tuple((level,) for level in levels)
    stop = len(index) - train if folds == 1 else ceil(train / folds)
    rows = train if folds == 1 else train - train // folds
    shape = (X.shape[1], rows, stop)
    spec, epochs = _program_spec(settings, objective, two_sided, *shape, members[0], folds)
    seen = columns[-4, :train]
    span = max(float(seen.max() - seen.min()), scaling.y_scale, 1e-12)
    if objective == "intervals":  # where the unseen mass of open rows goes
        ends = columns[[-5, -3]][np.isfinite(columns[[-5, -3]])]
        columns[-5][np.isinf(columns[-5])] = ends.min() - span
        columns[-3][np.isinf(columns[-3])] = ends.max() + span
    far = (float(seen.max()) + span - scaling.y_center) / (scaling.y_scale or 1.0)
    numbers = layout(spec.model).noise
    l2 = _l2(settings, X.shape[1], rows)
    rates = (settings.learning_rate, l2, settings.clip_norm, far, location, scale)
    ridges = (_scale_ridge(settings, rows), _normal_ridge(settings, columns[-2, :train], share[:train], rows))
    varying = _scale_columns(settings, columns[:, :train], share[:train], scaling)
    jobs: list[Job] = []
    for group, member in enumerate(members):
        for restart in range(settings.n_restarts):
            if not jobs or (folds > 1 and restart == 0):
                floats, integers, problem = blank(spec)
                problem.real[: X.shape[1]], problem.scaling[: X.shape[1]] = 1, varying
                used, held_out = _parts(group, folds, train, len(index))
                _fill(problem.train, spec.batches, columns[:, used], share[used], scaling)
                if spec.stop_rows:
                    _fill(problem.stop, 1, columns[:, held_out], share[held_out], scaling)
            else:
                floats, integers = floats.copy(), integers.copy()
                problem = views(spec, floats, integers)
            first = group * 65536 + restart
            problem.hyper[:] = Hyper(*rates, 0.5 if restart else 0.0, *ridges)
            integers[:] = (first, seed, epochs, settings.patience or epochs)
            problem.levels[:] = member
            if numbers:
                bits = np.random.Philox(key=np.array([first, seed], np.uint64))
                np.random.Generator(bits).standard_normal(numbers, np.float32, out=problem.noise)
            jobs.append(Job((group, restart), spec, floats, integers))
    return Prepared(tuple(jobs), members, scaling, side)


def _folds(rows: int, validation: NDArray[np.bool_] | None, settings: Settings) -> int:
    """Return how many networks share the rows, each without one part: five for an MLP as it comes."""
    automatic = settings.auto_stop and validation is None and settings.network.kind == "mlp"
    return _FOLDS if automatic and rows >= _LEAST_HELD_OUT_ROWS and _full_batch(settings, rows) else 1


def _parts(group: int, folds: int, train: int, rows: int) -> tuple[Any, Any]:
    """Return the rows that a network trains on and those that it stops on. Rows are in random order."""
    if folds == 1:
        return slice(0, train), slice(train, rows)
    part = np.arange(rows) % folds == group
    return np.flatnonzero(~part), np.flatnonzero(part)


def _l2(settings: Settings, columns: int, rows: int) -> float:
    if not settings.auto_l2 or not isinstance(settings.head, LocationScale):
        return settings.l2
    return {"linear": _LINEAR_L2 * columns / rows, "mlp": _MLP_L2}.get(settings.network.kind, 0.0)


def _scale_ridge(settings: Settings, rows: int) -> float:
    if not isinstance(settings.head, LocationScale):
        return 0.0
    return settings.head.scale_ridge * max(1.0, _RIDGE_ROWS / rows)


def _normal_ridge(
    settings: Settings, flags: NDArray[np.float64], share: NDArray[np.float64], rows: int
) -> float:
    """Return 1/(n p²) for a share p of exact rows: few of n rows say little of skewness and tails."""
    if not isinstance(settings.head, LocationScale):
        return 0.0
    exact = (flags == 0) | (flags == 2)  # an interval tells as much as a value
    told = max(float(share[exact].sum() / share.sum()), 1 / rows)
    return 1 / (rows * told**2)


def _scale_columns(
    settings: Settings, columns: NDArray[np.float64], share: NDArray[np.float64], scaling: Scaling
) -> Any:
    """Return which columns a scale network may use. Residuals of a line say so for linear networks only."""
    if not isinstance(settings.head, LocationScale) or settings.network.kind != "linear":
        return True
    features = columns[: len(scaling.x_center)]
    x = (features - scaling.x_center[:, None]) / scaling.x_scale[:, None]
    y = (without_outliers(columns[-4], share) - scaling.y_center) / (scaling.y_scale or 1.0)
    return scale_columns(x, y, columns[-2] == 1, share)  # floors and intervals count as seen


def _held_out(
    rows: int, validation: NDArray[np.bool_] | None, settings: Settings, seed: int
) -> NDArray[np.bool_] | None:
    """Return the mask of rows that decide when to stop, or None if all rows train."""
    automatic = settings.auto_stop and rows >= _LEAST_HELD_OUT_ROWS
    if validation is None and settings.patience is None and not automatic:
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
    settings: Settings,
    objective: str,
    two_sided: bool,
    columns: int,
    rows: int,
    stop_rows: int,
    levels: tuple[float, ...],
    folds: int,
) -> tuple[ProgramSpec, int]:
    """Return the program for a problem of this shape, and its number of epochs."""
    model = model_spec(settings, columns, levels)
    if _full_batch(settings, rows):
        batches, size = 1, padded_rows(rows)
    else:
        size = _AUTO_BATCH if settings.batch_size == "auto" else int(settings.batch_size or 0)
        batches = padded_batches(ceil(rows / size))
    epochs = settings.max_epochs or max(_LEAST_EPOCHS, ceil(_AUTO_STEPS / batches))
    if folds > 1:
        epochs = _FOLD_EPOCHS
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
        two_sided=two_sided,
    )
    return spec, epochs


def _full_batch(settings: Settings, rows: int) -> bool:
    batch = settings.batch_size
    return rows <= _FULL_BATCH_ROWS if batch == "auto" else not isinstance(batch, int) or batch >= rows


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
    features = columns[: len(scaling.x_center)]
    rows.x[: len(features), place] = (features - scaling.x_center[:, None]) / scaling.x_scale[:, None]
    rows.y[place] = (columns[-4] - scaling.y_center) / unit
    rows.cap[place] = (columns[-3] - scaling.y_center) / unit
    rows.censored[place] = columns[-2]
    if rows.floor is not None:
        rows.floor[place] = (columns[-5] - scaling.y_center) / unit
    rows.weight[place] = share / share.sum()
