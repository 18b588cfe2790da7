"""The experiments of Section V, from data to tables, figures and findings."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmet.papers._answers import Answer, write_answer, write_text
from unmet.papers.mobility import _bikes, _fleet
from unmet.papers.mobility._demand import CityDemand, Source, hub_demand
from unmet.papers.mobility._grid import run_grid
from unmet.papers.mobility._protocols import compute

# So long that a third has the same padded rows with a fifth of its days dropped.
_SMALL_CITY = CityDemand("village", days=180, draws=20)


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    Parameters
    ----------
    size : "full" is the paper's grid, "medium" a part of it, "smoke" a quick pass; "released" (bikes) the
        training settings behind Section IV, on the part where the paper makes its claim.
    source : rides to read; None: a simulated city.
    jobs, cluster : processes here (−1: one per core), or the address of a Dask scheduler.
    units, activation : of the LSTM; None: 32 and tanh (2 units in a quick pass).
    """

    size: str = "medium"
    source: Source | None = None
    jobs: int = 1
    cluster: Any = None
    units: int | None = None
    activation: str | None = None

    def data(self) -> Source:
        if self.source is not None:
            return self.source
        return _SMALL_CITY if self.size == "smoke" else CityDemand()

    def settle(self, configs: dict[str, Any]) -> Any:
        """Return the configuration of the asked size with the asked changes."""
        if self.size not in configs:
            raise ValueError(f"size must be one of {', '.join(configs)}, not {self.size!r}")
        wanted = {"units": self.units, "activation": self.activation}
        return replace(configs[self.size], **{k: v for k, v in wanted.items() if v is not None})


def run_bikes(folder: Path, asked: Asked) -> Answer:
    """Run the bike experiment: grid, tables, figures."""
    from unmet.papers.mobility import _bike_results, _bike_tables
    from unmet.papers.mobility._grid_figures import bike_figures

    config, source = asked.settle(_bikes.SIZES), asked.data()
    name = f"bikes-{source.name}" + ("-released" if config.training == "released" else "")
    hubs = hub_demand(source)
    shards = _bikes.make_shards(config, hubs)
    paths = _run(folder, name, config, _bikes.describe(config, hubs), shards, asked)
    cells = _bike_results.read_cells(paths)
    tables, checks = _bike_tables.tables(cells), _bike_tables.checks(cells)
    before = (
        f"{len(hubs)} superhubs, {len(hubs[0].latent)} days from {hubs[0].days[0]}, mean daily demand "
        f"{', '.join(f'{hub.latent.mean():,.0f}' for hub in hubs)}; γ = "
        f"{', '.join(f'{gamma:g}' for gamma in config.gammas)}; {config.censorings} censorings × "
        f"{config.starts} starts; LSTM of {config.units} units, {config.activation}. "
        f"{sum(shard.networks for shard in shards):,} networks."
    )
    write_answer(folder, name, tables, checks, before=before)
    bike_figures(folder / "figures", name, cells)
    return Answer(f"Bikes, {source.name}", (name, f"{name}-cost"), tables[:1], checks)


def run_fleet(folder: Path, asked: Asked) -> Answer:
    """Run the fleet experiment: Table V beside ours, and its figure."""
    from unmet.papers.mobility import _fleet_tables
    from unmet.papers.mobility._grid_figures import fleet_figure

    config, source = asked.settle(_fleet.SIZES), asked.data()
    name = f"fleet-{source.name}"
    demand, observed = _fleet.reduced_fleets(source, config)
    shards = _fleet.make_shards(config, demand, observed)
    paths = _run(folder, name, config, _fleet.describe(config, demand, observed), shards, asked)
    cells = _fleet_tables.read_cells(paths)
    checks = _fleet_tables.checks(cells)
    before = (
        f"{len(demand.latent)} days from {demand.days[0]}, {demand.latent.mean():,.0f} rides a day; "
        f"{config.subsets} random subsets of the vehicles for each α; LSTM of {config.units} units, "
        f"{config.activation}. Mean ± standard deviation over the subsets, test third, against the rides of "
        "the whole fleet. The published MIL is of another, larger service."
    )
    write_answer(folder, name, _fleet_tables.tables(cells), checks, before=before)
    fleet_figure(folder / "figures", name, demand, observed)
    shown = _fleet_tables.tables(cells, spread=False)[:1]
    return Answer(f"Fleet, {source.name}", (name, f"{name}-cost"), shown, checks)


def _run(
    folder: Path, name: str, config: Any, described: dict[str, Any], shards: list[Any], asked: Asked
) -> list[Path]:
    """Compute the shards, and write what they cost beside the results, which are always the same bytes."""
    paths, cost = run_grid(
        folder / "runs" / name, described, shards, compute, jobs=asked.jobs, cluster=asked.cluster
    )
    write_text(folder / f"{name}-cost.md", cost.to_markdown(config.units))
    return paths
