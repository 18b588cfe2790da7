"""Complete censorship by a smaller fleet as data: the grid, its shards, and the rides that are left."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.papers._pieces import file_name
from unmet.papers.mobility._demand import Source, daily_rides
from unmet.papers.mobility._grid_models import DEFAULT, GridModel, published_models
from unmet.papers.mobility._shards import QUICK, Case, Demand, Floats, GridConfig, Shard, digest, random_state

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, kw_only=True)
class FleetConfig(GridConfig):
    """The grid of the fleet experiment.

    Parameters
    ----------
    alphas : shares of the vehicles whose rides are removed; 0 stands beside the paper's four.
    subsets : random sets of vehicles for each share.
    """

    alphas: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4)
    subsets: int = 10

    @property
    def every_model(self) -> tuple[GridModel, ...]:
        return (*published_models(self.units, self.activation), DEFAULT)


FULL = FleetConfig()
MEDIUM = FleetConfig(subsets=3)
SMOKE = FleetConfig(alphas=(0.0, 0.4), subsets=2, **QUICK)
SIZES = {"smoke": SMOKE, "medium": MEDIUM, "full": FULL}

# Rides that smaller fleets show, by the share of vehicles removed; shape (subsets, days).
Observed = Mapping[float, Floats]


def reduced_fleets(source: Source, config: FleetConfig) -> tuple[Demand, Observed]:
    """Return the daily rides of the whole fleet, and what is left after it was reduced again and again."""
    from unmet.mobility import reduce_fleet

    con, days, holiday = daily_rides(source)
    with con:
        latent = _by_day(con, "rides", len(days))
        observed = {}
        for alpha in config.alphas:
            rows = []
            for subset in range(config.subsets):
                seed = 1_000 * config.seed + 100 * round(10 * alpha) + subset
                reduce_fleet(con, alpha, seed, trips="rides", into="kept")
                rows.append(_by_day(con, "kept", len(days)))
            observed[alpha] = np.stack(rows)
    return Demand("fleet", days, latent, holiday), observed


def _by_day(con: "duckdb.DuckDBPyConnection", table: str, days: int) -> Floats:
    found = con.execute(f"SELECT day, count(*) AS rides FROM {table} GROUP BY day").fetchnumpy()
    counts = np.zeros(days)
    counts[np.asarray(found["day"], np.int64)] = found["rides"]
    return counts


def make_shards(config: FleetConfig, demand: Demand, observed: Observed) -> list[Shard]:
    """Make one shard for each share and model, with all subsets."""
    shards = []
    for alpha in config.alphas:
        cases = tuple(
            # Every day is censored, at what was observed.
            Case(
                {"alpha": alpha, "subset": subset},
                demand,
                seen,
                censored=np.ones(len(seen), bool),
                threshold=seen,
                seeds=(random_state(config.seed, round(100 * alpha), subset),),
                share=1 - alpha,
            )
            for subset, seen in enumerate(observed[alpha])
        )
        for model in config.models:
            key = f"a{round(100 * alpha):02d}_{file_name(model.name)}.parquet"
            shards.append(Shard(key, model, cases, config.epochs))
    return shards


def describe(config: FleetConfig, demand: Demand, observed: Observed) -> dict[str, Any]:
    """Return what the results depend on, as JSON."""
    data = digest(demand.checksum, *observed.values())
    return {"experiment": "fleet", **config.describe(), "data": data}
