"""What the grids of bikes and of fleets have in common: the models, their seed, and how long they train."""

from dataclasses import asdict, dataclass
from typing import Any

from unmet.papers.mobility._models import OURS_MODELS, GridModel


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """A grid without its axes.

    Parameters
    ----------
    units, activation : of the LSTM.
    names : models to run; None: all.
    epochs : a cap on the epochs of all models, for a quick look.
    """

    units: int = 32
    activation: str = "tanh"
    seed: int = 1
    names: tuple[str, ...] | None = None
    epochs: int | None = None

    @property
    def every_model(self) -> tuple[GridModel, ...]:
        """The models of this grid, were none left out."""
        raise NotImplementedError

    @property
    def models(self) -> tuple[GridModel, ...]:
        return tuple(model for model in self.every_model if self.names is None or model.name in self.names)

    def describe(self) -> dict[str, Any]:
        """All settings as JSON."""
        settings = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        return {**settings, "models": [repr(model) for model in self.models]}


# Compiling is most of a quick pass: it leaves out models that only compile more programs.
QUICK: dict[str, Any] = {
    "units": 2,
    "names": ("QNN", "Multi-CQNN", "Multi-CQNN+LSTM", *(model.name for model in OURS_MODELS)),
    "epochs": 20,
}
