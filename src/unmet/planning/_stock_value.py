"""The value of stock: expected lost rides by starting stock, and how many vehicles are worth their cost."""

import numpy as np
from numpy.typing import ArrayLike

from unmet.planning._arrays import Floats, Ints, amounts, counts_for, curves_of, docks_of, stretched
from unmet.planning._newsvendor import newsvendor_level
from unmet.planning._stock_process import vehicle_values


def expected_lost(
    rate: ArrayLike,
    shape: ArrayLike = np.inf,
    returns_rate: ArrayLike = 0.0,
    stock: ArrayLike | None = None,
    *,
    capacity: ArrayLike,
    nodes: int | None = None,
) -> Floats:
    """Return expected lost rides over a window for every starting stock.

    Requests of period h are negative binomial with mean λₕ and shape rₕ, spread evenly over the period: a
    Poisson process whose rate has a new Gamma(rₕ, 1/rₕ) factor each period. Returns are a Poisson process
    with mean μₕ. A request at an empty place is lost; a return at a full place goes elsewhere. The
    distribution of the stock is exact (uniformised birth–death process, truncated at 1e-11 per step), except
    that Gauss points replace the gamma factor. Without returns and with Poisson demand of total mean Λ, the
    result is E(D − s)⁺ for D ~ Poisson(Λ).

    Parameters
    ----------
    rate : array (H,) or (P, H)
        Mean requests in each period of the window.
    shape : number or array that fits ``rate``
        r of the negative binomial, Var = λ + λ²/r; ``inf`` for Poisson. One per place: ``r[:, None]``.
    returns_rate : number or array that fits ``rate``
        Mean returns in each period.
    stock : int or array of int (P,), optional
        Starting stock; by default all from 0 to the largest capacity.
    capacity : int or array of int (P,)
        Docks.
    nodes : int, optional
        Gauss points for the gamma factor of each period; by default 3 to 40, enough for an error near 0.001
        rides.

    Returns
    -------
    array (C + 1,) or (P, C + 1)
        With ``stock``, one number per place. C is the largest capacity; a curve is flat beyond its place's
        own capacity. Each curve is convex and falls by at most one ride per vehicle.

    Examples
    --------
    >>> expected_lost([1.0], capacity=2).round(4)  # E(D − s)⁺ for D ~ Poisson(1)
    array([1.    , 0.3679, 0.1036])
    """
    means = amounts(rate, "rate")
    if means.ndim not in (1, 2) or 0 in means.shape:
        raise ValueError(f"rate must have the shape (periods,) or (places, periods), got {means.shape}")
    table = np.atleast_2d(means)
    places = len(table)
    dispersion = stretched(amounts(shape, "shape", infinite=True), table.shape, "shape")
    if (dispersion == 0).any():
        raise ValueError("shape must be positive: use inf for Poisson demand")
    back = stretched(amounts(returns_rate, "returns_rate"), table.shape, "returns_rate")
    docks = counts_for(capacity, (places,), "capacity")
    if nodes is not None and (type(nodes) is not int or not 1 <= nodes <= 64):
        raise ValueError(f"nodes must be a whole number from 1 to 64, got {nodes!r}")
    values, full = vehicle_values(table, dispersion, back, docks, nodes)
    # Removes rounding of about 1e-16 where nothing is lost or saved.
    values, full = np.maximum(values, 0.0), np.maximum(full, 0.0)
    curves = np.empty((places, values.shape[1] + 1))
    curves[:, -1] = full
    # Start at the full place, so that only positive numbers are added.
    curves[:, :-1] = full[:, None] + np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    if stock is not None:
        start = counts_for(stock, (places,), "stock")
        if (start > docks).any():
            raise ValueError("stock must not exceed capacity")
        curves = curves[np.arange(places), start]
    return curves[0] if means.ndim == 1 else curves


def value_of_vehicles(curves: ArrayLike) -> Floats:
    """Return the rides that each added vehicle saves, V(s) − V(s + 1), shape (P, C), never rising in s."""
    value = -np.diff(curves_of(curves), axis=1)
    # Differences of the sums carry rounding of about 1e-16 per ride. The exact worth never rises.
    return np.minimum.accumulate(np.clip(value, 0.0, None), axis=1)


def best_stock(
    curves: ArrayLike, *, cost_lost: float, cost_idle: float, capacity: ArrayLike | None = None
) -> Ints:
    """Return the stock at which one more vehicle costs more than it saves.

    A vehicle is idle if everybody it serves would be served without it. The cost of stock s,

        c_lost · V(s) + c_idle · (s − (V(0) − V(s))),

    is least at the number of vehicles whose worth V(s − 1) − V(s) exceeds c_idle / (c_lost + c_idle). Without
    returns the worth is P(D ≥ s) and this is the newsvendor's stock: the smallest s with P(D ≤ s) ≥ level.

    Examples
    --------
    >>> best_stock([expected_lost([4.0], capacity=20)], cost_lost=3.0, cost_idle=1.0)  # q(0.75) of Poisson(4)
    array([5])
    """
    level = newsvendor_level(cost_lost, cost_idle)
    worth = value_of_vehicles(curves)
    docks = docks_of(capacity, len(worth), worth.shape[1] + 1)
    return np.minimum((worth > 1.0 - level).sum(axis=1), docks)


def balanced_returns(rate: ArrayLike, usual_returns: ArrayLike, served: float = 1.0) -> Floats:
    """Return returns that match the rates: vehicles that leave come back where they usually do.

        returns(j, h) = usual(j, h) / Σ usual(·, h) · Σ rate(·, h) · served

    Returns that are a few percent too low look like that many lost rides, so their level must match the
    demand of the plan, not that of another season.

    Parameters
    ----------
    rate, usual_returns : array (P, H)
        Mean requests, and usual returns in these periods at any level.
    served : float
        Share of demand that is served, 0 to 1.
    """
    means, usual = amounts(rate, "rate"), amounts(usual_returns, "usual_returns")
    if means.ndim != 2 or means.shape != usual.shape:
        raise ValueError(f"rate and usual_returns must be (places, periods): {means.shape}, {usual.shape}")
    if not 0 <= served <= 1:
        raise ValueError(f"served must be a share from 0 to 1, got {served}")
    total = usual.sum(axis=0)
    # If nothing ever comes back in a period, all places get the same.
    share = np.where(total > 0, usual / np.where(total > 0, total, 1.0), 1.0 / len(usual))
    return share * means.sum(axis=0) * served
