"""A fitted process: the distribution of the latent value in new rows, by NumPy alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.linalg import solve_triangular

from unmet.estimators.gaussian_process._kernels import Kernel, covariance, variances
from unmet.estimators.gaussian_process._likelihoods import nodes

Floats = NDArray[np.float64]
_BLOCK = 1024
_NODES = 32
# Quantiles of mixtures are found to this share of their spread.
_PRECISION = 1e-10


@dataclass(frozen=True)
class ProcessState:
    """Parameters of one process (logarithms of lengthscales and variances) and its whitened posterior."""

    lengthscales: Floats  # (terms, columns)
    variances: Floats  # (terms,)
    offset: Floats  # (outputs,)
    mixing: Floats  # (outputs, latents)
    inducing: Floats  # (points, coordinates)
    factor: Floats  # (points, points)
    mean: Floats  # (latents, points)
    covariance: Floats  # (latents × points, latents × points)

    def moments(self, kernel: Kernel, rows: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of the latent values, shape (rows, outputs) each."""
        parameters = {"lengthscales": self.lengthscales, "variances": self.variances}
        across = covariance(kernel, parameters, self.inducing, rows, np)
        a = solve_triangular(self.factor, across, lower=True)
        rest = np.maximum(variances(kernel, parameters, rows, np) - (a * a).sum(axis=0), 0.0)
        center = self.offset + (a.T @ self.mean.T) @ self.mixing.T
        spread = [
            rest * (shares @ shares) + (a * (combined @ a)).sum(axis=0)
            for shares, combined in zip(self.mixing, self._combined)
        ]
        return center, np.maximum(np.stack(spread, axis=1), 0.0)

    @cached_property
    def _combined(self) -> list[Floats]:
        latents, points = self.mean.shape
        blocks = self.covariance.reshape(latents, points, latents, points)
        return [np.einsum("q,qmrn,r->mn", shares, blocks, shares) for shares in self.mixing]


@dataclass(frozen=True)
class FittedProcess:
    """The latent value and, for a varying scale, its logarithm; with the units of columns and outputs."""

    kernel: Kernel
    likelihood: str
    processes: tuple[ProcessState, ...]
    level: Floats  # (outputs,): log-scale or log-shape; empty if there is none
    center: Floats
    scale: Floats
    y_center: Floats
    y_scale: Floats
    levels: tuple[float, ...]
    bound: float
    parametric = True

    @property
    def outputs(self) -> int:
        return len(self.y_center)

    def moments(self, X: Floats) -> list[tuple[Floats, Floats]]:
        """Return mean and variance of each process, (rows, outputs), in the units of the fit."""
        rows = self.kernel.coordinates(np.clip(X, -1e150, 1e150), self.center, self.scale)
        found: list[list[tuple[Floats, Floats]]] = []
        for begin in range(0, max(len(rows), 1), _BLOCK):
            part = rows[begin : begin + _BLOCK]
            room = np.zeros((_BLOCK, rows.shape[1]))  # one shape: a row does not depend on its neighbours
            room[: len(part)] = part
            cut = slice(0, len(part))
            found.append(
                [(m[cut], v[cut]) for m, v in (p.moments(self.kernel, room) for p in self.processes)]
            )
        return [
            (np.concatenate([one[k][0] for one in found]), np.concatenate([one[k][1] for one in found]))
            for k in range(len(self.processes))
        ]

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> Floats:
        """Return quantiles, shape (rows, levels), or (rows, outputs, levels) of several outputs."""
        mixture = self.mixture(X)
        found = mixture.quantiles(np.asarray(wanted, np.float64))
        return found[:, 0] if self.outputs == 1 else found

    def mean(self, X: Floats) -> Floats:
        return self.mixture(X).mean()

    def mixture(self, X: Floats) -> Any:
        """Return the predictive distribution of every row and output."""
        latent = self.moments(X)
        m, v = latent[0]
        if self.likelihood == "gaussian":
            if len(latent) == 1:
                spread, shares = v[..., None] + np.exp(2 * self.level)[:, None], np.ones(1)
            else:
                places, shares = nodes(_NODES)
                logs = latent[1][0][..., None] + np.sqrt(latent[1][1])[..., None] * places
                spread = v[..., None] + np.exp(2 * np.clip(logs, -30, 30))
            unit = self.y_scale[:, None]
            return NormalMixture(m * self.y_scale + self.y_center, np.sqrt(spread) * unit, shares)
        places, shares = nodes(_NODES)
        means = np.exp(np.clip(m[..., None] + np.sqrt(v)[..., None] * places, -30, 30))
        shapes = np.exp(self.level)[:, None] if self.likelihood == "negative-binomial" else None
        return CountMixture(means, shapes, shares)


@dataclass(frozen=True)
class NormalMixture:
    """Normal distributions of one centre (rows, outputs) and several scales (rows, outputs, nodes)."""

    center: Floats
    scales: Floats
    shares: Floats

    def mean(self, positive: bool = False) -> Floats:
        """Return E Y, shape (rows, outputs), or E max(Y, 0) = μ Φ(μ/σ) + σ φ(μ/σ) of each scale."""
        if not positive:
            return self.center
        center = self.center[..., None]
        score = center / self.scales
        density = np.exp(-np.square(score) / 2) / np.sqrt(2 * np.pi)
        return np.asarray((center * special.ndtr(score) + self.scales * density) @ self.shares)

    def below(self, y: Floats) -> tuple[Floats, Floats]:
        """Return P(Y < y) and P(Y ≤ y), shape (rows, outputs)."""
        found = special.ndtr((y - self.center)[..., None] / self.scales) @ self.shares
        return found, found

    def quantiles(self, levels: Floats) -> Floats:
        """Return quantiles, (rows, outputs, levels); levels of shape (levels,) or one set for each."""
        score = special.ndtri(levels)
        if len(self.shares) == 1:
            return self.center[..., None] + self.scales * score
        # The quantile lies between those of the smallest and the largest scale.
        ends = self.scales.min(axis=-1)[..., None] * score, self.scales.max(axis=-1)[..., None] * score
        low, high = np.minimum(*ends), np.maximum(*ends)
        for _ in range(200):
            middle = (low + high) / 2
            if not (high - low > _PRECISION * (np.abs(middle) + self.scales.min(axis=-1)[..., None])).any():
                break
            under = special.ndtr(middle[..., None] / self.scales[..., None, :]) @ self.shares < levels
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return self.center[..., None] + (low + high) / 2

    def draw(self, random: np.random.RandomState, count: int) -> Floats:
        which = random.choice(len(self.shares), size=(*self.center.shape, count), p=self.shares)
        scale = np.take_along_axis(self.scales, which, axis=-1)
        return self.center[..., None] + scale * random.standard_normal(which.shape)


@dataclass(frozen=True)
class CountMixture:
    """Poisson or negative-binomial counts of several means (rows, outputs, nodes)."""

    means: Floats
    shapes: Floats | None
    shares: Floats

    def mean(self, positive: bool = False) -> Floats:
        """Return E Y, shape (rows, outputs); counts are never below zero."""
        return self.means @ self.shares

    def at_most(self, k: Floats) -> Floats:
        """Return P(Y ≤ k), for k of shape (rows, outputs, levels)."""
        floor = np.floor(k)[..., None]
        inside = np.maximum(floor, 0.0) + 1
        means = self.means[..., None, :]
        if self.shapes is None:
            found = special.gammaincc(inside, means)
        else:
            shape = self.shapes[..., None, :]
            found = special.betainc(shape, inside, shape / (shape + means))
        return np.where(floor < 0, 0.0, found) @ self.shares

    def below(self, y: Floats) -> tuple[Floats, Floats]:
        """Return P(Y < y) and P(Y ≤ y), shape (rows, outputs)."""
        asked = y[..., None]
        return self.at_most(np.ceil(asked) - 1)[..., 0], self.at_most(asked)[..., 0]

    def quantiles(self, levels: Floats) -> Floats:
        """Return the smallest counts k with P(Y ≤ k) ≥ level."""
        shape = np.broadcast_shapes((*self.means.shape[:-1], 1), levels.shape)
        wide = self.means.max(axis=-1)[..., None]
        low, high = np.full(shape, -1.0), np.broadcast_to(np.ceil(2 * wide + 10), shape).copy()
        while (short := self.at_most(high) < levels).any():
            if high.max() > 1e15:
                break
            low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = self.at_most(middle) >= levels
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def draw(self, random: np.random.RandomState, count: int) -> Floats:
        which = random.choice(len(self.shares), size=(*self.means.shape[:-1], count), p=self.shares)
        means = np.take_along_axis(self.means, which, axis=-1)
        if self.shapes is not None:
            shapes = np.broadcast_to(self.shapes, means.shape)
            means = means * random.standard_gamma(shapes) / shapes
        return random.poisson(np.minimum(means, 1e15)).astype(np.float64)
