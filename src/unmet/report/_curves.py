"""Series of every place, cut and summed until they fit the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmet.calendar import PlaceGrid, lay_out
from unmet.report._data import CurveData
from unmet.report._pack import pack, step_for
from unmet.tables import Columns

FINE_BUDGET = 1_200_000  # numbers; each takes two letters of the page
DETAILED = 300  # places with most lost rides whose forecasts by period are on the page
COARSE_BUDGET = 650_000
QUANTILES = ("q05", "q25", "q50", "q75", "q95")
_HISTORY_DAYS = (28, 14, 7, 5, 3, 2, 1)
_NORMAL_90 = 2 * 1.6448536  # width of a central 90% interval in standard deviations


def make_curves(
    lost: Columns,
    grid: PlaceGrid,
    backtest: Columns | None,
    forecast: Columns | None,
    zone: str,
    worst: Sequence[int] | None = None,
) -> CurveData:
    """Both kinds of series; see :class:`CurveData`.

    Of many places only the first of `worst` (numbers of the places, most lost rides first) have the fine one.
    """
    detailed = set(range(len(grid.ids)) if worst is None else worst[:DETAILED])
    coarse_clock, coarse_days, coarse, coarse_steps = _coarse(lost, grid)
    clock, history, fine, fine_steps = _fine(grid.ids, backtest, forecast, zone, detailed)
    return CurveData(
        clock=clock,
        history=history,
        coarse_clock=coarse_clock,
        coarse_days=coarse_days,
        fine=fine,
        coarse=coarse,
        fine_steps=fine_steps,
        coarse_steps=coarse_steps,
    )


def _coarse(lost: Columns, grid: PlaceGrid) -> tuple[list[int], int, list[dict[str, str]], list[float]]:
    """Sums by day, or by as many days as fit, with an interval that takes periods as independent."""
    days, starts = grid.days
    width = 1
    while len(grid.ids) * -(-len(days) // width) * 5 > COARSE_BUDGET and width < 28:
        width = 7 if width == 1 else width + 7
    starts, days = starts[::width], days[::width]

    def sums(name: str) -> np.ndarray:
        return np.add.reduceat(np.nan_to_num(grid.matrix(lost[name])), starts, axis=1)

    spread = (lost["demand_q95"] - lost["demand_q05"]) / _NORMAL_90
    open_ended = np.isinf(spread) | (lost["censored"].astype(bool) & ~lost["identified"].astype(bool))
    variance = grid.matrix(np.where(open_ended, 0.0, spread**2))
    deviation = np.sqrt(np.add.reduceat(np.nan_to_num(variance), starts, axis=1)) * _NORMAL_90 / 2
    unknown = np.add.reduceat(np.nan_to_num(grid.matrix(open_ended.astype(float))), starts, axis=1) > 0
    seen, demand, flags = sums("y"), sums("demand_mean"), sums("censored")
    # What was seen is a lower bound, unless riders who wanted to start next door are among them.
    low = np.maximum(np.minimum(seen, demand), demand - deviation)
    high = np.where(unknown, np.inf, demand + deviation)
    told = np.isfinite(grid.matrix(lost["exposure"].astype(float)))
    blank = np.where(np.add.reduceat(told, starts, axis=1), 0.0, np.nan)  # nothing is known: a gap
    found, steps = [], []
    for n in range(len(grid.ids)):
        step = step_for(float(np.max(np.where(unknown[n], demand[n], high[n]), initial=1.0)))
        steps.append(step)
        found.append(
            {
                "y": pack(seen[n] + blank[n], step),
                "mean": pack(demand[n] + blank[n], step),
                "lo": pack(low[n] + blank[n], step),
                "hi": pack(high[n] + blank[n], step),
                "ran_out": pack(flags[n], 1.0),
            }
        )
    return (days * 86400).tolist(), width, found, steps


def _fine(
    ids: list[str], backtest: Columns | None, forecast: Columns | None, zone: str, detailed: set[int]
) -> tuple[list[int], int, list[dict[str, str] | None], list[float]]:
    """Tested forecasts of the last days followed by those of the horizon, on one clock."""
    past = lay_out(backtest, zone) if backtest is not None else None
    future = lay_out(forecast, zone) if forecast is not None else None
    ahead = len(future.times) if future is not None else 0
    keep, ahead = _room(past, len(detailed), ahead)
    length = keep + ahead
    values = {name: np.full((len(ids), length), np.nan) for name in (*QUANTILES, "y", "ran_out")}
    number = {identity: n for n, identity in enumerate(ids)}
    clock: list[int] = []
    if past is not None and backtest is not None:
        seen = backtest["y"].astype(float)
        if "exposure" in backtest:  # pickups of an unknown period are unknown
            seen = np.where(np.isfinite(backtest["exposure"].astype(float)), seen, np.nan)
        _place(values, past, backtest | {"y": seen}, number, slice(0, keep), (*QUANTILES, "y"))
        flags = {"ran_out": backtest["censored"].astype(float)}
        _place(values, past, flags, number, slice(0, keep), ("ran_out",))
        clock += past.clock[len(past.times) - keep :].tolist()
    if future is not None and forecast is not None:
        _place(values, future, forecast, number, slice(keep, length), QUANTILES, first=True)
        clock += future.clock[:ahead].tolist()
    found: list[dict[str, str] | None] = []
    steps = []
    for n in range(len(ids)):
        if n not in detailed:
            found.append(None)
            steps.append(1.0)
            continue
        every = np.stack([values[name][n] for name in (*QUANTILES, "y")])
        step = step_for(float(np.max(every[np.isfinite(every)], initial=1.0)))
        steps.append(step)
        entry: dict[str, str] = {name: pack(values[name][n], step) for name in QUANTILES}
        entry["y"] = pack(values["y"][n, :keep], step)
        entry["ran_out"] = "".join("1" if flag == 1 else "0" for flag in values["ran_out"][n, :keep])
        found.append(entry)
    return clock, keep, found, steps


def _room(past: PlaceGrid | None, places: int, ahead: int) -> tuple[int, int]:
    """How many periods of the past (whole days) and of the horizon the page has room for."""
    kept = 0
    if past is not None:
        _, starts = past.days
        for days in _HISTORY_DAYS:
            kept = len(past.times) - (int(starts[-days]) if days <= len(starts) else 0)
            if places * (kept * 6.5 + ahead * 5) <= FINE_BUDGET:
                break
    while ahead > 24 and places * (kept * 6.5 + ahead * 5) > FINE_BUDGET:
        ahead = max(24, ahead - 24)
    return kept, ahead


def _place(
    values: dict[str, np.ndarray],
    grid: PlaceGrid,
    columns: Columns,
    number: dict[str, int],
    where: slice,
    names: tuple[str, ...],
    first: bool = False,
) -> None:
    """Put the last (or first) periods of a table into their slice; places without a past are left out."""
    own = [n for n, identity in enumerate(grid.ids) if identity in number]
    target = [number[grid.ids[n]] for n in own]
    width = where.stop - where.start
    if width == 0:
        return
    for name in names:
        # The whole part of a quantile is the quantile of the count.
        whole = np.floor(grid.matrix(columns[name])[own])
        values[name][target, where] = whole[:, :width] if first else whole[:, -width:]
