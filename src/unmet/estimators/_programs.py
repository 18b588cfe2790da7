"""Which program trains a problem: model, padded shapes, epochs, and penalties that follow from its size."""

from dataclasses import replace
from functools import lru_cache
from math import ceil, gcd

from unmet.estimators._settings import Settings
from unmet.networks import LocationScale, ModelSpec, NetworkSpec
from unmet.training import ProgramSpec, padded_batches, padded_columns, padded_rows, slots

# batch_size="auto": full batch up to this many rows, then mini-batches of _AUTO_BATCH. Linear location–scale
# models are as accurate from mini-batches much earlier, at a sixth of the cost.
_FULL_BATCH_ROWS, _FULL_LINEAR_ROWS = 16384, 4096
_AUTO_BATCH = 2048
# If max_epochs is None: gradient steps, but at least so many epochs. Automatic mini-batches of linear
# location–scale models take more steps on up to _FULL_BATCH_ROWS rows, which cost little. Beyond, more steps
# do not bring quantiles closer; epochs stop adding anything after the last number of steps.
_AUTO_STEPS, _LEAST_EPOCHS = 2000, 10
_LINEAR_STEPS, _MOST_LINEAR_STEPS = 3000, 10_000
_FOLD_EPOCHS = 200
# Automatic penalties. A linear network's is this times columns per row: right if all of y is signal, and
# too weak to do harm otherwise.
_LINEAR_L2, _MLP_L2, _KERNEL_L2 = 0.5, 0.001, 0.0001
# An MLP with automatic layers on at most so many rows: more and smaller networks, which follow steps better,
# with a penalty of _FEW_L2 per row, but no more than that of 1,000 rows.
_FEW_ROWS, _FEW_HIDDEN, _FEW_FOLDS, _FEW_RATE, _FEW_L2 = 4096, (32, 32, 32), 7, 0.05, 3.0
_LEAST_L2_ROWS = 1000
# Below this many rows the ridge of a scale network grows.
_RIDGE_ROWS = 300


def fitted_levels(settings: Settings, kind: str) -> tuple[float, ...]:
    """Return the levels to fit: the requested ones, and a grid if the model needs one."""
    levels = set(settings.quantiles)
    if isinstance(settings.head, LocationScale):
        levels |= set(settings.head.grid)
    elif kind in ("flags", "intervals") and settings.loss == "censored" and isinstance(settings.head, str):
        levels |= set(LocationScale().grid)
    return tuple(sorted(levels))


def complete_network(network: NetworkSpec, columns: int) -> NetworkSpec:
    """Return the network for this many columns. By default an LSTM reads all, one feature per step."""
    if network.kind not in ("lstm", "graph", "grid"):
        return network
    steps, features = network.sequence
    count, attributes = network.neighbours
    needed = steps * features + count * (steps + attributes)
    if count and needed > columns:
        raise ValueError(
            f"sequence=({steps}, {features}) and neighbours=({count}, {attributes}) need {needed} columns, "
            f"but X has {columns}: the own sequence, a series and the attributes of each neighbour"
        )
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
    padded = padded_columns(columns) if network.kind in ("linear", "mlp", "kernel") else columns
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
def program_spec(
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
    if full_batch(settings, rows):
        batches, size = 1, padded_rows(rows)
    else:
        size = _AUTO_BATCH if settings.batch_size == "auto" else int(settings.batch_size or 0)
        batches = padded_batches(ceil(rows / size))
    steps = max(_AUTO_STEPS, _LEAST_EPOCHS * batches)
    if batches > 1 and settings.batch_size == "auto" and _linear_default(settings):
        least = _LINEAR_STEPS if rows <= _FULL_BATCH_ROWS else _AUTO_STEPS
        steps = min(max(least, steps), _MOST_LINEAR_STEPS)
    epochs = settings.max_epochs or ceil(steps / batches)
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


def full_batch(settings: Settings, rows: int) -> bool:
    batch = settings.batch_size
    if batch == "auto":
        return rows <= (_FULL_LINEAR_ROWS if _linear_default(settings) else _FULL_BATCH_ROWS)
    return not isinstance(batch, int) or batch >= rows


def _linear_default(settings: Settings) -> bool:
    return settings.network.kind == "linear" and isinstance(settings.head, LocationScale)


def suit_few_rows(settings: Settings, rows: int, folds: int) -> tuple[Settings, int]:
    """Return the settings and the number of networks of an MLP that stops by itself, if rows are few."""
    if folds == 1 or not settings.auto_hidden or rows > _FEW_ROWS:
        return settings, folds
    suited = replace(settings, network=replace(settings.network, hidden=_FEW_HIDDEN))
    if settings.auto_rate:
        suited = replace(suited, learning_rate=_FEW_RATE)
    if settings.auto_l2:
        suited = replace(suited, l2=_FEW_L2 / max(rows, _LEAST_L2_ROWS), auto_l2=False)
    return suited, _FEW_FOLDS


def find_l2(settings: Settings, columns: int, rows: int) -> float:
    if not settings.auto_l2 or not isinstance(settings.head, LocationScale):
        return settings.l2
    penalties = {"linear": _LINEAR_L2 * columns / rows, "mlp": _MLP_L2, "kernel": _KERNEL_L2}
    return penalties.get(settings.network.kind, 0.0)


def find_scale_ridge(settings: Settings, rows: int) -> float:
    if not isinstance(settings.head, LocationScale):
        return 0.0
    return settings.head.scale_ridge * max(1.0, _RIDGE_ROWS / rows)


def find_normal_ridge(settings: Settings, rows: int) -> float:
    """Return 1/n: a prior on skewness and tails weighs less the more rows speak about them."""
    return 1 / rows if isinstance(settings.head, LocationScale) else 0.0


def _activations(model: ModelSpec) -> int:
    """Return the number of floats that one row keeps alive in a training step."""
    network = model.network
    # An LSTM keeps the gates of every step, kernel features a cosine and a sine.
    units = 2 * network.units if network.kind == "kernel" else 4 * network.units * network.sequence[0]
    body = model.columns + sum(network.hidden) + units
    scale = sum(model.head.scale_hidden) if isinstance(model.head, LocationScale) else 0
    return body + scale + 3 * model.levels
