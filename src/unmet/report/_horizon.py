"""The forecast of the horizon in a few numbers per place."""

from __future__ import annotations

import numpy as np

from unmet.report._data import Horizon, HorizonPlace
from unmet.report._grid import make_grid
from unmet.results import Interval
from unmet.results.numbers import moment
from unmet.tables import Columns


def make_horizon(forecast: Columns | None, ids: list[str], zone: str) -> Horizon | None:
    """Return expected rides of all places by period, and the sum and busiest period of each place.

    Means add up whatever the dependence between places; quantiles do not, so the sum has no band.
    """
    if forecast is None:
        return None
    grid = make_grid(forecast, zone)
    mean = grid.matrix(forecast["mean"])
    # The whole part of a quantile is the quantile of the count.
    low, high = (np.floor(grid.matrix(forecast[name])) for name in ("q05", "q95"))
    hourly = len(grid.times) < 2 or bool(np.any(grid.clock % 86400 != grid.clock[0] % 86400))
    entries: dict[str, HorizonPlace] = {}
    for n, identity in enumerate(grid.ids):
        if not np.isfinite(mean[n]).any():
            continue
        top = int(np.nanargmax(mean[n]))
        entries[identity] = HorizonPlace(
            expected=float(np.nansum(mean[n])),
            busiest=moment(int(grid.clock[top]), hourly),
            peak=Interval(float(mean[n, top]), float(low[n, top]), float(high[n, top])),
            unidentified=float(np.isinf(high[n]).mean()),
        )
    return Horizon(
        clock=grid.clock.tolist(),
        total=np.nansum(mean, axis=0).tolist(),
        places=[entries.get(identity) for identity in ids],
    )
