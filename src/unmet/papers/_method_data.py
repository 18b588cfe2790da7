"""Right-censored data with known quantiles on which methods are compared: nine noises and a nonlinear set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEVELS = (0.05, 0.5, 0.95)
NONLINEAR = "nonlinear"
COLUMNS, USED = 20, 10
TEST_ROWS = 1_000


@dataclass(frozen=True, order=True)
class Case:
    """One draw: which data, how many rows, the share that is censored, the seed."""

    data: str
    rows: int
    share: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.data}-{self.rows}-{self.share:g}-{self.seed}"


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows to fit, and rows to predict with their true quantiles, shape (rows, levels)."""

    X: Floats
    y: Floats
    cap: Floats
    test: Floats
    truth: Floats

    @property
    def censored(self) -> NDArray[np.bool_]:
        return self.y >= self.cap


def draw(case: Case) -> Drawn:
    """Return the rows of a case; caps are normal and hide the given share of the rows."""
    both = case.rows + TEST_ROWS
    X, latent, truth = _nonlinear(both, case.seed) if case.data == NONLINEAR else _noise(case, both)
    X, test = X[: case.rows], X[case.rows :]
    latent, truth = latent[: case.rows], truth[case.rows :]
    random = np.random.default_rng([case.seed, 1])
    cap = random.normal(0.0, np.std(latent), case.rows)
    cap += np.quantile(latent - cap, 1 - case.share)
    return Drawn(X, np.minimum(latent, cap), cap, test, truth)


def _noise(case: Case, rows: int) -> tuple[Floats, Floats, Floats]:
    from unmet.datasets import make_synthetic

    found = make_synthetic(case.data, n=rows, seed=case.seed)
    return found.X[:, 1:], found.latent, found.quantile(list(LEVELS))


def _nonlinear(rows: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return curves, an interaction and steps in ten columns, a varying spread, and ten idle columns."""
    from scipy.special import ndtri

    random = np.random.default_rng([seed, 2])
    X = random.uniform(-2, 2, (rows, COLUMNS))
    middle = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 1.5 * (X[:, 3] > 0) - (X[:, 4] > 1)
    middle += 0.5 * X[:, 5] + 0.3 * X[:, 6] ** 2 + 0.5 * np.abs(X[:, 7]) + 0.3 * X[:, 8]
    spread = np.exp(0.3 * X[:, USED - 1])
    latent = middle + spread * random.normal(size=rows)
    return X, latent, middle[:, None] + spread[:, None] * ndtri(LEVELS)
