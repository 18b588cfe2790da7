"""Compare models on the same out-of-sample rows, without the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calibration import kaplan_meier, randomised_pit
from unmet.forecasting._grid import Grid
from unmet.losses import censored_tilted_loss

Floats = NDArray[np.float64]
STARVED = 0.25


def measure(
    name: str, grid: Grid, first: int, counts: Floats, uniform: Floats, quantiles: Floats, levels: Floats
) -> dict[str, Any]:
    """Return the tilted loss of min(demand + U, threshold) and the coverage of the 90% interval.

    Without spill, min(y, threshold) = min(demand, threshold) in every row. So this loss, ρ_θ(min(y + U, cap)
    − min(q, cap)), prefers the model that is right about demand. If thresholds are unknown, flagged rows are
    bounds.
    """
    part = slice(first, None)
    cap = grid.threshold[:, part].reshape(-1)
    flags, known = grid.censored[:, part].reshape(-1), grid.known[:, part].reshape(-1)
    seen = (counts + uniform).reshape(-1)
    cap = np.where(np.isfinite(cap), cap, np.where(flags, counts.reshape(-1), np.inf))
    finite = np.minimum(cap, 1e9)
    loss = censored_tilted_loss(
        np.minimum(seen, finite)[:, None],
        np.minimum(quantiles, 1e9),
        levels,
        np.broadcast_to(finite[:, None], quantiles.shape),
        side="right",
    ).mean(axis=1)
    starved = (1 - grid.exposure.sum(axis=1) / np.maximum(grid.known.sum(axis=1), 1)) > STARVED
    rows = np.repeat(starved, uniform.shape[1]) & known
    return {
        "model": name,
        "pinball": float(loss[known].mean()),
        "pinball_starved_places": float(loss[rows].mean()) if rows.any() else None,
        "chosen": False,
    }


def raw_coverage(below: Floats, mass: Floats, uniform: Floats, flags: NDArray[np.bool_]) -> float:
    """Return the randomised coverage of the central 90%, by Kaplan–Meier."""
    found = kaplan_meier(randomised_pit(below, mass, uniform, flags), flags)
    return found(0.95) - found(0.05)


def seasonal_naive(grid: Grid, first: int, uniform: Floats, levels: Floats, weeks: int = 8) -> Floats:
    """Return quantiles of count + U of the same hour in the last weeks, rows by place."""
    week = grid.per_week
    values = grid.y + np.random.default_rng(0).uniform(size=grid.y.shape)
    mean = (grid.y.sum(axis=1) / np.maximum(grid.known.sum(axis=1), 1))[:, None]
    values = np.where(grid.known, values, mean)  # unknown hours count as the mean of their place
    periods = np.arange(first, len(grid.ds))
    past = [values[:, periods - k * week] for k in range(1, weeks + 1) if first - k * week >= 0]
    if not past:
        raise ValueError("first must leave a week before it for seasonal_naive")
    found = np.quantile(np.stack(past), levels, axis=0)
    return np.moveaxis(found, 0, -1).reshape(-1, len(levels))
