"""The newsvendor: the critical level from costs, and the stock at that level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.planning._arrays import Floats, Ints, amounts, counts_for


def newsvendor_level(cost_lost: float, cost_idle: float) -> float:
    """Return the level of the demand distribution up to which holding stock costs least.

    For demand D over the window, stock s costs c_lost · E(D − s)⁺ + c_idle · E(s − D)⁺. The cost is least at
    the smallest s with

        P(D ≤ s) ≥ c_lost / (c_lost + c_idle).

    Examples
    --------
    >>> newsvendor_level(cost_lost=3.0, cost_idle=1.0)
    0.75
    """
    for name, value in (("cost_lost", cost_lost), ("cost_idle", cost_idle)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite amount that is not negative, got {value!r}")
    if cost_lost + cost_idle == 0:
        raise ValueError("cost_lost and cost_idle must not both be 0: every stock would cost the same")
    return float(cost_lost / (cost_lost + cost_idle))


@dataclass(frozen=True)
class StockTarget:
    """A stock for every place (or place and window), and whether the data identify it.

    Attributes
    ----------
    stock : array of int
        The target. If it is not identified, a lower bound: hold *at least* this many.
    identified : array of bool
        False where the data are too censored to know the quantile.
    level : float
        The requested level of the demand distribution.
    """

    stock: Ints
    identified: NDArray[np.bool_]
    level: float


def stock_target(
    quantiles: ArrayLike, levels: ArrayLike, level: float, *, capacity: ArrayLike | None = None
) -> StockTarget:
    """Return the newsvendor's stock from quantiles of demand over the window.

    stock = ⌈q(level)⌉, at most ``capacity``, with q linear between the given levels. If a needed quantile is
    infinite (not identified), the last finite one below it is a lower bound and ``identified`` is False,
    unless the bound already fills the place.

    Parameters
    ----------
    quantiles : array (…, K)
        Quantiles of latent demand in increasing order of level; ``inf`` where not identified.
    levels : array (K,)
    level : float
        Between the first and the last of ``levels``; nothing is extrapolated.
    capacity : array (…), optional
        Docks, an upper limit on the stock.

    Examples
    --------
    >>> found = stock_target([[2.0, 4.0, 9.5], [2.0, 4.0, np.inf]], [0.5, 0.75, 0.9], 0.9)
    >>> found.stock, found.identified
    (array([10,  4]), array([ True, False]))
    """
    q, at = amounts(quantiles, "quantiles", infinite=True), amounts(levels, "levels")
    if at.ndim != 1 or q.ndim < 1 or q.shape[-1] != len(at):
        raise ValueError(f"quantiles must have one column per level, got {q.shape} and {at.shape} levels")
    if (np.diff(at) <= 0).any() or at[-1] >= 1 or at[0] <= 0:
        raise ValueError("levels must rise strictly and lie between 0 and 1")
    with np.errstate(invalid="ignore"):  # inf − inf
        if (np.diff(q, axis=-1) < 0).any():
            raise ValueError("quantiles must not fall from one level to the next: sort them first")
    if not at[0] <= level <= at[-1]:
        raise ValueError(
            f"level {level:g} lies outside levels ({at[0]:g} to {at[-1]:g}): change the costs, or fit this "
            "level"
        )
    below = int(np.searchsorted(at, level, side="right")) - 1
    above = min(below + (at[below] < level), len(at) - 1)
    share = 0.0 if above == below else (level - at[below]) / (at[above] - at[below])
    identified = np.isfinite(q[..., above])
    finite: Floats = np.where(np.isfinite(q), q, 0.0)
    known = finite[..., below] + share * (finite[..., above] - finite[..., below])
    bound = finite[..., : below + 1].max(axis=-1)
    # A quantile that is whole up to rounding needs itself, not one more.
    stock = np.ceil(np.where(identified, known, bound) - 1e-9).astype(np.int64)
    if capacity is not None:
        docks = counts_for(capacity, stock.shape, "capacity")
        identified = identified | (stock >= docks)
        stock = np.minimum(stock, docks)
    return StockTarget(stock, identified, float(level))
