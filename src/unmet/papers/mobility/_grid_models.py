"""The models of Section V as data: the paper's five, and ours beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unmet.papers._models import PRINTED_TRAINING, RELEASED_TRAINING

QUANTILES = (0.05, 0.95)
COVERAGE = 0.9
AS_PUBLISHED = "as published"
OURS = "ours"


@dataclass(frozen=True)
class GridModel:
    """A model of the grid.

    Parameters
    ----------
    parameters : settings of `CensoredQuantileRegressor`; what is not named is its default.
    sees : what it learns from. "nothing": observed values as if they were demand. "rule": censored rows as
        bounds and the paper's made-up thresholds on the others. "flags": censored rows as bounds, thresholds
        unknown. "exact": the rows that are not censored, nothing else.
    starts : whether it is trained from several random starts, of which one is chosen, or once.
    summed : clip_norm applies to the loss summed over rows and levels, not to its mean.
    """

    name: str
    block: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sees: str = "flags"
    starts: bool = False
    summed: bool = False

    @property
    def kind(self) -> str:
        return str(self.parameters.get("network", "linear"))

    @property
    def networks(self) -> int:
        """Networks of one fit: one, or one for each quantile."""
        return 1 if self.parameters.get("joint", True) else len(QUANTILES)


_FREE = {"head": "free", "schedule": "constant"}
TRAININGS: dict[str, dict[str, Any]] = {
    # What the text says. The networks see standardised data; only there does a start from N(0, 1) make sense.
    "text": {**_FREE, **PRINTED_TRAINING, "max_epochs": 1000, "initialiser": "normal"},
    # What the code does that reproduces Section IV, with its loss: thresholds on censored rows only.
    "released": {**_FREE, **RELEASED_TRAINING, "loss": "published"},
}


def published_models(
    units: int = 32, activation: str = "tanh", training: str = "text"
) -> tuple[GridModel, ...]:
    """Return the paper's five models; `units` and `activation` are of the LSTM, which it does not name."""
    plain = TRAININGS[training]
    lstm = {**plain, "network": "lstm", "units": units, "activation": activation}
    kinds = (
        ("QNN", {**plain, "joint": False}, "nothing"),
        ("CQNN", {**plain, "joint": False}, "rule"),
        ("Multi-CQNN", plain, "rule"),
        ("CQNN+LSTM", {**lstm, "joint": False}, "rule"),
        ("Multi-CQNN+LSTM", lstm, "rule"),
    )
    summed = training == "released"
    return tuple(
        GridModel(name, AS_PUBLISHED, parameters, sees, starts=True, summed=summed)
        for name, parameters, sees in kinds
    )


# The class as it comes.
DEFAULT = GridModel("default", OURS)
DROPPED = GridModel("default, censored rows dropped", OURS, sees="exact")
RAW = ", not calibrated"
OURS_MODELS = (DEFAULT, DROPPED)
