"""The figures of Section V: coverage and length over the grid, and the rides of a smaller fleet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmet import plotting
from unmet.papers._cells import select
from unmet.papers.mobility._bike_results import BikeCell, intensities, names
from unmet.papers.mobility._fleet import Observed
from unmet.papers.mobility._grid_models import AS_PUBLISHED, COVERAGE, DEFAULT, DROPPED
from unmet.papers.mobility._series import LAGS, thirds
from unmet.papers.mobility._shards import Demand
from unmet.plotting import legend_below, new_figure, save_figures

_PUBLISHED = ("QNN", "CQNN", "Multi-CQNN", "CQNN+LSTM", "Multi-CQNN+LSTM")
_COMPARED = ("QNN", "Multi-CQNN+LSTM", DEFAULT.name, DROPPED.name)
_LOOKS = (*_PUBLISHED, DEFAULT.name, DROPPED.name)  # a model looks the same in every figure
_NAMES = {DEFAULT.name: "ours", DROPPED.name: "ours, censored rows dropped"}
_MEASURES = {"icp": "ICP (share of days)", "mil": "MIL (rides a day)"}


def bike_figures(folder: Path, name: str, cells: Sequence[BikeCell]) -> list[Path]:
    """Draw ICP and MIL of the paper's models, and of ours against some of them."""
    makers: dict[str, Any] = {}
    for measure in _MEASURES:
        makers[f"{name}-{measure}"] = lambda m=measure: _grid(cells, m, _PUBLISHED)
        makers[f"{name}-{measure}-ours"] = lambda m=measure: _grid(cells, m, _COMPARED)
    return save_figures(folder, makers)


def _grid(cells: Sequence[BikeCell], measure: str, models: Sequence[str]) -> Any:
    """Draw superhubs as rows and intensities as columns; bands hold the central 80% of censorings."""
    hubs, shades = sorted(names(cells, "hub")), intensities(cells)
    gammas = sorted(names(cells, "gamma"))
    figure = new_figure(3.2 * len(shades) + 0.6, 2.3 * len(hubs) + 0.8)
    axes = figure.subplots(len(hubs), len(shades), sharex=True, sharey="row", squeeze=False)
    for row, hub in enumerate(hubs):
        highest = 0.0
        for column, intensity in enumerate(shades):
            here = select(cells, hub=hub, intensity=intensity)
            shown = [model for model in models if select(here, model=model)]
            lines = {_NAMES.get(m, m): _line(here, m, measure, gammas) for m in shown}
            ax = axes[row, column]
            plotting.plot_grid_lines(
                ax,
                x=gammas,
                lines=lines,
                looks=[_LOOKS.index(model) for model in shown],
                target=COVERAGE if measure == "icp" else None,
                title=f"{intensity} intensity" if row == 0 else None,
            )
            ax.set_xticks(gammas)
            highest = max(highest, *(np.nanmax(mean, initial=0.0) for mean, _, _ in lines.values()))
        # A row shares its axis. Lines are never cut; a band may be, if a few censorings have huge intervals.
        axes[row, 0].set_ylim(0, 1.02 if measure == "icp" else 1.25 * highest or None)
        axes[row, 0].set_ylabel(f"{hub}\n{_MEASURES[measure]}")
    for ax in axes[-1]:
        ax.set_xlabel("γ, share of censored days")
    legend_below(figure, axes[0, 0], columns=6)
    return figure


def _line(cells: Sequence[BikeCell], model: str, measure: str, gammas: Sequence[float]) -> Any:
    wanted = {"model": model}
    if model in _PUBLISHED:
        wanted["block"] = AS_PUBLISHED
    parts = []
    for gamma in gammas:
        found = [cell.values[measure] for cell in select(cells, gamma=gamma, **wanted)]
        values = np.concatenate(found) if found else np.empty(0)
        low, high = np.quantile(values, (0.1, 0.9)) if len(values) else (np.nan, np.nan)
        parts.append((values.mean() if len(values) else np.nan, low, high))
    return tuple(np.array(parts).T)


def fleet_figure(folder: Path, name: str, demand: Demand, observed: Observed) -> list[Path]:
    """Draw observed against latent counts at the largest share, for one subset, with the three parts."""
    alpha = max(observed)
    split = thirds(len(demand.latent) - LAGS)
    parts = [
        ("train", LAGS + split.train.start),
        ("validation", LAGS + split.validation.start),
        ("test", LAGS + split.test.start),
    ]

    def make() -> Any:
        figure = new_figure(9, 3.2)
        ax = plotting.plot_fleet(
            figure.add_subplot(),
            days=demand.days,
            latent=demand.latent,
            observed=observed[alpha][0],
            parts=parts,
            label=f"observed: {alpha:.0%} of the vehicles removed",
        )
        legend_below(figure, ax, columns=2)
        return figure

    return save_figures(folder, {name: make})
