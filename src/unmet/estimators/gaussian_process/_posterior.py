"""Sparse variational posterior of one or two Gaussian processes with several outputs, in JAX.

A process has outputs f_k(x) = μ_k + Σ_q C_kq a(x)ᵀ v_q + rest, where a(x) = L⁻¹ k(Z, x), L Lᵀ = k(Z, Z) and
v_q are standard normal before anything was seen: the linear model of coregionalisation with one kernel,
whitened. The posterior q(v) is normal. Its natural parameters are sums over entries of sites (λ, w):
precision I + Σ w (C_k ⊗ a)(C_k ⊗ a)ᵀ. One step of natural gradients sets w = −2 ∂/∂v and λ = ∂/∂m + w m of
the expected log-likelihood with moments m and v; with Gaussian noise and no bounds the first step is exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

from unmet.estimators.gaussian_process._kernels import Kernel, covariance, variances
from unmet.estimators.gaussian_process._likelihoods import Entries, expected_log_likelihood

JITTER = 1e-6
_MOST_STEPS = 40


@dataclass(frozen=True)
class Model:
    """What is compiled: kernels of the latent value and, if it has one, its log-scale; the likelihood."""

    kernels: tuple[Kernel, ...]
    likelihood: str
    outputs: int
    intervals: bool  # whether any entry has a bound on both sides


class Places(NamedTuple):
    """Coordinates of rows and inducing points of one process; `used` is False in padding."""

    rows: Any
    inducing: Any
    used: Any


class Projection(NamedTuple):
    """a(x) of all rows, shape (points, rows), and the variance that inducing points leave."""

    a: Any
    rest: Any
    factor: Any


class Posterior(NamedTuple):
    """Mean (latents, points) and covariance (latents × points, twice) of whitened values, and the KL."""

    mean: Any
    covariance: Any
    divergence: Any


def project(kernel: Kernel, parameters: Mapping[str, Any], places: Places) -> Projection:
    """Whiten the covariances between inducing points and rows."""
    used = places.used
    both = covariance(kernel, parameters, places.inducing, places.inducing, jnp)
    jitter = JITTER * jnp.exp(parameters["variances"]).sum()
    inner = jnp.where(used[:, None] & used, both, 0.0) + jnp.diag(jnp.where(used, jitter, 1.0))
    factor = jnp.linalg.cholesky(inner)
    across = jnp.where(used[:, None], covariance(kernel, parameters, places.inducing, places.rows, jnp), 0.0)
    a = solve_triangular(factor, across, lower=True)
    rest = jnp.maximum(variances(kernel, parameters, places.rows, jnp) - (a * a).sum(axis=0), 0.0)
    return Projection(a, rest, factor)


def condition(a: Any, mixing: Any, sites: tuple[Any, Any]) -> Posterior:
    """Return the posterior of sites (λ, w), shape (rows, outputs) each."""
    tilt, weight = sites
    latents, points = mixing.shape[1], a.shape[0]
    blocks = [[jnp.zeros((points, points))] * latents for _ in range(latents)]
    for q in range(latents):
        for other in range(q + 1):
            block = (a * (weight @ (mixing[:, q] * mixing[:, other]))) @ a.T
            blocks[q][other] = block
            blocks[other][q] = block.T
    precision = jnp.block(blocks) + jnp.eye(latents * points)
    factor = jnp.linalg.cholesky(precision)
    half = solve_triangular(factor, jnp.eye(latents * points), lower=True)
    mean = half.T @ (half @ (a @ (tilt @ mixing)).T.ravel())
    divergence = 0.5 * ((half * half).sum() + mean @ mean - latents * points)
    divergence = divergence + jnp.log(jnp.diag(factor)).sum()
    return Posterior(mean.reshape(latents, points), half.T @ half, divergence)


def moments(projection: Projection, mixing: Any, offset: Any, posterior: Posterior) -> tuple[Any, Any]:
    """Return mean and variance of the latent values, shape (rows, outputs) each."""
    a, rest, _ = projection
    latents, points = posterior.mean.shape
    center = offset + (a.T @ posterior.mean.T) @ mixing.T
    blocks = posterior.covariance.reshape(latents, points, latents, points)
    spread = []
    for shares in mixing:
        combined = jnp.einsum("q,qmrn,r->mn", shares, blocks, shares)
        spread.append(rest * (shares @ shares) + (a * (combined @ a)).sum(axis=0))
    return center, jnp.maximum(jnp.stack(spread, axis=1), 0.0)


def _mixing(parameters: Mapping[str, Any], outputs: int) -> Any:
    return parameters["mixing"] if outputs > 1 else jnp.ones((1, 1))


def _bound(
    model: Model, parameters: Any, places: tuple[Places, ...], seen: Entries, posteriors: list[Posterior]
) -> Any:
    """Return the evidence lower bound with the posterior held as it is."""
    found = []
    for kernel, own, where, posterior in zip(model.kernels, parameters["processes"], places, posteriors):
        mixing = _mixing(own, model.outputs)
        found.append(moments(project(kernel, own, where), mixing, own["offset"], posterior))
    expected = expected_log_likelihood(model.likelihood, found, parameters["noise"], seen, model.intervals)
    return expected - sum(posterior.divergence for posterior in posteriors)


def _settle(
    model: Model, parameters: Any, places: tuple[Places, ...], seen: Entries, sites: Any, tolerance: Any
) -> tuple[Any, list[Posterior]]:
    """Take natural-gradient steps until the bound rises no more; a step that lowers it is shortened."""
    processes = [
        (project(kernel, own, where), _mixing(own, model.outputs), own["offset"])
        for kernel, own, where in zip(model.kernels, parameters["processes"], places)
    ]

    def expected(latent: list[tuple[Any, Any]]) -> Any:
        return expected_log_likelihood(model.likelihood, latent, parameters["noise"], seen, model.intervals)

    def evaluate(sites: Any) -> Any:
        posteriors = [condition(p[0].a, p[1], site) for p, site in zip(processes, sites)]
        latent = [moments(*p, q) for p, q in zip(processes, posteriors)]
        value, slopes = jax.value_and_grad(expected)(latent)
        targets = []
        for (center, _), (by_mean, by_variance), (_, _, offset) in zip(latent, slopes, processes):
            weight = jnp.maximum(-2 * by_variance, 0.0)
            targets.append((by_mean + weight * (center - offset), weight))
        return value - sum(q.divergence for q in posteriors), targets, posteriors

    def unfinished(state: Any) -> Any:
        number, _, _, _, step, gain = state
        return (number < _MOST_STEPS) & (gain > tolerance) & (step > 1e-3)

    def advance(state: Any) -> Any:
        number, sites, bound, (targets, posteriors), step, gain = state
        mixed = jax.tree.map(lambda old, new: old + step * (new - old), sites, targets)
        found, *others = evaluate(mixed)
        better = found >= bound - 0.1 * tolerance  # False also for NaN
        keep = partial(jnp.where, better)
        kept = jax.tree.map(keep, (mixed, found, tuple(others)), (sites, bound, (targets, posteriors)))
        step = jnp.where(better, jnp.minimum(1.0, 2 * step), step / 4)
        return (number + 1, *kept, step, keep(found - bound, gain))

    nothing = [
        Posterior(jnp.zeros((q, m)), jnp.zeros((q * m, q * m)), jnp.inf)  # worse than anything found
        for q, m in ((p[1].shape[1], p[0].a.shape[0]) for p in processes)
    ]
    # The first pass evaluates the sites as they are, inside the loop: a program of half the size.
    state = (0, sites, -jnp.inf, (sites, nothing), 1.0, jnp.inf)
    _, sites, _, (_, posteriors), _, _ = jax.lax.while_loop(unfinished, advance, state)
    return sites, posteriors


@partial(jax.jit, static_argnums=0)
def profile(
    model: Model, parameters: Any, places: tuple[Places, ...], seen: Entries, sites: Any, tolerance: Any
) -> tuple[Any, Any, Any, list[Posterior], list[Any]]:
    """Return the bound at its best posterior, its slope in the parameters, sites, posteriors, and factors L.

    At the best posterior the slope through it is zero, so that it is left out.
    """
    sites, posteriors = _settle(model, parameters, places, seen, sites, tolerance)
    held = jax.lax.stop_gradient(posteriors)
    value, slope = jax.value_and_grad(lambda p: _bound(model, p, places, seen, held))(parameters)
    parts = zip(model.kernels, parameters["processes"], places)
    factors = [project(kernel, own, where).factor for kernel, own, where in parts]
    return value, slope, sites, posteriors, factors
