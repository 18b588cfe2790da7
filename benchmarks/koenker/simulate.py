"""Estimates of every design, estimator and draw, kept in a folder as they finish."""

from pathlib import Path

import numpy as np

from benchmarks.koenker.designs import DESIGNS, SIZES, Design
from unmet import LinearCensoredQuantiles, TobitRegressor, fit_many

BATCH = 20
_METHODS = {"Portnoy": "portnoy", "Peng-Huang": "peng-huang", "Powell": "powell"}


def simulate(folder: Path, batches: int, seconds: float = float("inf")) -> None:
    """Run the batches that are not in the folder yet, those of all designs in turn; stop when time is up."""
    from time import monotonic

    end = monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    for batch in range(batches):
        for rows in SIZES:
            for design in DESIGNS:
                path = folder / f"table{design.table}-{rows}-{batch}.npz"
                if path.exists():
                    continue
                if monotonic() > end:
                    return
                estimates = run(design, rows, batch)
                part = path.with_suffix(".part.npz")
                np.savez(part, **estimates)
                part.replace(path)


def run(design: Design, rows: int, batch: int) -> dict[str, np.ndarray]:
    """Intercept and slope of the median by each estimator, shape (BATCH, 2)."""
    random = np.random.default_rng([design.table, rows, batch])
    samples = [design.draw(rows, random) for _ in range(BATCH)]
    found = {}
    for name in design.estimators:
        kind, _, form = name.partition(" ")
        if kind == "GMLE":
            found[name] = _gaussian(samples)
        else:
            found[name] = np.array([_linear(_METHODS[kind], form == "Q", *sample) for sample in samples])
    return found


def _linear(method: str, quadratic: bool, x: np.ndarray, y: np.ndarray, threshold: np.ndarray) -> tuple:
    """The quadratic's slope is taken at the mean of x, 1."""
    X = np.column_stack([x, x**2]) if quadratic else x[:, None]
    step = 1 / (len(x) ** 0.8 + 6)  # the paper's grid
    grid = np.arange(step, 0.5 - step / 2, step) if method != "powell" else None
    model = LinearCensoredQuantiles(method=method, quantiles=(0.5,), grid=grid, n_restarts=0, random_state=0)
    model.fit(X, y, threshold=threshold)
    slopes = model.coef_[0]
    return model.intercept_[0], slopes[0] + (2 * slopes[1] if quadratic else 0.0)


def _gaussian(samples: list) -> np.ndarray:
    problems = [{"X": x[:, None], "y": y, "threshold": threshold} for x, y, threshold in samples]
    models = fit_many(TobitRegressor(random_state=0), problems, progress=False)
    ends = np.array([model.predict(np.array([[0.0], [1.0]])) for model in models])
    return np.column_stack([ends[:, 0], ends[:, 1] - ends[:, 0]])
