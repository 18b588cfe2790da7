"""Ways to censor latent values, for experiments in which the truth is known."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.censoring._observe import observe
from unmet.censoring._observed import Observed, Side


def fixed_threshold(latent: ArrayLike, threshold: ArrayLike, side: Side = "right") -> Observed:
    """Cut latent values at a known threshold: min(latent, threshold) for the right side, max(…) for the left.

    The threshold is a number, or one per row.

    Examples
    --------
    >>> seen = fixed_threshold([-1.0, 2.0], 0.0, side="left")
    >>> seen.observed.tolist(), seen.censored.tolist()
    ([0.0, 2.0], [True, False])
    """
    values = observe(latent, side=side).observed
    limits = np.asarray(threshold, dtype=np.float64)
    if np.isnan(limits).any():
        raise ValueError("threshold has NaN: use +inf (right) or -inf (left) for a row without a threshold")
    if limits.shape not in ((), values.shape):
        raise ValueError(
            f"threshold must be a number or one per row ({values.size}), got shape {limits.shape}"
        )
    if (limits == (-np.inf if side == "right" else np.inf)).any():
        raise ValueError(
            f"threshold {'-inf' if side == 'right' else '+inf'} would hide every value when side={side!r}"
        )
    cut = np.minimum(values, limits) if side == "right" else np.maximum(values, limits)
    return observe(cut, threshold=limits, side=side)


def supply_cap(latent: ArrayLike, supply: ArrayLike) -> Observed:
    """Serve demand from a stock: min(latent, supply), right-censored, with supply as the known threshold."""
    stock = np.asarray(supply, dtype=np.float64)
    if (stock < 0).any():
        raise ValueError("supply must not be negative")
    return fixed_threshold(latent, stock)


def partial(latent: ArrayLike, gamma: float, c1: float, c2: float, rng: np.random.Generator) -> Observed:
    """Censor as the paper does for bike demand: scale a random share γ of the rows by 1 − δ, δ ~ U[c1, c2].

    Picks round(γ n) rows without replacement and flags them; their thresholds are unknown. Because the rows
    are random, dropping the flagged ones is consistent, so that is the model to beat on such data.

    Parameters
    ----------
    latent
        Values of at least 0: scaling a negative value down would not give a lower bound.
    gamma
        Share of censored rows, in [0, 1].
    c1, c2
        Range of the lost share, 0 ≤ c1 ≤ c2 ≤ 1.
    rng
        Draws the rows first, then δ in the order of the rows.
    """
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma must lie in [0, 1], got {gamma}")
    if not 0 <= c1 <= c2 <= 1:
        raise ValueError(f"c1 and c2 must satisfy 0 <= c1 <= c2 <= 1, got {c1} and {c2}")
    values = observe(latent).observed
    if (values < 0).any():
        raise ValueError("latent must not be negative in this scheme: scaled values would not be bounds")
    flags = np.zeros(values.size, dtype=bool)
    flags[rng.choice(values.size, size=round(gamma * values.size), replace=False)] = True
    lost = rng.uniform(c1, c2, size=int(flags.sum()))
    seen = values.copy()
    seen[flags] *= 1 - lost
    return observe(seen, censored=flags)
