"""What censoring costs if the form of the noise is known: exact maximum likelihood with and without it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.papers._checks import geometric_mean
from unmet.papers._experiments import PAPER_NOISES

_LEVELS = (0.05, 0.50, 0.95)
_SMALLEST = 1e-4


def cost_of_censoring(seeds: Sequence[int]) -> dict[str, float]:
    """Return the error of the exact fit to censored values, relative to the same fit to latent values.

    All three noises of the paper are normal given x, with a constant standard deviation or with |a + b x2|.
    Both are fitted by maximum likelihood from the same start. Errors are mean absolute errors of the
    quantiles on the test rows, averaged over `seeds`; the ratio is a geometric mean over three levels.
    """
    return {noise: _ratio(noise, seeds) for noise in PAPER_NOISES}


def _ratio(noise: str, seeds: Sequence[int]) -> float:
    errors = np.array([[_error(noise, seed, latent) for latent in (False, True)] for seed in seeds])
    censored, latent = errors.mean(0)
    return geometric_mean(list(censored / latent))


def _error(noise: str, seed: int, latent: bool) -> NDArray[np.float64]:
    from scipy.special import ndtri

    from unmet.datasets import make_synthetic

    data = make_synthetic(noise, seed=seed)
    split = data.split()
    rows = np.r_[split.train, split.validation]
    y = (data.latent if latent else data.y)[rows]
    below = np.zeros(len(rows), bool) if latent else y <= data.threshold[rows]
    varying = noise == "heteroskedastic"
    location, scale = fit_normal(data.X[rows], y, below, varying)(data.X[split.test])
    found = location[:, None] + scale[:, None] * ndtri(_LEVELS)
    return np.abs(found - data.quantile(list(_LEVELS))[split.test]).mean(0)


@dataclass(frozen=True)
class Normal:
    """Normal y given x, with mean β'x and standard deviation s or |a + b x2|."""

    parameters: NDArray[np.float64]  # β, then s or a and b

    def __call__(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation at the rows of X."""
        slopes, scale = np.split(self.parameters, [X.shape[1] + 1])
        raw = scale[0] + (scale[1] * X[:, 2] if len(scale) > 1 else np.zeros(len(X)))
        return np.c_[np.ones(len(X)), X] @ slopes, np.abs(raw) + _SMALLEST


def fit_normal(
    X: NDArray[np.float64], y: NDArray[np.float64], below: NDArray[np.bool_], varying: bool
) -> Normal:
    """Fit by maximum likelihood; of rows `below` only is known that they lie under y."""
    from scipy.optimize import minimize
    from scipy.special import log_ndtr

    def loss(parameters: NDArray[np.float64]) -> float:
        location, scale = Normal(parameters)(X)
        z = (y - location) / scale
        return -float(np.where(below, log_ndtr(z), -0.5 * z**2 - np.log(scale)).sum())

    design = np.c_[np.ones(len(X)), X]
    found = np.r_[np.linalg.lstsq(design, y, rcond=None)[0], [1.0, 1.0] if varying else [1.0]]
    simplex = {"maxiter": 20_000, "maxfev": 40_000, "xatol": 1e-6, "fatol": 1e-6}
    # The scale has a kink, where methods that follow a direction may stop.
    for method, options in (("Nelder-Mead", simplex), ("Powell", {}), ("Nelder-Mead", simplex)):
        found = minimize(loss, found, method=method, options=options).x
    return Normal(found)
