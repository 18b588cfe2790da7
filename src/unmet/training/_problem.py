"""What one network is trained on, as arrays that can be stacked."""

from typing import Any, NamedTuple


class Rows(NamedTuple):
    """Rows of data, padded with rows of weight zero. The weights of the rest sum to one."""

    x: Any  # (columns, rows) float32
    y: Any  # (rows,) float32
    cap: Any  # (rows,) float32, infinite where nothing caps
    censored: Any  # (rows,) bool
    weight: Any  # (rows,) float32


class Hyper(NamedTuple):
    """Numbers that change the training but not the compiled program."""

    learning_rate: Any
    l2: Any
    clip_norm: Any  # infinite: no clipping
    max_epochs: Any
    patience: Any
    far: Any  # where Portnoy's weights move the unseen mass
    location: Any  # of the observed values, for a neutral start
    scale: Any
    spread: Any  # of the starting output weights around a neutral start


class Problem(NamedTuple):
    """One network's data, levels, settings and random key."""

    train: Rows
    stop: Rows | None  # rows that only decide when to stop
    levels: Any  # (levels,) float32, increasing
    real: Any  # (columns,) float32: 0 marks padding
    hyper: Hyper
    noise: Any  # normal numbers for the starting weights
    key: Any  # (2,) uint32, for dropout and shuffling
