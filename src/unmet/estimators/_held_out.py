"""Which rows are held out of training, to decide when to stop."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators._programs import full_batch
from unmet.estimators._settings import Settings

# Automatic stopping: an MLP on a full batch becomes this many networks, each stopped on rows it did not see.
_FOLDS = 5
# With fewer rows nothing is held out.
_LEAST_HELD_OUT_ROWS = 20


def count_folds(rows: int, validation: NDArray[np.bool_] | None, settings: Settings) -> int:
    """Return how many networks share the rows, each without one part: five for an MLP or a kernel."""
    automatic = settings.auto_stop and validation is None and settings.network.kind in ("mlp", "kernel")
    return _FOLDS if automatic and rows >= _LEAST_HELD_OUT_ROWS and full_batch(settings, rows) else 1


def holds_out(rows: int, validation: NDArray[np.bool_] | None, settings: Settings) -> bool:
    automatic = settings.auto_stop and rows >= _LEAST_HELD_OUT_ROWS
    return validation is not None or settings.patience is not None or automatic


def held_out(
    index: NDArray[np.intp],
    validation: NDArray[np.bool_] | None,
    settings: Settings,
    seeds: Sequence[int],
) -> NDArray[np.bool_]:
    """Return the masks of rows that decide when to stop, (problems, rows)."""
    if validation is not None:
        return np.take_along_axis(validation, index, axis=1)
    held = np.zeros(index.shape, bool)
    rows = index.shape[1]
    count = min(max(1, round(settings.validation_fraction * rows)), rows - 1)
    for mask, seed in zip(held, seeds):
        mask[np.random.RandomState(seed).permutation(rows)[:count]] = True
    return held


def parts_of(group: int, folds: int, train: int, rows: int) -> tuple[Any, Any]:
    """Return the rows that a network trains on and those that it stops on. Rows are in random order."""
    if folds == 1:
        return slice(0, train), slice(train, rows)
    part = np.arange(rows) % folds == group
    return np.flatnonzero(~part), np.flatnonzero(part)
