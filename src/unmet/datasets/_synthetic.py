"""The paper's synthetic data: left-censored at zero, latent values and quantiles known."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import fixed_threshold
from unmet.datasets._noises import NOISES, Floats


class Split(NamedTuple):
    """Row indices of the three parts."""

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SyntheticData:
    """Latent y* = x0 + x1 + x2 + ε, seen as y = max(0, y*).

    Attributes
    ----------
    X
        Shape (n, 3): x0 = 1, x1 = ±1 with equal chance, x2 standard normal.
    y, latent
        Observed and latent values, shape (n,).
    threshold
        Zeros: the known left threshold of every row.
    censored
        True where y has reached the threshold.
    side
        Always "left".
    noise, seed
        The arguments of `make_synthetic`.
    """

    X: Floats
    y: Floats
    latent: Floats
    threshold: Floats
    censored: NDArray[np.bool_]
    noise: str
    seed: int
    side: Literal["left"] = "left"

    def quantile(self, theta: ArrayLike, truth: Literal["exact", "published"] = "exact") -> Floats:
        """Return conditional quantiles of the *latent* values: (n,) for one level, (n, K) for K levels.

        `truth="published"` gives the paper's formulas, which exist for the paper's noises only. They differ
        for the mixture, where the paper uses the standard deviation √(0.75² + 0.25²) instead of
        √(0.75² + 0.5²). The quantile of the observed values is max(0, quantile).
        """
        if truth not in ("exact", "published"):
            raise ValueError(f'truth must be "exact" or "published", got {truth!r}')
        noise = NOISES[self.noise]
        curve = noise.quantile if truth == "exact" else noise.published
        if curve is None:
            raise ValueError(f'truth="published" exists for the paper\'s noises only, not for {self.noise!r}')
        levels = np.asarray(theta, dtype=np.float64)
        if levels.ndim > 1 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"theta must be one level or a list of levels inside (0, 1), got {theta!r}")
        centre = self.X.sum(axis=1)
        columns = [centre + curve(float(level), self.X[:, 2]) for level in levels.ravel()]
        return columns[0] if levels.ndim == 0 else np.stack(columns, axis=1)

    def split(self) -> Split:
        """Return the paper's parts: 33% test, a fifth of the rest validation (536 : 134 : 330 of 1,000).

        Uses scikit-learn's `train_test_split` with random_state 0, then 1, for any seed of the data.
        """
        from sklearn.model_selection import train_test_split

        rest, test = train_test_split(np.arange(len(self.y)), test_size=0.33, random_state=0)
        train, validation = train_test_split(rest, test_size=0.2, random_state=1)
        return Split(train, validation, test)

    def __repr__(self) -> str:
        return f"SyntheticData(noise={self.noise!r}, n={len(self.y)}, seed={self.seed})"


def make_synthetic(noise: str = "gaussian", n: int = 1000, seed: int = 42) -> SyntheticData:
    """Return the synthetic data of the paper. Seed 42 and n = 1000 give exactly its rows.

    NumPy's `RandomState(seed)` draws x1, then x2, then the noise.

    Parameters
    ----------
    noise
        The paper's "gaussian" N(0, 1), "heteroskedastic" (1 + x2)·N(0, 1) and "mixture" 0.75·N(0, 1) +
        0.25·N(0, 2²). Six more are not conditionally Gaussian and have mean 0 and standard deviation about
        1: "skewed-right" and "skewed-left" (gamma of shape 2), "student" (t with 3 degrees of freedom),
        "laplace", "skewed-heteroskedastic" (gamma of shape 2, scale |1 + x2|/√2), and "varying-shape" (gamma
        of shape e^(1 + x2), clipped to [0.5, 20]).
    n
        Number of rows.
    seed
        Seed of NumPy's `RandomState`.

    Examples
    --------
    >>> data = make_synthetic("gaussian")
    >>> data.X.shape, round(float((data.quantile(0.05) <= 0).mean()), 3)
    ((1000, 3), 0.627)
    """
    if noise not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a positive whole number, got {n!r}")
    random = np.random.RandomState(seed)
    x1 = (-1.0) ** random.binomial(1, 0.5, n)
    x2 = random.normal(0, 1, n)
    X = np.stack([np.ones(n), x1, x2], axis=1)
    latent = X.sum(axis=1) + NOISES[noise].draw(random, x2)
    seen = fixed_threshold(latent, 0.0, side="left")
    return SyntheticData(X, seen.observed, latent, seen.threshold, seen.censored, noise, seed)
