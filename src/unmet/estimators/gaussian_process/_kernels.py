"""Covariance functions as data: sums of simple terms, one lengthscale per column and term."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TERMS = ("rbf", "matern", "linear", "periodic")


@dataclass(frozen=True)
class Kernel:
    """The terms of a sum, and the columns whose values repeat.

    With d² = Σ (xⱼ − x'ⱼ)² / ℓⱼ² over standardised columns, a term is s² exp(−d²/2) ("rbf"),
    s² (1 + √5 d + 5/3 d²) exp(−√5 d) ("matern"), or s² Σ xⱼ x'ⱼ / ℓⱼ² ("linear"). "periodic" is "rbf" with
    columns that repeat wrapped around a circle: (xⱼ − x'ⱼ)² becomes 4 sin²(π (xⱼ − x'ⱼ) / periodⱼ), MacKay's
    kernel.
    """

    terms: tuple[str, ...]
    columns: int
    periods: tuple[tuple[int, float], ...] = ()

    @property
    def wrapped(self) -> tuple[int, ...]:
        """The column behind each coordinate of a periodic term."""
        repeated = dict(self.periods)
        return tuple(j for j in range(self.columns) for _ in range(2 if j in repeated else 1))

    def coordinates(self, X: Floats, center: Floats, scale: Floats) -> Floats:
        """Return standardised columns and, for a periodic term, the same with circles in their place."""
        plain = (X - center) / scale
        if "periodic" not in self.terms:
            return plain
        repeated, parts = dict(self.periods), []
        for j in range(self.columns):
            if j in repeated:
                angle = 2 * np.pi * X[:, j] / repeated[j]
                parts += [np.cos(angle), np.sin(angle)]
            else:
                parts.append(plain[:, j])
        return np.column_stack([plain, *parts])

    def start(self, variance: float) -> dict[str, Floats]:
        """Return parameters to begin with: neighbours in all columns at once are alike."""
        shape = (len(self.terms), self.columns)
        return {
            "lengthscales": np.full(shape, 0.5 * np.log(self.columns)),
            "variances": np.full(len(self.terms), np.log(variance / len(self.terms))),
        }


def parse_kernel(text: str, columns: int, periods: Mapping[int, float] | None) -> Kernel:
    """Return the kernel of a text such as "matern+linear". The text has been checked."""
    repeated = tuple(sorted((int(j), float(period)) for j, period in (periods or {}).items()))
    return Kernel(tuple(text.split("+")), columns, repeated)


def _scaled(kernel: Kernel, term: int, parameters: Mapping[str, Any], rows: Any, xp: Any) -> Any:
    lengths = xp.exp(parameters["lengthscales"][term])
    if kernel.terms[term] != "periodic":
        return rows[:, : kernel.columns] / lengths
    return rows[:, kernel.columns :] / lengths[np.array(kernel.wrapped)]


def covariance(kernel: Kernel, parameters: Mapping[str, Any], one: Any, other: Any, xp: Any) -> Any:
    """Return the covariances between two sets of coordinates, shape (n, m); xp is NumPy or jax.numpy."""
    total = 0.0
    for term, name in enumerate(kernel.terms):
        a = _scaled(kernel, term, parameters, one, xp)
        b = _scaled(kernel, term, parameters, other, xp)
        size = xp.exp(parameters["variances"][term])
        product = a @ b.T
        if name == "linear":
            total = total + size * product
            continue
        square = xp.maximum((a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * product, 0.0)
        if name == "matern":
            reach = xp.sqrt(5 * square + 1e-12)  # a root at zero would have no slope
            total = total + size * (1 + reach + reach * reach / 3) * xp.exp(-reach)
        else:
            total = total + size * xp.exp(-0.5 * square)
    return total


def variances(kernel: Kernel, parameters: Mapping[str, Any], rows: Any, xp: Any) -> Any:
    """Return the diagonal of `covariance(kernel, parameters, rows, rows)`, shape (n,)."""
    total = xp.zeros(rows.shape[0])
    for term, name in enumerate(kernel.terms):
        size = xp.exp(parameters["variances"][term])
        if name == "linear":
            scaled = _scaled(kernel, term, parameters, rows, xp)
            total = total + size * (scaled * scaled).sum(axis=1)
        else:
            total = total + size
    return total


def choose_inducing(
    kernel: Kernel, parameters: Mapping[str, Any], rows: Floats, most: int
) -> NDArray[np.intp]:
    """Return up to `most` rows, each the one that those before it say least about.

    Greedy conditional variance, as in Burt, Rasmussen & van der Wilk (2020), Convergence of sparse
    variational inference in Gaussian processes regression, J. Mach. Learn. Res. 21. Equal rows are taken
    once. Takes n most² steps.
    """
    left = np.array(variances(kernel, parameters, rows, np))
    enough = 1e-6 * float(left.mean())
    factor = np.zeros((min(most, len(rows)), len(rows)))
    chosen: list[int] = []
    for number in range(len(factor)):
        best = int(np.argmax(left))
        if left[best] <= enough:
            break
        against = covariance(kernel, parameters, rows[best : best + 1], rows, np)[0]
        against = against - factor[:number, best] @ factor[:number]
        factor[number] = against / np.sqrt(left[best])
        left = left - factor[number] ** 2
        left[best] = 0.0
        chosen.append(best)
    return np.array(chosen or [0], np.intp)
