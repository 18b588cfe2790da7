"""Figures, one kind per file. Each `plot_…` takes an axis, draws on it and returns it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Module of each figure. Matplotlib is imported on first use.
_HOMES = {
    "legend_below": "_drawing",
    "new_figure": "_drawing",
    "plot_availability": "_availability",
    "plot_comparison": "_comparison",
    "plot_quantile_curves": "_quantile_curves",
    "plot_architecture": "_paper_architecture",
    "plot_fleet": "_paper_fleet",
    "plot_grid_lines": "_paper_grid",
    "plot_densities": "_paper_synthetic",
    "plot_tilted_loss": "_paper_loss",
    "plot_true_quantiles": "_paper_synthetic",
    "save_figures": "_drawing",
}

__all__ = [
    "legend_below",
    "new_figure",
    "plot_architecture",
    "plot_availability",
    "plot_comparison",
    "plot_densities",
    "plot_fleet",
    "plot_grid_lines",
    "plot_quantile_curves",
    "plot_tilted_loss",
    "plot_true_quantiles",
    "save_figures",
]

if TYPE_CHECKING:
    from unmet.plotting._availability import plot_availability
    from unmet.plotting._comparison import plot_comparison
    from unmet.plotting._drawing import legend_below, new_figure, save_figures
    from unmet.plotting._paper_architecture import plot_architecture
    from unmet.plotting._paper_fleet import plot_fleet
    from unmet.plotting._paper_grid import plot_grid_lines
    from unmet.plotting._paper_loss import plot_tilted_loss
    from unmet.plotting._paper_synthetic import plot_densities, plot_true_quantiles
    from unmet.plotting._quantile_curves import plot_quantile_curves


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.plotting' has no attribute {name!r}")
    return getattr(import_module(f"unmet.plotting.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
