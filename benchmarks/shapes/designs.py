"""Tables with known quantiles: few rows, many columns, heavy censoring, outliers, nonlinear curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
LEVELS = (0.05, 0.5, 0.95)
# Development looks at these as often as it likes, the final check at the others once.
DEVELOPMENT, FINAL = range(1000, 1010), range(5000, 5010)
TEST_ROWS = 2000


@dataclass(frozen=True)
class Design:
    """Normal noise of scale `spread(X)` around `middle(X)`; caps are normal and hide a share of the rows."""

    rows: int
    columns: int
    middle: Callable[[Floats], Floats]
    spread: Callable[[Floats], Floats] = lambda X: np.ones(len(X))
    network: str = "linear"
    censored: float = 0.3
    outliers: float = 0.0  # share of rows whose value is moved far away
    uniform: bool = False  # columns uniform on [−2, 2] instead of normal


@dataclass(frozen=True)
class Draw:
    X: Floats
    y: Floats
    cap: Floats
    censored: NDArray[np.bool_]
    test: Floats
    truth: Floats  # (test rows, levels)


def _line(X: Floats) -> Floats:
    """Return a line whose slopes alternate in sign and fall off, of standard deviation about one."""
    slopes = np.array([(-1) ** j / (1 + j / 3) for j in range(X.shape[1])])
    return X @ slopes / np.sqrt(np.square(slopes).sum())


def _sine(X: Floats) -> Floats:
    return 2 * np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def _step(X: Floats) -> Floats:
    return 3.0 * (X[:, 0] > 0) - 1.5 * (X[:, 1] > 0.5)


def _interactions(X: Floats) -> Floats:
    return X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + 0.5 * X[:, 4]


def _growing(X: Floats) -> Floats:
    return np.abs(1 + 0.7 * X[:, 0])


DESIGNS = {
    "mlp, sine": Design(2000, 3, _sine, network="mlp", uniform=True),
    "mlp, step": Design(2000, 3, _step, network="mlp", uniform=True),
    "mlp, interactions": Design(2000, 5, _interactions, network="mlp", uniform=True),
    "50 columns, n = 300": Design(300, 50, _line),
    "20 columns, n = 1,000": Design(1000, 20, _line),
    "n = 100": Design(100, 3, _line),
    "80% censored": Design(1000, 3, _line, censored=0.8),
    "outliers": Design(1000, 3, _line, outliers=0.05),
    "heteroskedastic": Design(1000, 3, _line, _growing),
}


def draw(design: Design, seed: int) -> Draw:
    random = np.random.default_rng([seed, 17])

    def columns(rows: int) -> Floats:
        shape = (rows, design.columns)
        return random.uniform(-2, 2, shape) if design.uniform else random.normal(size=shape)

    X, test = columns(design.rows), columns(TEST_ROWS)
    latent = design.middle(X) + design.spread(X) * random.normal(size=design.rows)
    # A shift of normal caps hides the wanted share of normal values with the same variance as these.
    sd = np.hypot(np.std(latent), 1.0)
    cap = np.mean(latent) + random.normal(size=design.rows) - sd * ndtri(design.censored)
    moved = random.random(design.rows) < design.outliers
    latent = np.where(moved, latent + 20 * random.choice([-1, 1], design.rows), latent)
    truth = design.middle(test)[:, None] + design.spread(test)[:, None] * ndtri(LEVELS)
    return Draw(X, np.minimum(latent, cap), cap, latent > cap, test, truth)
