"""Standard errors of linear Gaussian Tobit models, from the second derivatives of their likelihood."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.losses import interval_tobit_loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood:
    """What the likelihood says at the fitted coefficients."""

    covariance: Floats  # of intercept (if any), slopes and log σ (if it was estimated)
    log_likelihood: float
    rows: int
    exact: int
    right: int
    left: int
    between: int


def find_likelihood(
    X: Floats,
    observed: Observed,
    weight: Floats | None,
    intercept: float,
    slopes: Floats,
    scale: float,
    *,
    fit_intercept: bool,
    fixed_scale: bool,
) -> Likelihood:
    """Return the inverse of the observed information, −∂²ℓ/∂(β, log σ)², and the log-likelihood.

    A row known by bounds contributes ℓ = log(Φ(u) − Φ(l)) with z-values l and u. With a = φ(l)/D, b = φ(u)/D,
    g = b − a and h = u b − l a: ℓ_μμ = −(h + g²)/σ², ℓ_μs = (g − (u² b − l² a) − g h)/σ, and ℓ_ss =
    h − (u³ b − l³ a) − h², where s = log σ. Columns that depend on others have no variance of their own: NaN.
    """
    weights = np.ones(len(X)) if weight is None else weight
    location = intercept + X @ slopes
    loss = interval_tobit_loss(observed.lower, observed.upper, location, scale)
    by_row = _second_derivatives(observed, location, scale, loss)
    design = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    both = -(weights * by_row[1]) @ design
    information = np.empty((design.shape[1] + 1,) * 2)
    information[:-1, :-1] = -(design.T * (weights * by_row[0])) @ design
    information[-1, :-1] = information[:-1, -1] = both
    information[-1, -1] = -(weights * by_row[2]).sum()
    if fixed_scale:
        information = information[:-1, :-1]
    direction = observed.direction
    return Likelihood(
        _inverse(information),
        -float(weights @ loss),
        len(X),
        *(int((direction == code).sum()) for code in (0, 1, -1, 2)),
    )


def _second_derivatives(
    observed: Observed, location: Floats, scale: float, loss: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return ℓ_μμ, ℓ_μs and ℓ_ss of every row."""
    z = (observed.observed - location) / scale

    def end(bound: Floats) -> tuple[Floats, Floats]:
        open_ = np.isinf(bound)
        score = np.where(open_, 0.0, (np.where(open_, 0.0, bound) - location) / scale)
        density = np.where(open_, 0.0, np.exp(loss - 0.5 * score * score) / np.sqrt(2 * np.pi))
        return score, density

    (low, a), (high, b) = end(observed.lower), end(observed.upper)
    g, h = b - a, high * b - low * a
    exact = ~observed.censored
    mm = np.where(exact, -1.0, -(h + g * g)) / scale**2
    ms = np.where(exact, -2 * z, g - (high**2 * b - low**2 * a) - g * h) / scale
    ss = np.where(exact, -2 * z * z, h - (high**3 * b - low**3 * a) - h * h)
    return mm, ms, ss


def _inverse(information: Floats) -> Floats:
    """Return the inverse; NaN for parameters that the data do not determine."""
    size = np.sqrt(np.abs(np.diag(information)))
    alive = size > 0
    inverse = np.full(information.shape, np.nan)
    scaled = information[np.ix_(alive, alive)] / np.outer(size[alive], size[alive])
    values, vectors = np.linalg.eigh(scaled)
    flat = values < 1e-12 * values.max()
    if flat.any():  # a parameter that takes part in a flat direction has no variance
        lost = (np.square(vectors[:, flat]).sum(axis=1)) > 1e-12
        alive[np.flatnonzero(alive)[lost]] = False
        if not alive.any():
            return inverse
        scaled = scaled[np.ix_(~lost, ~lost)]
    inverse[np.ix_(alive, alive)] = np.linalg.inv(scaled) / np.outer(size[alive], size[alive])
    return inverse
