"""Whether to take logarithms first: a normal law of y against one of log(y), both with censoring."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from unmet.censoring import Observed

Floats = NDArray[np.float64]
# Gain in log likelihood from which it matters, per row that is not open, and in standard errors.
# A gamma law of shape 3 gains 0.09, an exponential law 0.33.
_LEAST_GAIN, _LEAST_ERRORS = 0.1, 2.0
_MOST_ROUNDS, _SMALL = 200, 1e-6
# More columns than this share of the rows would fit anything.
_MOST_COLUMNS = 0.2


def wants_logarithm(X: Floats, observed: Observed) -> bool:
    """Return whether y is positive and log(y) is clearly closer to a linear normal law.

    Both laws have as many parameters, so their likelihoods can be compared. Censored rows count by the
    chance of their bounds: unlike the skewness of what was seen, this does not depend on where y is cut off.
    """
    low, high = observed.lower, observed.upper
    if not (high > 0).all() or not (low[np.isfinite(low)] > 0).all():
        return False
    if X.shape[1] > _MOST_COLUMNS * len(X):
        X = X[:, :0]
    exact, closed = low == high, np.isfinite(low) & np.isfinite(high)
    if closed.sum() < 2 or np.ptp(observed.observed[closed]) == 0:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        log_low, log_high = np.log(np.maximum(low, 0.0)), np.log(high)
    gain = _likelihoods(X, log_low, log_high) - _likelihoods(X, low, high)
    gain[exact] -= log_low[exact]  # the density of y from that of log(y)
    error = gain.std(ddof=1) * np.sqrt(len(gain))
    return bool(gain.sum() >= max(_LEAST_GAIN * closed.sum(), _LEAST_ERRORS * error))


def logarithm_words(told: Collection[str]) -> str:
    """Return what to take the logarithm of, by what was told of the target.

    >>> logarithm_words({"y", "threshold"})
    'log(y) and the log of its limits'
    """
    if "lower" in told:
        return "the log of both bounds"
    return "log(y) and the log of its limits" if "threshold" in told else "log(y)"


def logarithm_hint(told: Collection[str], kind: str) -> str:
    """Return the hint to take logarithms, and what of two such comparisons may be compared."""
    # Chances of bounds and of fixed parts of the axis do not change with its units, unlike densities.
    compared = (
        "Its losses are log scores too: compare them with these"
        if kind == "intervals"
        else "Its losses are in other units: compare it with this run by log score, cover and D-cal instead"
    )
    return (
        "Hint: y is positive, and log(y) is much closer to a normal distribution. Try "
        f"{logarithm_words(told)}. {compared}."
    )


def _likelihoods(X: Floats, low: Floats, high: Floats) -> Floats:
    """Return the log likelihood of each row under the best normal law around a line, by EM."""
    spread = X.std(axis=0)
    basis = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)])
    solve = np.linalg.pinv(basis)
    exact = low == high
    known = np.where(exact, low, np.where(np.isfinite(low), low, high))
    both = ~exact & np.isfinite(low) & np.isfinite(high)
    known[both] = (low[both] + high[both]) / 2
    mean, scale = basis @ (solve @ known), float(known.std())
    for _ in range(_MOST_ROUNDS):
        value, more = _moments(known, low, high, exact, mean, scale)
        fitted = basis @ (solve @ value)
        found = max(float(np.sqrt(((value - fitted) ** 2 + more).mean())), np.finfo(float).tiny)
        moved = max(float(np.abs(fitted - mean).max()), abs(found - scale))
        mean, scale = fitted, found
        if moved < _SMALL * scale:
            break
    below, above = (low - mean) / scale, (high - mean) / scale
    return np.where(
        exact,
        -0.5 * np.where(exact, below, 0.0) ** 2 - np.log(scale * np.sqrt(2 * np.pi)),
        _log_chance(below, above),
    )


def _moments(
    known: Floats, low: Floats, high: Floats, exact: NDArray[np.bool_], mean: Floats, scale: float
) -> tuple[Floats, Floats]:
    """Return the expected value of each row and its variance, given its bounds."""
    value, more = known.copy(), np.zeros(len(known))
    rows = ~exact
    if not rows.any():
        return value, more
    below, above = (low[rows] - mean[rows]) / scale, (high[rows] - mean[rows]) / scale
    chance = _log_chance(below, above)
    at_low, at_high = np.exp(_log_density(below) - chance), np.exp(_log_density(above) - chance)
    shift = at_low - at_high
    weighted = (
        np.where(np.isfinite(below), below, 0.0) * at_low - np.where(np.isfinite(above), above, 0.0) * at_high
    )
    value[rows] = mean[rows] + scale * shift
    more[rows] = scale**2 * np.clip(1 + weighted - shift**2, 0.0, 1.0)
    return value, more


def _log_density(at: Floats) -> Floats:
    return -0.5 * at**2 - 0.5 * np.log(2 * np.pi)


def _log_chance(below: Floats, above: Floats) -> Floats:
    """Return the log of the chance that a standard normal value lies between two numbers."""
    mirrored = below > 0  # where the upper tail would be a difference of two numbers close to one
    low, high = np.where(mirrored, -above, below), np.where(mirrored, -below, above)
    top, bottom = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top + np.log1p(-np.exp(np.minimum(bottom - top, -1e-12))))
