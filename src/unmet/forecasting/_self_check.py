"""Self-check: hide rides that really happened by virtual stock-outs, estimate them, and compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._grid import Grid, allow_time
from unmet.forecasting._lost_rides import with_error
from unmet.forecasting._parametric import fit_parametric, look_back
from unmet.forecasting._past_draws import draw_past
from unmet.runs import Keep, keep_nothing

Floats = NDArray[np.float64]
DRAWS = 200
_LEAST_OPEN = 50.0  # periods open in the lowered city, for a place whose demand can be learned there
_LEAST_HIDDEN = 5.0  # expected hidden rides of a place whose interval says something
_ENDS, _COVERAGE = (0.05, 0.95), 0.9


@dataclass(frozen=True)
class SelfCheck:
    """Hidden rides and their estimate, by place and in total.

    Attributes
    ----------
    reserve : vehicles of every place that were not for rent.
    places : ids of the places that were compared.
    hidden : rides hidden at each place, a known truth.
    estimate, low, high : estimate of them and its 90% interval, as drawn.
    total : estimate, low and high of all places together.
    """

    reserve: int
    places: NDArray[Any]
    hidden: Floats
    estimate: Floats
    low: Floats
    high: Floats
    total: tuple[float, float, float]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Places that hide or are expected to hide enough rides to judge an interval by."""
        return np.maximum(self.hidden, self.estimate) >= _LEAST_HIDDEN

    @property
    def ratio(self) -> float | None:
        """Estimate / hidden, all places together."""
        hidden = float(self.hidden.sum())
        return self.total[0] / hidden if hidden > 0 else None

    @property
    def coverage_drawn(self) -> float | None:
        """Share of the judged places whose interval, as drawn, holds the hidden rides."""
        return self._held(self.low, self.high)

    @property
    def coverage(self) -> float | None:
        """Share of the judged places whose interval, as shown, holds the hidden rides."""
        return self._held(*self.shown)

    @property
    def shown(self) -> tuple[Floats, Floats]:
        """Ends of the intervals of places as a run shows them, with the error that the other places lack."""
        rows, lacking = self.judged, self._lacking
        error = np.array(
            [conformal_error(lacking[rows & (np.arange(len(rows)) != at)]) for at in range(len(rows))]
        )
        low, high = with_error(self.low, self.high, self.estimate, error * self.estimate)
        return np.asarray(low, np.float64), np.asarray(high, np.float64)

    @property
    def error_total(self) -> float:
        """Relative error that the interval of the total lacks to hold the hidden rides."""
        return float(lacking_error(self.hidden.sum(), *self.total))

    @property
    def error_places(self) -> float:
        """Relative error that intervals of places lack to hold the hidden rides of 90% of further places."""
        return conformal_error(self._lacking[self.judged])

    @property
    def _lacking(self) -> Floats:
        return lacking_error(self.hidden, self.estimate, self.low, self.high)

    def _held(self, low: Floats, high: Floats) -> float | None:
        rows = self.judged
        return float(((self.hidden >= low) & (self.hidden <= high))[rows].mean()) if rows.any() else None

    def as_dict(self) -> dict[str, Any]:
        """Return the content of self_check.json."""
        mean, low, high = self.total
        columns = zip(self.places, self.hidden, self.estimate, *self.shown)
        return {
            "done": True,
            "reserve": self.reserve,
            "hidden": float(self.hidden.sum()),
            "estimate": {"mean": mean, "q05": low, "q95": high},
            "ratio": self.ratio,
            "coverage": self.coverage,
            "coverage_drawn": self.coverage_drawn,
            "places_judged": int(self.judged.sum()),
            "error": {"total": self.error_total, "places": self.error_places},
            "places": {
                str(place): {
                    "hidden": float(hidden),
                    "estimate": {"mean": float(mean), "q05": float(low), "q95": float(high)},
                }
                for place, hidden, mean, low, high in columns
            },
        }


def lacking_error(hidden: Any, mean: Any, low: Any, high: Any) -> Floats:
    """Return d with which an interval of half width √(half² + (d · mean)²) just holds the hidden rides."""
    half = np.where(hidden > mean, high - mean, mean - low)
    beyond = np.maximum(np.square(hidden - mean) - np.square(half), 0.0)
    return np.asarray(np.sqrt(beyond) / np.maximum(mean, 1e-9), np.float64)


def conformal_error(lacking: Floats) -> float:
    """Return the error with which the interval of one more place holds with a chance of 90%.

    Places are taken to be exchangeable: it is the ⌈0.9 (n + 1)⌉-th of the n errors that intervals lack, or
    the largest where there are fewer than nine.
    """
    if not len(lacking):
        return 0.0
    rank = min(len(lacking), int(np.ceil(_COVERAGE * (len(lacking) + 1) - 1e-9)))
    return float(np.sort(lacking)[rank - 1])


def check_itself(
    grid: Grid,
    lowered: Mapping[str, Any],
    reserve: int,
    seed: int,
    *,
    jobs: int = 1,
    tick: Callable[[], object] = lambda: None,
    keep: Keep = keep_nothing,
) -> SelfCheck:
    """Estimate the hidden rides of a lowered panel with the model of demand, and compare.

    Nobody walks to a neighbour here: those who took a hidden vehicle rode it.

    Parameters
    ----------
    lowered : columns y, hidden, exposure, tight and perhaps ran_out, in the order of the panel.
    keep : may keep the model of each turn.
    """
    city, hidden = lowered_grid(grid, lowered)
    model = fit_parametric(city, tick=tick, keep=keep)
    past = look_back(model, city)
    use = np.flatnonzero(city.exposure.sum(axis=1) >= _LEAST_OPEN)
    found = draw_past(model, city, past, DRAWS, seed, jobs=jobs)
    drawn = {one.place: one.unserved.sum(axis=1) for one in found}
    sums = np.array([drawn[int(place)] for place in use], np.float64).reshape(len(use), DRAWS)
    low, high = np.quantile(sums, _ENDS, axis=1)
    estimate = past.unserved.sum(axis=1)[use]
    ends = np.quantile(sums.sum(axis=0), _ENDS)
    return SelfCheck(
        reserve=reserve,
        places=grid.places[use],
        hidden=hidden.sum(axis=1)[use],
        estimate=estimate,
        low=low,
        high=high,
        total=(float(estimate.sum()), float(ends[0]), float(ends[1])),
    )


def lowered_grid(grid: Grid, lowered: Mapping[str, Any]) -> tuple[Grid, Floats]:
    """Return the grid of the lowered city, and the hidden rides of its known rows (P, T)."""
    shape = grid.y.shape
    if len(lowered["y"]) != grid.y.size:
        raise ValueError(
            f"lowered has {len(lowered['y'])} rows, but the panel has {grid.y.size}: build both together"
        )

    def matrix(name: str) -> Floats:
        values = np.asarray(lowered[name]).astype(np.float64).reshape(shape)
        return np.where(grid.known & np.isfinite(values), values, 0.0)

    y, exposure, tight = matrix("y"), matrix("exposure"), matrix("tight")
    used = allow_time(exposure, y, grid.by)
    city = replace(
        grid,
        y=y,
        exposure=used,
        low=used,  # the stock is taken to be known: doubt about it is told apart
        high=used,
        bounded=False,
        censored=(tight > 0) & grid.known,
        threshold=np.broadcast_to(np.nan, shape),
        unseen=tight,
        ran_out=matrix("ran_out") if "ran_out" in lowered else None,
    )
    return city, matrix("hidden")
