"""`unmet paper bikes` and `unmet paper fleet`: data, grid, tables, figures, findings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmet.papers._checks import Check
from unmet.papers._checks import to_markdown as checks_to_markdown
from unmet.papers._tables import Table, to_markdown
from unmet.papers.mobility import _bikes, _fleet
from unmet.papers.mobility._demand import CityDemand, Source, hub_demand
from unmet.papers.mobility._grid import Cost, run_grid

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
        if self.size not in configs:
            raise ValueError(f"size must be one of {', '.join(configs)}, not {self.size!r}")
        wanted = {"units": self.units, "activation": self.activation}
        return replace(configs[self.size], **{k: v for k, v in wanted.items() if v is not None})


@dataclass(frozen=True)
class Answer:
    """What a step wrote, and what a terminal should show of it."""

    title: str
    names: tuple[str, ...]
    tables: list[Table]
    checks: list[Check]
    cost: Cost


def run_bikes(folder: Path, asked: Asked) -> Answer:
    """The bike experiment: the grid, tables, figures."""
    from unmet.papers.mobility import _bike_results, _bike_shard, _bike_tables
    from unmet.papers.mobility._figures import bike_figures

    config = asked.settle(_bikes.SIZES)
    source = asked.data()
    name = f"bikes-{source.name}" + ("-released" if config.training == "released" else "")
    hubs = hub_demand(source)
    shards = _bikes.make_shards(config, hubs)
    described = _bikes.describe(config, hubs)
    paths, cost = run_grid(
        name, folder, described, shards, _bike_shard.compute, jobs=asked.jobs, cluster=asked.cluster
    )
    cells = _bike_results.read_cells(paths)
    found, checks = _bike_tables.tables(cells), _bike_tables.checks(cells)
    title = f"Bikes, {source.name}"
    text = (
        f"{len(hubs)} superhubs, {len(hubs[0].latent)} days from {hubs[0].days[0]}, mean daily demand "
        f"{', '.join(f'{hub.latent.mean():,.0f}' for hub in hubs)}; γ = "
        f"{', '.join(f'{gamma:g}' for gamma in config.gammas)}; {config.censorings} censorings × "
        f"{config.starts} starts; LSTM of {config.units} units, {config.activation}. "
        f"{sum(shard.networks for shard in shards):,} networks."
    )
    _write(folder, name, text, found, checks, cost, config.units)
    bike_figures(folder / "figures", name, cells)
    return Answer(title, (name, f"{name}-cost"), found[:1], checks, cost)


def run_fleet(folder: Path, asked: Asked) -> Answer:
    """The fleet experiment: Table V beside ours, and its figure."""
    from unmet.papers.mobility import _fleet_shard, _fleet_tables
    from unmet.papers.mobility._figures import fleet_figure

    config = asked.settle(_fleet.SIZES)
    source = asked.data()
    name = f"fleet-{source.name}"
    demand = _fleet.fleet_demand(source, config)
    shards = _fleet.make_shards(config, demand)
    paths, cost = run_grid(
        name, folder, _fleet.describe(config, demand), shards, _fleet_shard.compute,
        jobs=asked.jobs, cluster=asked.cluster,
    )  # fmt: skip
    cells = _fleet_tables.read_cells(paths)
    found, checks = _fleet_tables.tables(cells), _fleet_tables.checks(cells)
    text = (
        f"{len(demand.latent)} days from {demand.days[0]}, {demand.latent.mean():,.0f} rides a day; "
        f"{config.subsets} random subsets of the vehicles for each α; LSTM of {config.units} units, "
        f"{config.activation}. Mean ± standard deviation over the subsets, test third, against the rides of "
        "the whole fleet. The published MIL is of another, larger service."
    )
    _write(folder, name, text, found, checks, cost, config.units)
    fleet_figure(folder / "figures", name, demand)
    shown = _fleet_tables.tables(cells, spread=False)[:1]
    return Answer(f"Fleet, {source.name}", (name, f"{name}-cost"), shown, checks, cost)


def _write(
    folder: Path,
    name: str,
    text: str,
    tables: Sequence[Table],
    checks: Sequence[Check],
    cost: Cost,
    units: int,
) -> None:
    """The results, which are always the same bytes, and beside them what they cost, which is not."""
    from unmet.papers._commands import write

    write(folder / f"{name}.md", f"{text}\n\n{to_markdown(tables)}\n{checks_to_markdown(checks)}")
    write(folder / f"{name}-cost.md", cost.to_markdown(units))
