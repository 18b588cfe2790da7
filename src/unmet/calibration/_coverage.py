"""Coverage of central intervals, from censored probability-integral values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.calibration._pit import randomised_pit
from unmet.censoring import kaplan_meier

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """Share of demand inside an interval and beyond each end. NaN where censoring hides it."""

    inside: float
    lower_tail: float
    upper_tail: float


def nominal_levels(levels: ArrayLike, used: ArrayLike, values: ArrayLike) -> Floats:
    """Return probability-integral values after calibration: nominal levels, linear between `levels`.

    Parameters
    ----------
    levels
        Nominal levels (K,).
    used
        Levels of the raw forecast used for them, shape (n, K); inf where not identified.
    values
        Raw values, shape (n,). Values beyond the last identified level are spread between its nominal level
        and 1.

    Examples
    --------
    >>> nominal_levels([0.5], [[0.6]], [0.3]).tolist()
    [0.25]
    """
    nominal, table = np.asarray(levels, np.float64), np.asarray(used, np.float64)
    pits = np.asarray(values, np.float64)
    out = np.zeros(len(pits))
    low, at = np.zeros(len(pits)), np.zeros(len(pits))
    for index in range(len(nominal) + 1):
        last = index == len(nominal)
        high = np.ones(len(pits)) if last else np.where(np.isfinite(table[:, index]), table[:, index], 1.0)
        top = np.where(last | (high >= 1.0), 1.0, nominal[min(index, len(nominal) - 1)])
        inside = (pits >= low) & (pits <= high)
        share = (pits - low) / np.maximum(high - low, 1e-12)
        out = np.where(inside, at + np.clip(share, 0, 1) * (top - at), out)
        low, at = high, top
    return out


def censored_coverage(
    below: ArrayLike, mass: ArrayLike, censored: ArrayLike, uniform: ArrayLike, ends: ArrayLike
) -> dict[str, Coverage]:
    """Return the coverage of demand by an interval between two levels, randomised and plain.

    Parameters
    ----------
    below, mass, censored
        F(y−1), f(y) and flag of each row, where F is the calibrated forecast.
    uniform
        Draws for the randomised measure.
    ends
        The two levels, such as (0.05, 0.95).

    Notes
    -----
    Randomised: P(low < V ≤ high), V = F(y−1) + U·f(y). Plain: counts below ⌊lower⌋ or above ⌊upper⌋ are
    outside: y > ⌊upper⌋ means F(y−1) ≥ high, and y < ⌊lower⌋ means F(y) ≤ low. Both use Kaplan–Meier.
    """
    low, high = (float(end) for end in np.asarray(ends))
    flags = np.asarray(censored)

    def shares(at_low: ArrayLike, at_high: ArrayLike) -> Coverage:
        first = kaplan_meier(randomised_pit(below, mass, at_low, flags), flags)
        second = kaplan_meier(randomised_pit(below, mass, at_high, flags), flags)
        known = second.supported(high) > 0
        upper = 1.0 - second(high) if known else float("nan")
        lower = first(low)
        return Coverage(1.0 - lower - upper, lower, upper)

    return {"randomised": shares(uniform, uniform), "plain": shares(np.float64(1), np.float64(0))}
