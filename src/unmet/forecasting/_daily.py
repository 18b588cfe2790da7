"""Daily sums: their distribution from the shocks of the hours, with their own calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calibration import LevelMap, fit_level_map, randomised_pit
from unmet.forecasting._counts import count_quantiles, count_step
from unmet.forecasting._shocks import Shocks

Floats = NDArray[np.float64]


def sum_over_days(
    mean: Floats, shape: Floats, shocks: Shocks, per_day: int, common: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Return mean and shape (P, days) of a negative binomial with the moments of each daily sum.

    With shocks of mean 1 in units of each hour's mean, covariance ρ^(k−h) v_h for h ≤ k:
    Var Σ N = g Σ μ_h + Σ_h Σ_k μ_h μ_k (ρ^|k−h| v_min(h,k) + c), v = 1/shape − (g−1)/μ − c, where g are the
    groups and c (`common`, one number or one per period) is the variance of the level that all hours of a day
    share.
    """
    days = mean.shape[1] // per_day
    m = mean[:, : days * per_day].reshape(len(mean), days, per_day)
    shared = np.broadcast_to(common, mean.shape[1])[: days * per_day].reshape(days, per_day)
    more = shocks.groups - 1
    of_groups = more / np.maximum(m, 1e-9)
    v = np.maximum(1 / shape[:, : days * per_day].reshape(m.shape) - shared - of_groups, 0.0)
    hours = np.arange(per_day)
    tie = np.power(shocks.persistence, np.abs(hours[:, None] - hours))
    first = np.triu(tie, 1)  # pairs h < k, with the variance of the earlier
    both = np.einsum("pdh,hk,pdk->pd", m * v, first, m, optimize=True)
    extra = (m * m * v).sum(axis=-1) + 2 * both
    total = m.sum(axis=-1)
    extra = extra + total * total * shared.mean(axis=-1) + more * total
    return total, total * total / np.maximum(extra, 1e-12 * total * total + 1e-300)


def calibrate_days(
    demand: Floats,
    known: NDArray[np.bool_],
    mean: Floats,
    shape: Floats,
    levels: tuple[float, ...],
    seed: int,
) -> tuple[LevelMap, dict[str, Any], Floats]:
    """Return the level map of daily sums, its coverage, and quantiles (P · days, K) from the other weeks.

    Parameters
    ----------
    demand : daily sums of demand, shape (P, days), in which a draw completes each censored hour. Almost every
        day has such an hour, so nearly all sums of pickups would be bounds.
    known : days of which every hour is known, shape (P, days). The others say nothing.
    mean, shape : of the forecast.
    """
    below, mass = (part.reshape(-1) for part in count_step(demand, mean, shape))
    uniform = np.random.default_rng([seed, 37]).uniform(size=below.shape)
    none = np.zeros(below.shape, bool)
    pit, rate = randomised_pit(below, mass, uniform, none), mean.reshape(-1)
    week = np.tile(np.arange(demand.shape[1]) // 7, len(demand))
    use = known.reshape(-1)
    found = fit_level_map(rate[use], pit[use], none[use], levels)
    edges = [band.low for band in found.bands[1:]]
    used = found.levels(rate)
    if week.max() > 0:
        for one in range(week.max() + 1):
            rows = (week != one) & use
            taught = fit_level_map(rate[rows], pit[rows], none[rows], levels, edges=edges)
            used[week == one] = taught.levels(rate[week == one])
    inside = (pit > used[:, 0]) & (pit <= used[:, -1])
    quantiles = count_quantiles(used, mean.reshape(-1), shape.reshape(-1))
    whole = demand.reshape(-1)
    plain = (whole >= np.floor(quantiles[:, 0])) & (whole <= np.floor(quantiles[:, -1]))
    account = {
        "bands": found.as_dicts(),
        "coverage": {
            "plain": _share(plain[use]),
            "randomised": _share(inside[use]),
            "lower_tail": _share((pit <= used[:, 0])[use]),
            "upper_tail": _share((pit > used[:, -1])[use]),
            "weeks": [_share(inside[(week == one) & use]) for one in range(week.max() + 1)],
            "nominal": 0.9,
        },
        "on": "demand completed from exposure",
    }
    return found, account, quantiles


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None
