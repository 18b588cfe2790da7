"""The figure of `unmet demo`: true and estimated quantiles, one panel per model."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.cli._demo_models import Result
    from unmet.datasets import SyntheticData

# Where almost all rows lie, and what the true curves need.
_X2 = (-2.0, 2.0)
_Y = (-5.2, 8.6)


def write_figure(data: SyntheticData, results: list[Result], folder: Path) -> list[Path]:
    """Write quantiles.png and quantiles.svg and return their paths; the same results give the same bytes."""
    import matplotlib

    from unmet.runs import write_bytes

    figure = draw(data, results)
    without: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    paths = []
    for kind, metadata in without.items():
        held = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": "unmet"}):
            figure.savefig(held, format=kind, metadata=metadata)
        paths.append(folder / f"quantiles.{kind}")
        write_bytes(paths[-1], held.getvalue())
    return paths


def draw(data: SyntheticData, results: list[Result]) -> Any:
    """Small multiples over x2 for the rows with x1 = −1."""
    from dataclasses import replace

    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from unmet.plotting import plot_quantile_curves

    x2 = np.linspace(*_X2, 201)
    X = np.stack([np.ones_like(x2), -np.ones_like(x2), x2], axis=1)
    levels = results[0].model.quantiles
    truth = replace(data, X=X).quantile(levels)
    split = data.split()
    rows = np.concatenate([split.train, split.validation])
    rows = rows[(data.X[rows, 1] < 0) & (np.abs(data.X[rows, 2]) < x2[-1])]
    figure = Figure(figsize=(10, 6.4), dpi=144, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    for ax, result in zip(axes.flat, results):
        ax.set_ylim(*_Y)
        plot_quantile_curves(
            ax,
            x=x2,
            estimated=result.model.predict_quantiles(X),
            true=truth,
            quantiles=levels,
            threshold=0.0,
            side=data.side,
            points=(data.X[rows, 2], data.y[rows]),
        )
        ax.set_title(result.name, loc="left", fontweight="bold")
        ax.set_title(f"{result.about} · error {result.error:.2f}", loc="right", fontsize="small")
    for ax in axes[-1]:
        ax.set_xlabel("x2   (where x1 = −1)")
    for ax in axes[:, 0]:
        ax.set_ylabel("y")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False)
    return figure
