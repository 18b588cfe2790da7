"""The figures of Section IV, and one that the paper lacks: estimated against true quantiles by model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet import plotting
from unmet.papers._experiments import LEVELS, PAPER_NOISES, TABLE2, Block
from unmet.papers._models import CONVERGED, DEFAULT, RELEASED
from unmet.papers._tables import DATA_NAMES
from unmet.plotting import legend_below, new_figure, save_figures

# The models of the last figure, and what is written above them.
_SHOWN = {
    "Multi-QNN, unaware\n(as published)": RELEASED["Multi-QNN"],
    "Multi-CQNN\n(as published)": RELEASED["Multi-CQNN"],
    "Multi-CQNN, printed\nequation (converged)": CONVERGED["Multi-CQNN, printed equation"],
    "ours\n(default settings)": DEFAULT,
}
_LINE = np.linspace(-2.5, 2.5, 201)


def write_figures(folder: Path, *, smoke: bool = False) -> list[Path]:
    """Write every figure as PNG and SVG; equal inputs give equal bytes."""
    makers = {
        "figure1-tilted-loss": tilted_loss,
        "figure2-architecture": architecture,
        "figure3-distributions": distributions,
        "figure4-conditional-quantiles": conditional_quantiles,
        "quantile-curves": lambda: quantile_curves(smoke=smoke),
    }
    return save_figures(folder, makers)


def tilted_loss() -> Any:
    figure = new_figure(4.6, 3.2)
    plotting.plot_tilted_loss(figure.add_subplot())
    return figure


def architecture() -> Any:
    figure = new_figure(6.6, 3.6)
    plotting.plot_architecture(figure.add_subplot())
    return figure


def distributions() -> Any:
    """Draw densities of the latent value at three values of x2; x0 = 1 and x1 = −1, so its mean is x2."""
    from scipy.stats import norm

    figure = new_figure(9, 3.2)
    axes = figure.subplots(1, 3, sharey=True)
    at = np.linspace(-6, 7, 521)
    for ax, x2 in zip(axes, (-0.5, 0.5, 1.5)):
        spreads = {
            "Standard Gaussian, sd 1": 1.0,
            "Heteroskedastic, sd |1 + x2|": abs(1 + x2),
            "Gaussian Mixture, sd 0.901": np.hypot(0.75, 0.5),
            "Gaussian Mixture as published, sd 0.791": np.hypot(0.75, 0.25),
        }
        densities = {name: norm.pdf(at, x2, sd) for name, sd in spreads.items()}
        title = f"x1 = −1, x2 = {x2:g}".replace("= -", "= −")
        plotting.plot_densities(ax, x=at, densities=densities, centre=x2, title=title)
    axes[0].set_ylabel("density of y*")
    legend_below(figure, axes[0], columns=3)
    return figure


def conditional_quantiles() -> Any:
    """Draw true quantiles of the latent value over x2, for x1 = −1."""
    figure = new_figure(9, 3.2)
    axes = figure.subplots(1, 3)
    for ax, noise in zip(axes, PAPER_NOISES):
        other = ("as published", _truth(noise, "published")) if noise == "mixture" else None
        truth = _truth(noise, "exact")
        plotting.plot_true_quantiles(
            ax, x=_LINE, true=truth, quantiles=LEVELS, other=other, title=DATA_NAMES[noise]
        )
    axes[0].set_ylabel("quantiles of y*  (x1 = −1)")
    axes[0].annotate(
        "censored: never seen", (0.97, 0.04), xycoords="axes fraction", ha="right", fontsize="small"
    )
    legend_below(figure, axes[2], columns=4)
    return figure


def _truth(noise: str, truth: str) -> NDArray[np.float64]:
    from unmet.datasets import make_synthetic

    return _along_line(make_synthetic(noise)).quantile(list(LEVELS), truth)


def _along_line(data: Any) -> Any:
    """Return the same kind of data with x0 = 1, x1 = −1 and x2 along a line, for its quantiles alone."""
    X = np.stack([np.ones_like(_LINE), -np.ones_like(_LINE), _LINE], axis=1)
    return replace(data, X=X)


def quantile_curves(*, smoke: bool = False) -> Any:
    """Draw the quantile curves of each model on each data set, seed 42, over x2 for x1 = −1.

    A quick pass draws only models that the tables have compiled already.
    """
    from unmet.papers._runner import fit_tasks, make_tasks

    experiment = TABLE2.small() if smoke else TABLE2
    experiment = replace(experiment, repeats=1)
    shown = {name: model for name, model in _SHOWN.items() if not (smoke and model in CONVERGED.values())}
    named = [replace(model, name=name) for name, model in shown.items()]
    fitted = fit_tasks(experiment, make_tasks(experiment, Block("curves", tuple(named))))
    figure = new_figure(11, 8)
    axes = figure.subplots(len(PAPER_NOISES), len(named), sharex=True, sharey="row", squeeze=False)
    for row, noise in enumerate(PAPER_NOISES):
        reach = _truth(noise, "exact")
        axes[row, 0].set_ylim(reach.min() - 0.5, reach.max() + 1.0)
        axes[row, 0].set_ylabel(f"{DATA_NAMES[noise]}\ny and quantiles of y*")
    for (model, data, _), estimator in fitted:
        row, column = PAPER_NOISES.index(data.noise), [one.name for one in named].index(model.name)
        ax = axes[row, column]
        line = _along_line(data)
        near = (data.X[:, 1] < 0) & (np.abs(data.X[:, 2]) < 2.5)
        plotting.plot_quantile_curves(
            ax,
            x=_LINE,
            estimated=estimator.predict_quantiles(line.X),
            quantiles=LEVELS,
            true=line.quantile(list(LEVELS)),
            threshold=0.0,
            side="left",
            points=(data.X[near, 2], data.y[near]),
            title=model.name if row == 0 else None,
        )
    for ax in axes[-1]:
        ax.set_xlabel("x2  (x1 = −1)")
    legend_below(figure, axes[0, 0], columns=6)
    return figure
