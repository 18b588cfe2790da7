"""What decides a compiled program: the model, the loss, the padded shapes."""

from dataclasses import dataclass

from unmet.networks import ModelSpec, Remembered, remember_hash


@remember_hash
@dataclass(frozen=True)
class ProgramSpec(Remembered):
    """The static part of a training run. Problems with equal specs train side by side in one program."""

    model: ModelSpec
    objective: str  # "quantile", "portnoy" or "tobit"
    rows: int  # padded training rows
    stop_rows: int  # padded rows for early stopping; 0: train for max_epochs
    batches: int  # per epoch; 1: full batch
    segments: int  # pieces of a mini-batch that are shuffled on their own
    slots: int  # networks in flight
    schedule: str = "constant"
    smoothing: float = 0.0
