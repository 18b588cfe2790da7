"""The spec of a compiled program: model, loss and padded shapes."""

from dataclasses import dataclass

from unmet.networks import ModelSpec, Remembered, remember_hash


@remember_hash
@dataclass(frozen=True)
class ProgramSpec(Remembered):
    """The static part of training. Problems with equal specs train side by side in one program."""

    model: ModelSpec
    objective: str  # "quantile", "portnoy", "intervals" or "tobit"
    rows: int  # padded training rows
    stop_rows: int  # padded rows for early stopping; 0 to train for max_epochs
    batches: int  # per epoch; 1 for full batch
    segments: int  # pieces of a mini-batch, each shuffled by its own offset
    slots: int  # networks trained at once
    schedule: str = "constant"
    smoothing: float = 0.0
    two_sided: bool = False  # rows have a floor as well as a cap
