"""Calibrate hourly forecasts on the backtest, and measure their coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.calibration import (
    LevelMap,
    censored_coverage,
    fit_level_map,
    kaplan_meier,
    nominal_levels,
    randomised_pit,
)
from unmet.forecasting._backtest import Backtest
from unmet.forecasting._grid import Grid

Floats = NDArray[np.float64]
WARN_ABOVE = 0.02
_ENDS = (0.05, 0.95)


@dataclass(frozen=True)
class Calibrated:
    """The level map for forecasts, levels used in the backtest (n, K), values V, flags and report."""

    map: LevelMap
    used: Floats
    pit: Floats
    censored: NDArray[np.bool_]
    account: dict[str, Any]


def calibrate(grid: Grid, test: Backtest, network: str | None, levels: tuple[float, ...]) -> Calibrated:
    """Learn the level of the forecast to use for each nominal level, and report the coverage.

    The map for forecasts uses the whole backtest. Levels inside the backtest are learned from the other
    weeks, so the reported coverage is not fitted to the rows it is measured on.
    """
    part = slice(test.first, None)
    flags, known = grid.censored[:, part].reshape(-1), grid.known[:, part].reshape(-1)
    below, mass = test.step(network)
    uniform, rate = test.uniform.reshape(-1), test.mean.reshape(-1)
    pit = randomised_pit(below, mass, uniform, flags)
    periods = test.mean.shape[1]
    week = np.tile(np.arange(periods) // (7 * grid.per_day), len(grid.places))
    found = fit_level_map(rate[known], pit[known], flags[known], levels)
    used = found.levels(rate)
    edges = [band.low for band in found.bands[1:]]
    if week.max() > 0:
        for one in range(week.max() + 1):
            others = known & (week != one)
            taught = fit_level_map(rate[others], pit[others], flags[others], levels, edges=edges)
            used[week == one] = taught.levels(rate[week == one])

    low = nominal_levels(levels, used, below)
    step = nominal_levels(levels, used, below + mass) - low
    # An interval without an upper end holds everything, so its coverage says nothing.
    ended = np.isfinite(used[:, [levels.index(end) for end in _ENDS]]).all(axis=1)

    def coverage(rows: NDArray[np.bool_]) -> dict[str, float | None]:
        rows = rows & ended
        if not rows.any():
            return dict.fromkeys(("plain", "randomised", "lower_tail", "upper_tail"))
        both = censored_coverage(low[rows], step[rows], flags[rows], uniform[rows], _ENDS)
        return {
            "plain": _number(both["plain"].inside),
            "randomised": _number(both["randomised"].inside),
            "lower_tail": _number(both["randomised"].lower_tail),
            "upper_tail": _number(both["randomised"].upper_tail),
        }

    exact = known & ~flags & ended
    value = low + uniform * step
    band = found.band(rate)
    account = {
        "bands": found.as_dicts(),
        "coverage": {
            **coverage(known),
            "levels": _by_level(
                levels, used[known], randomised_pit(low, step, uniform, flags)[known], flags[known]
            ),
            "nominal": 0.9,
            "weeks": [coverage(known & (week == one))["randomised"] for one in range(week.max() + 1)],
            "bands": [coverage(known & (band == one))["randomised"] for one in range(len(found.bands))],
            "uncensored_rows": (
                float(((value > _ENDS[0]) & (value <= _ENDS[1]))[exact].mean()) if exact.any() else None
            ),
            "rows": int(known.sum()),
            "censored_rows": int((flags & known).sum()),
        },
        "assumption": assumption(grid, test, network, found),
    }
    return Calibrated(found, used, pit, flags, account)


def _by_level(
    levels: tuple[float, ...], used: Floats, values: Floats, flags: NDArray[np.bool_]
) -> list[dict[str, float | None]]:
    """Return how often demand was at or below each calibrated quantile, by Kaplan–Meier; None if unknown.

    Each level counts only rows whose quantile is identified (`used` is finite).
    """
    rows: list[dict[str, float | None]] = []
    for k, level in enumerate(levels):
        there = np.isfinite(used[:, k])
        after = None
        if there.any():
            found = kaplan_meier(values[there], flags[there])
            after = float(found(level)) if found.supported(level) > 0 else None
        rows.append({"nominal": level, "after": after})
    return rows


def assumption(grid: Grid, test: Backtest, network: str | None, found: LevelMap) -> dict[str, Any]:
    """Compare the map with one learned from min(y, threshold), which needs no independence from demand.

    The difference is the largest over levels of |Σ_bands share · (Ĥ_threshold(level used) − nominal)|, over
    bands where both are identified.
    """
    cap = grid.threshold[:, test.first :]
    usable = np.isfinite(cap) & grid.known[:, test.first :]
    if not usable.any():
        return {"difference": None, "warn": False, "why": "thresholds are not known (hubs)"}
    cut = test.counts >= np.where(usable, cap, 0.0)
    below, mass = test.step(network, np.minimum(test.counts, np.where(usable, cap, 0.0)))
    flags = cut.reshape(-1)
    pit = randomised_pit(below, mass, test.uniform.reshape(-1), flags)
    rate, rows = test.mean.reshape(-1), usable.reshape(-1)
    band = found.band(rate)
    gaps: list[list[float]] = [[] for _ in found.nominal]
    weights: list[list[int]] = [[] for _ in found.nominal]
    for number, one in enumerate(found.bands):
        here = rows & (band == number)
        if not here.any():
            continue
        other = kaplan_meier(pit[here], flags[here])
        for k, (nominal, level) in enumerate(zip(found.nominal, one.level)):
            if np.isfinite(level) and other.supported(level) >= 50:
                gaps[k].append(other(level) - nominal)
                weights[k].append(int(here.sum()))
    by_level = [float(np.average(gap, weights=weight)) if gap else None for gap, weight in zip(gaps, weights)]
    sizes = [abs(gap) for gap in by_level if gap is not None]
    difference = max(sizes) if sizes else None
    return {
        "difference": difference,
        "by_level": by_level,
        "warn": bool(difference is not None and difference > WARN_ABOVE),
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
