"""Standard errors of linear Gaussian Tobit models, from the second derivatives of their likelihood."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.losses import interval_tobit_loss

Floats = NDArray[np.float64]


# An eigenvalue of the scaled information below this share of the largest counts as zero, and so does a
# component of a unit vector below its root.
_FLAT = 1e-12


@dataclass(frozen=True)
class Likelihood:
    """What the likelihood says at the fitted coefficients.

    Its second derivatives are those by intercept (if any), slopes and log σ (if it was estimated) in columns
    (X − center) / scale: a large offset would cost digits, and a column with one would seem constant.
    """

    center: Floats  # (columns,)
    scale: Floats  # (columns,)
    inverse: Floats  # of the information, generalised
    flat: Floats  # (parameters, directions): along these the likelihood stays the same
    intercept: bool
    log_likelihood: float
    rows: int
    exact: int
    right: int
    left: int
    between: int

    @property
    def covariance(self) -> Floats:
        """Covariance in the units of X; NaN for parameters that the data do not determine."""
        own = self.parameters()
        found = own @ self.inverse @ own.T
        lost = self._lost(own)
        found[lost] = found[:, lost] = np.nan
        return found

    def parameters(self) -> Floats:
        """Return the gradient of each parameter, in the units of X, by those in scaled columns."""
        first = int(self.intercept)
        slopes = slice(first, first + len(self.scale))
        own = np.eye(len(self.inverse))
        own[slopes, slopes] /= self.scale
        if first:
            own[0, slopes] = -self.center / self.scale
        return own

    def design(self, X: Floats) -> Floats:
        """Return the gradient of the location at each row, without the part of log σ."""
        return _design(X, self.center, self.scale, self.intercept)

    def errors(self, gradients: Floats) -> Floats:
        """Return √(g' V g) of each gradient by the parameters in scaled columns.

        A sum of parameters may be determined where its terms are not. NaN where it is not.
        """
        variance = np.einsum("ij,jk,ik->i", gradients, self.inverse, gradients)
        return np.sqrt(np.where(self._lost(gradients), np.nan, np.maximum(variance, 0.0)))

    def _lost(self, gradients: Floats) -> NDArray[np.bool_]:
        """Return which gradients have a part along a flat direction."""
        known, count = gradients.copy(), len(self.scale) + int(self.intercept)
        location = known[:, :count]
        location[np.abs(location) <= _FLAT * np.abs(location).max(axis=1, keepdims=True)] = 0.0  # rounding
        along, most = np.abs(known @ self.flat), np.abs(known) @ np.abs(self.flat)
        return (along > np.sqrt(_FLAT) * most).any(axis=1)

    def pack(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return plain data and arrays."""
        plain = asdict(self)
        arrays = {name: plain.pop(name) for name in ("center", "scale", "inverse", "flat")}
        return plain, {name: array for name, array in arrays.items() if array.size}


def read_likelihood(
    plain: dict[str, Any], arrays: dict[str, NDArray[Any]], columns: int, intercept: bool
) -> Likelihood:
    """Return what `Likelihood.pack` took apart, and take its arrays. Raise ValueError if they do not fit."""
    if "covariance" in arrays:  # an older file: in the units of X, with a mask of what is not determined
        inverse, lost = arrays.pop("covariance"), np.diag(arrays.pop("undetermined"))
        center, scale, flat = np.zeros(columns), np.ones(columns), np.eye(len(lost))[:, lost]
        plain = {**plain, "intercept": intercept}
    else:
        center, scale, inverse = (arrays.pop(name) for name in ("center", "scale", "inverse"))
        flat = arrays.pop("flat", np.empty((len(inverse), 0)))
    size = len(inverse)
    if (
        size - columns - plain["intercept"] not in (0, 1)
        or inverse.shape != (size, size)
        or flat.ndim != 2
        or len(flat) != size
        or not center.shape == scale.shape == (columns,)
    ):
        raise ValueError("the shape of the covariance does not match the parameters")
    return Likelihood(center, scale, inverse, flat, **plain)


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
    """Invert the observed information, −∂²ℓ/∂(β, log σ)², and return it with the log-likelihood.

    A row known by bounds contributes ℓ = log(Φ(u) − Φ(l)) with z-values l and u. With a = φ(l)/D, b = φ(u)/D,
    g = b − a and h = u b − l a: ℓ_μμ = −(h + g²)/σ², ℓ_μs = (g − (u² b − l² a) − g h)/σ, and ℓ_ss =
    h − (u³ b − l³ a) − h², where s = log σ. A column that depends on others has no variance of its own; the
    variances of parameters that it has no part in are those without it.
    """
    weights = np.ones(len(X)) if weight is None else weight
    location = intercept + X @ slopes
    loss = interval_tobit_loss(observed.lower, observed.upper, location, scale)
    by_row = _second_derivatives(observed, location, scale, loss)
    # The likelihood is concave in the location, up to rounding.
    curvature = np.maximum(-weights * by_row[0], 0.0)
    center, spread = _units(X, curvature, fit_intercept)
    design = _design(X, center, spread, fit_intercept)
    both = -(weights * by_row[1]) @ design
    information = np.empty((design.shape[1] + 1,) * 2)
    information[:-1, :-1] = (design.T * curvature) @ design
    information[-1, :-1] = information[:-1, -1] = both
    information[-1, -1] = -(weights * by_row[2]).sum()
    # What the intercept and a column of spread 1 have; a constant column has none.
    expected = np.append(np.full(design.shape[1], curvature.sum()), np.abs(information[-1, -1]))
    kept = slice(-1 if fixed_scale else None)
    direction = observed.direction
    return Likelihood(
        center,
        spread,
        *_inverse(information[kept, kept], np.sqrt(expected[kept])),
        fit_intercept,
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


def _units(X: Floats, curvature: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """Return center and scale of the columns where rows count by what they tell of the location."""
    told = curvature > 0
    if not told.any():
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    rows, share = X[told], curvature[told] / curvature[told].sum()
    center = share @ rows if intercept else np.zeros(X.shape[1])
    scale = np.sqrt(share @ np.square(rows - center))
    if intercept:
        constant = np.ptp(rows, axis=0) <= 1e-12 * np.abs(center)
        scale[constant] = np.abs(center[constant])
    return center, np.where(scale > 0, scale, 1.0)


def _design(X: Floats, center: Floats, scale: Floats, intercept: bool) -> Floats:
    scaled = (X - center) / scale
    return np.column_stack([np.ones(len(X)), scaled]) if intercept else scaled


def _inverse(information: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return a generalised inverse, and the directions in which the information is zero beside size²."""
    count = len(information)
    if not np.isfinite(information).all():
        return np.zeros((count, count)), np.eye(count)
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(size, size))
    zero = values <= _FLAT * max(values.max(), 0.0)
    kept, flat = vectors[:, ~zero] / size[:, None], vectors[:, zero]
    flat[np.square(flat).sum(axis=1) <= _FLAT] = 0.0  # rounding: these parameters take no part
    return (kept / values[~zero]) @ kept.T, np.ascontiguousarray(flat / size[:, None])
