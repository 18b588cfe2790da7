"""Partial censorship of bike demand as data: the grid, its shards and their seeds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.papers.mobility._demand import HubDemand
from unmet.papers.mobility._grid_config import QUICK, GridConfig
from unmet.papers.mobility._models import OURS_MODELS, GridModel, published_models

# Intensity → the range of the share of demand that a censored day loses.
INTENSITIES = {"low": (0.01, 0.33), "medium": (0.34, 0.66), "high": (0.67, 0.99)}


@dataclass(frozen=True, kw_only=True)
class BikesConfig(GridConfig):
    """The grid of the bike experiment: every combination is computed.

    Parameters
    ----------
    gammas : shares of censored days.
    censorings, starts : independent censorings of the data, and random starts of each network on each.
    training : of the paper's models, a name in `TRAININGS`.
    """

    gammas: tuple[float, ...] = tuple(round(0.1 * step, 1) for step in range(10))
    intensities: tuple[str, ...] = tuple(INTENSITIES)
    censorings: int = 10
    starts: int = 10
    training: str = "text"

    @property
    def every_model(self) -> tuple[GridModel, ...]:
        return (*published_models(self.units, self.activation, self.training), *OURS_MODELS)


FULL = BikesConfig()
MEDIUM = BikesConfig(gammas=(0.0, 0.4, 0.9), censorings=3, starts=3)
# The settings behind Section IV, where the paper's main claim is made: many and strongly censored days.
RELEASED = BikesConfig(
    gammas=tuple(round(0.1 * step, 1) for step in range(4, 10)),
    intensities=("high",),
    training="released",
    names=("QNN", "CQNN", "Multi-CQNN", *(model.name for model in OURS_MODELS)),
)
# γ = 0.2 leaves so many rows that dropping the others changes no shape, and compiles nothing more.
SMOKE = BikesConfig(gammas=(0.0, 0.2), intensities=("high",), censorings=2, starts=2, **QUICK)
SIZES = {"smoke": SMOKE, "medium": MEDIUM, "full": FULL, "released": RELEASED}


@dataclass(frozen=True, eq=False)
class BikeShard:
    """One hub, intensity and model, with some of the γ; all that its results depend on."""

    key: str
    model: GridModel
    hub: str
    intensity: str
    gammas: tuple[float, ...]
    demand: HubDemand
    config: BikesConfig
    place: tuple[int, int]  # number of the hub and of the intensity, for the seeds

    @property
    def kind(self) -> str:
        return self.model.kind

    @property
    def networks(self) -> int:
        starts = self.config.starts if self.model.starts else 1
        return len(self.gammas) * self.config.censorings * starts * self.model.networks

    def seed(self, gamma: float, censoring: int, start: int | None = None) -> list[int]:
        """Entropy of a censoring, the same for all models, or of one start on it."""
        cell = [self.config.seed, *self.place, round(100 * gamma), censoring]
        return cell if start is None else [*cell, 1 + start]


def make_shards(config: BikesConfig, hubs: tuple[HubDemand, ...]) -> list[BikeShard]:
    """All shards. An LSTM takes seconds for one γ; linear networks are quickest with all γ together.

    The first shards of all models come first, then the second ones …, so that processes which begin together
    compile different programs, and find those of the others on disk.
    """
    shards: list[BikeShard] = []
    turns: dict[str, int] = {}  # key → how many shards of its model came before
    counts: dict[str, int] = {}
    for number, demand in enumerate(hubs):
        for intensity in config.intensities:
            for model in config.models:
                groups = [(gamma,) for gamma in config.gammas] if model.kind == "lstm" else [config.gammas]
                for gammas in groups:
                    part = f"_g{round(100 * gammas[0]):02d}" if len(gammas) == 1 else ""
                    shards.append(
                        BikeShard(
                            key=f"{_slug(demand.hub)}_{intensity}_{_slug(model.name)}{part}.parquet",
                            model=model,
                            hub=demand.hub,
                            intensity=intensity,
                            gammas=gammas,
                            demand=demand,
                            config=config,
                            place=(number, tuple(INTENSITIES).index(intensity)),
                        )
                    )
                    turns[shards[-1].key] = counts[model.name] = counts.get(model.name, -1) + 1
    return sorted(shards, key=lambda shard: turns[shard.key])


def describe(config: BikesConfig, hubs: tuple[HubDemand, ...]) -> dict[str, Any]:
    """What the results depend on, as JSON: settings, seeds, checksums of the data."""
    return {
        "experiment": "bikes",
        **config.describe(),
        "data": {demand.hub: demand.checksum for demand in hubs},
    }


def censor(shard: BikeShard, gamma: float, censoring: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Observed values and flags of one censoring of the hub's demand."""
    from unmet.censoring import partial

    rng = np.random.default_rng(shard.seed(gamma, censoring))
    seen = partial(shard.demand.latent, gamma, *INTENSITIES[shard.intensity], rng)
    return seen.observed, seen.censored


def _slug(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
