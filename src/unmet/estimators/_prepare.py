"""From data and settings to training jobs."""

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
    Problem,
    ProgramSpec,
    Rows,
    padded_batches,
    padded_columns,
    padded_rows,
    slots,
)

# "auto": the whole data at once up to this many rows, mini-batches of the given size beyond.
_FULL_BATCH_ROWS = 16384
_AUTO_BATCH = 2048
# Steps of a fit that is not told how many epochs to run.
_AUTO_STEPS = 2000
_LEAST_EPOCHS = 10


@dataclass(frozen=True)
class Prepared:
    """The jobs of one fit: one network per group of levels and restart, tagged (group, restart).

    Left-censored problems are mirrored: jobs, scaling and levels are those of −y.
    """

    jobs: tuple[Job, ...]
    members: tuple[tuple[float, ...], ...]  # the levels of each group
    scaling: Scaling
    mirrored: bool


def fitted_levels(settings: Settings, kind: str) -> tuple[float, ...]:
    """The levels to fit: those asked for, with a grid beside them where the model needs one."""
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
    """Canonical rows, split, units, padding: everything between the data and the trainer."""
    mirrored = observed.side == "left"
    if mirrored:  # one implementation: q_θ of y is −q_{1−θ} of −y
        observed = observed.mirrored()
    kind = observed.kind
    if settings.loss == "published" and kind != "none":
        cap = np.where(observed.censored, observed.observed, np.inf)
        objective = "quantile"
    else:
        cap = observed.cap
        objective = "portnoy" if kind == "flags" else "quantile"
    if isinstance(settings.head, TobitShape):
        objective = "tobit"
    if objective == "portnoy" and not settings.joint:
        raise ValueError(
            "joint=False cannot use censored= without threshold=: its weights need all quantiles together; "
            "pass threshold=, or set joint=True, or loss='published'"
        )
    y, flags = observed.observed, observed.censored

    extra = [y, np.clip(cap, -1.7e308, 1.7e308), flags]
    if validation is not None:
        extra.append(validation)
    index, share = canonical_rows(np.column_stack([X, *extra]), weight)
    stopping = settings.patience is not None or validation is not None
    if validation is not None:
        held = validation[index]
    elif stopping:
        held = _split(len(index), settings.validation_fraction, seed)
    else:
        held = np.zeros(len(index), bool)
    if held.all() or (stopping and not held.any()):
        raise ValueError(
            "validation must leave rows to train on and rows to stop on; "
            f"of {len(index)} distinct rows {int(held.sum())} are for stopping "
            "(set patience=None to train on all)"
        )
    groups = {"train": index[~held], "stop": index[held]}
    shares = {
        "train": share[~held] / share[~held].sum(),
        "stop": share[held] / max(share[held].sum(), 1e-300),
    }
    inner = groups["train"]
    any_censored = bool(flags[inner].any())
    scaling, location, scale = find_scaling(
        X[inner], y[inner], shares["train"], any_censored, settings.standardise
    )
    if settings.fixed_scale is not None:
        scale = settings.fixed_scale / (scaling.y_scale or 1.0)

    levels = fitted_levels(settings, kind)
    if mirrored:
        levels = mirror_levels(levels)
    members = [levels] if settings.joint else [(level,) for level in levels]
    spec, epochs = _program_spec(settings, objective, X.shape[1], len(inner), len(groups["stop"]), members[0])
    rows = {
        name: _rows(spec, name, X, y, cap, flags, groups[name], shares[name], scaling)
        for name in (("train", "stop") if stopping else ("train",))
    }
    highest, span = float(y[inner].max()), float(np.ptp(y[inner]))
    far = (highest + max(span, scaling.y_scale, 1e-12) - scaling.y_center) / (scaling.y_scale or 1.0)
    real = np.zeros(spec.model.columns, np.float32)
    real[: X.shape[1]] = 1
    numbers = layout(spec.model).noise
    jobs = []
    for group, member in enumerate(members):
        for restart in range(settings.n_restarts):
            hyper = Hyper(
                learning_rate=np.float32(settings.learning_rate),
                l2=np.float32(settings.l2),
                clip_norm=np.float32(settings.clip_norm),
                max_epochs=np.int32(epochs),
                patience=np.int32(settings.patience or epochs),
                far=np.float32(far),
                location=np.float32(location),
                scale=np.float32(scale),
                spread=np.float32(0.5 if restart else 0.0),
            )
            key = np.array([group * 65536 + restart, seed], np.uint32)
            noise = np.random.Generator(np.random.Philox(key=key)).standard_normal(numbers, np.float32)
            asked = np.asarray(member, np.float32)
            problem = Problem(rows["train"], rows.get("stop"), asked, real, hyper, noise, key)
            jobs.append(Job((group, restart), spec, problem))
    return Prepared(tuple(jobs), tuple(members), scaling, mirrored)


def _split(rows: int, fraction: float, seed: int) -> NDArray[np.bool_]:
    held = np.zeros(rows, bool)
    count = min(max(1, round(fraction * rows)), rows - 1)
    held[np.random.RandomState(seed).permutation(rows)[: max(count, 0)]] = True
    return held


def complete_network(network: NetworkSpec, columns: int) -> NetworkSpec:
    """The network for this many columns: an LSTM without a sequence reads all of them, one feature a step."""
    if network.kind != "lstm":
        return network
    steps, features = network.sequence
    if steps == 0:
        steps, features = columns, 1
    if steps * features > columns:
        raise ValueError(
            f"sequence=({steps}, {features}) needs {steps * features} leading columns, but X has {columns}"
        )
    return replace(network, sequence=(steps, features))


def model_spec(settings: Settings, columns: int, levels: tuple[float, ...]) -> ModelSpec:
    """The model for data of this many columns."""
    network = complete_network(settings.network, columns)
    padded = padded_columns(columns) if network.kind in ("linear", "mlp") else columns
    negated = settings.side == "left" and settings.initialiser != "neutral"
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
    """The program for a problem of this shape, and its epochs."""
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
    """Floats that one row keeps alive in a training step."""
    network = model.network
    body = model.columns + sum(network.hidden) + 10 * network.units * network.sequence[0]
    scale = sum(model.head.scale_hidden) if isinstance(model.head, LocationScale) else 0
    return body + scale + 3 * model.levels


def _rows(
    spec: ProgramSpec,
    name: str,
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    cap: NDArray[np.float64],
    flags: NDArray[np.bool_],
    index: NDArray[np.intp],
    share: NDArray[np.float64],
    scaling: Scaling,
) -> Rows:
    """Rows in the network's units, padded; mini-batches get equal numbers of real rows."""
    total = spec.rows if name == "train" else spec.stop_rows
    batches = spec.batches if name == "train" else 1
    count = len(index)
    place: Any
    if batches == 1:
        place = slice(0, count)
    else:
        number = np.arange(count)
        place = (number % batches) * (total // batches) + number // batches
    x = np.zeros((spec.model.columns, total), np.float32)
    x[: X.shape[1], place] = scaling.inputs(X[index])
    out = Rows(
        x,
        np.zeros(total, np.float32),
        np.full(total, np.inf, np.float32),
        np.zeros(total, bool),
        np.zeros(total, np.float32),
    )
    out.y[place] = scaling.targets(y[index])
    out.cap[place] = scaling.targets(cap[index])
    out.censored[place] = flags[index]
    out.weight[place] = share
    return out
