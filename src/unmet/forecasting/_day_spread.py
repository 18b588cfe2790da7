"""How far whole days of the city lie from what was foreseen: ordinary days, and public holidays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._grid import HOLIDAY, Grid
from unmet.forecasting._parametric import Parametric, Past

Floats = NDArray[np.float64]
# Before any holiday is seen, every level between nothing and twice the mean is as likely; worth two holidays.
_PRIOR_VARIANCE, _PRIOR_DAYS = 1 / 3, 2


@dataclass(frozen=True)
class DaySpread:
    """Relative variance of a day's total around its forecast, beyond what places explain one by one.

    Attributes
    ----------
    ordinary, holiday : of ordinary days and of a holiday ahead, whose own effect is not known.
    seen : number of holidays in the panel.
    """

    ordinary: float
    holiday: float
    seen: int

    def common(self, holiday: Floats | None, periods: int) -> Floats:
        """Return the variance that all places share in each period ahead, beyond that of an ordinary day."""
        more = max(0.0, self.holiday - self.ordinary)
        flag = np.zeros(periods) if holiday is None else np.nan_to_num(holiday)
        return np.where(flag > 0, more, 0.0)


def day_spread(model: Parametric, grid: Grid, past: Past) -> DaySpread:
    """Estimate the spread of the ratio of pickups to expected pickups over days.

    One effect stands for all holidays, but a quiet holiday is not like another: the variance of a holiday
    ahead is that between the holidays seen, with the errors of their mean and of the variance itself.
    """
    day = np.unique(grid.calendar.day, return_inverse=True)[1]
    expected = past.foreseen * grid.exposure
    memory = model.shocks.persistence
    # Shocks of a day's hours add up as they persist.
    shock = model.shocks.variance * ((1 + memory) / (1 - memory) if grid.per_day > 1 else 1.0)
    total, seen = (np.bincount(day, part.sum(axis=0)) for part in (expected, grid.y))
    noise = np.bincount(day, (expected + shock * expected**2).sum(axis=0))
    marked = grid.covariates.get(HOLIDAY, np.zeros(len(grid.ds)))
    holiday = np.bincount(day, np.nan_to_num(marked)) > 0
    use = total > 0
    square = np.zeros(len(total))
    square[use] = ((seen[use] - total[use]) ** 2 - noise[use]) / total[use] ** 2
    ordinary = max(0.0, float(square[use & ~holiday].mean())) if (use & ~holiday).any() else 0.0
    count = int((use & holiday).sum())
    apart = _PRIOR_DAYS * (_PRIOR_VARIANCE + ordinary) + max(0.0, float(square[use & holiday].sum()))
    degrees = _PRIOR_DAYS + max(count - 1, 0)
    unsure = max(degrees, 4) / (max(degrees, 4) - 2)  # as the variance of Student's t
    return DaySpread(ordinary, apart / degrees * (1 + 1 / max(count, 1)) * unsure, count)
