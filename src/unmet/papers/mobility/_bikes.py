"""Partial censorship of bike demand as data: the grid, its cases and shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from unmet.papers._pieces import file_name
from unmet.papers.mobility._grid_models import OURS_MODELS, GridModel, published_models
from unmet.papers.mobility._series import LAGS, thirds
from unmet.papers.mobility._shards import QUICK, Case, Demand, GridConfig, Shard, random_state

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


def make_case(
    config: BikesConfig, number: int, demand: Demand, intensity: str, gamma: float, censoring: int
) -> Case:
    """Censor the demand of hub `number` once; the paper's thresholds are a multiple of what is observed."""
    from unmet.censoring import partial

    place = (config.seed, number, tuple(INTENSITIES).index(intensity), round(100 * gamma), censoring)
    seen = partial(demand.latent, gamma, *INTENSITIES[intensity], np.random.default_rng(list(place)))
    train = slice(LAGS, LAGS + thirds(len(demand.latent) - LAGS).train.stop)
    factor = demand.latent[train].mean() / seen.observed[train].mean()
    labels = {"hub": demand.name, "intensity": intensity, "gamma": gamma, "censoring": censoring}
    seeds = tuple(random_state(*place, 1 + start) for start in range(config.starts))
    return Case(labels, demand, seen.observed, seen.censored, seen.observed * factor, seeds)


def make_shards(config: BikesConfig, hubs: Sequence[Demand]) -> list[Shard]:
    """Make all shards. An LSTM takes seconds for one γ; linear networks are quickest with all γ together.

    The first shards of all models come first, then the second ones …, so that processes which begin together
    compile different programs, and find those of the others on disk.
    """
    by_model: list[list[Shard]] = [[] for _ in config.models]
    for number, demand in enumerate(hubs):
        for intensity in config.intensities:
            cases = [
                [make_case(config, number, demand, intensity, gamma, one) for one in range(config.censorings)]
                for gamma in config.gammas
            ]
            for model, shards in zip(config.models, by_model):
                groups = cases if model.kind == "lstm" else [list(chain(*cases))]
                for group in groups:
                    alone = len(group) == config.censorings
                    part = f"_g{round(100 * group[0].labels['gamma']):02d}" if alone else ""
                    key = f"{file_name(demand.name)}_{intensity}_{file_name(model.name)}{part}.parquet"
                    shards.append(Shard(key, model, tuple(group), config.epochs))
    longest = max(map(len, by_model))
    return [shards[turn] for turn in range(longest) for shards in by_model if turn < len(shards)]


def describe(config: BikesConfig, hubs: Sequence[Demand]) -> dict[str, Any]:
    """Return what the results depend on, as JSON: settings, seeds, checksums of the data."""
    data = {demand.name: demand.checksum for demand in hubs}
    return {"experiment": "bikes", **config.describe(), "data": data}
