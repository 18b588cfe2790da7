"""Parts of a grid: series with hidden demand, grouped into shards that are computed at once."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._grid_models import OURS_MODELS, GridModel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Demand:
    """Daily demand, taken for latent.

    `truth` holds true quantiles at the levels .05 and .95 by what they are conditional on, shape (n, 2).
    """

    name: str
    days: NDArray[np.datetime64]
    latent: Floats
    holiday: NDArray[np.bool_]
    truth: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def checksum(self) -> str:
        days = self.days.astype("datetime64[D]").astype(np.int64)
        truths = (self.truth[name] for name in sorted(self.truth))
        return digest(self.name, *sorted(self.truth), days, self.latent, self.holiday, *truths)


def digest(*parts: Any) -> str:
    """Return one checksum of texts and arrays."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


@dataclass(frozen=True, eq=False)
class Case:
    """A series to learn from, and the demand that it hides.

    Parameters
    ----------
    labels : its place in the grid, by name.
    censored : days on which demand was at least what was observed.
    threshold : of the paper's rule, for every day.
    seeds : one for each random start.
    share : the known share of demand that was observed; None where it is not known.
    """

    labels: Mapping[str, Any]
    demand: Demand
    observed: Floats
    censored: NDArray[np.bool_]
    threshold: Floats
    seeds: tuple[int, ...]
    share: float | None = None


@dataclass(frozen=True, eq=False)
class Shard:
    """One model on some cases: all that its results depend on. `epochs` caps those of every fit."""

    key: str
    model: GridModel
    cases: tuple[Case, ...]
    epochs: int | None = None

    @property
    def kind(self) -> str:
        return self.model.kind

    @property
    def networks(self) -> int:
        fits = sum(len(case.seeds) if self.model.starts else 1 for case in self.cases)
        return fits * self.model.networks


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """What the grids of bikes and of fleets have in common: the models, their seed, how long they train.

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
        """The models of this grid before any is left out."""
        raise NotImplementedError

    @property
    def models(self) -> tuple[GridModel, ...]:
        return tuple(model for model in self.every_model if self.names is None or model.name in self.names)

    def describe(self) -> dict[str, Any]:
        """Return all settings as JSON."""
        settings = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        return {**settings, "models": [repr(model) for model in self.models]}


# Compiling is most of a quick pass: it leaves out models that only compile more programs.
QUICK: dict[str, Any] = {
    "units": 2,
    "names": ("QNN", "Multi-CQNN", "Multi-CQNN+LSTM", *(model.name for model in OURS_MODELS)),
    "epochs": 20,
}


def random_state(*entropy: int) -> int:
    """Return a seed for the place in the grid that these numbers name."""
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
