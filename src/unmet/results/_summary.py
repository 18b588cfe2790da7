"""Every headline figure of a run, computed once: the terminal, the page and notebooks show these."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.calendar import local_seconds
from unmet.results._agree import check_fit
from unmet.results._places import make_total
from unmet.results._values import Interval, PlaceTotals, PlanFigures
from unmet.results._words import sentences

if TYPE_CHECKING:
    from unmet.results._run import Run

_MEASURES = ("observed", "left_out", "demand", "lost", "model", "coverage", "inferred", "never_available")
_SHOWN_FILES = ("panel.parquet", "forecast.parquet", "lost.parquet", "plan.csv", "moves.csv", "report.html")


@dataclass(frozen=True)
class Summary:
    """The figures of a run. `print` shows them as sentences.

    Attributes
    ----------
    places, periods, rows : int
    by, zone, first, last : str
        Length of a period, time zone, and the first and last period by the local clock.
    total : PlaceTotals
        All places together.
    worst : tuple of PlaceTotals
        Every place, the one that lost most rides first.
    left_out_share, left_out_rides : float, int
        Rows that no figure holds, because the place was closed or its feed silent, and their pickups.
    inferred : float or None
        Share of rows whose stock was inferred from rides; None where nobody knows.
    model : str or None
        Name of the model that was chosen.
    coverage : dict
        How often past demand fell inside the 90% intervals (``randomised``, ``plain``, …).
    plan : PlanFigures or None
    truth : dict or None
        What a simulated city knows.
    files : tuple of Path
        The files that people open first.
    """

    places: int
    periods: int
    rows: int
    by: str
    zone: str
    first: str
    last: str
    total: PlaceTotals
    worst: tuple[PlaceTotals, ...]
    left_out_share: float
    left_out_rides: int
    inferred: float | None
    model: str | None
    coverage: dict[str, Any]
    plan: PlanFigures | None
    truth: dict[str, Any] | None
    files: tuple[Path, ...]

    @property
    def observed(self) -> float:
        return self.total.observed

    @property
    def demand(self) -> Interval:
        return self.total.demand

    @property
    def lost(self) -> Interval:
        return self.total.lost

    @property
    def never_available(self) -> tuple[PlaceTotals, ...]:
        """Places where no vehicle was ever seen: nothing was learned there."""
        found = [place for place in self.worst if place.never_available]
        return tuple(sorted(found, key=lambda place: place.unique_id))

    @property
    def unidentified(self) -> int:
        """How many places have no upper bound on what they lost."""
        return sum(not place.lost.identified for place in self.worst)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, all digits, for JSON."""
        return {
            "observed": self.observed,
            "demand": self.demand.as_dict(),
            "lost": self.lost.as_dict(),
            "worst": [
                {"place": place.unique_id, "lost": place.lost.mean}
                | {end: place.lost.as_dict()[end] for end in ("q05", "q95")}
                for place in self.worst[:5]
            ],
            "left_out": {"periods": self.left_out_share, "rides": self.left_out_rides},
            "model": self.model,
            "coverage": self.coverage or None,
            "inferred": self.inferred,
            "never_available": [place.unique_id for place in self.never_available],
            "files": [str(path) for path in self.files],
        }

    def measures(self) -> dict[str, Any]:
        """Return the figures that run.json keeps."""
        found = self.as_dict()
        return {name: found[name] for name in _MEASURES}

    def __str__(self) -> str:
        return "\n".join(sentences(self))


def make_summary(run: Run, *, fit_only: bool = False) -> Summary:
    """Return the figures of a run; its totals, rows and stations must agree."""
    check_fit(run)
    lost, places = run.columns("lost"), run.places
    total = make_total(lost, run.totals)
    times = lost["ds"].astype("datetime64[s]")
    shown = [name for name in _SHOWN_FILES if not fit_only or name in ("panel.parquet", "lost.parquet")]
    panel = (run.account or {}).get("panel", {})
    rows = panel.get("rows")
    return Summary(
        places=len(places),
        periods=len(np.unique(times)),
        rows=len(times),
        by=run.by,
        zone=run.zone,
        first=_local(times.min(), run.zone),
        last=_local(times.max(), run.zone),
        total=total,
        worst=tuple(sorted(places, key=lambda place: (-place.lost.mean, place.unique_id))),
        left_out_share=float(np.mean(~np.isfinite(lost["exposure"].astype(float)))),
        left_out_rides=_left_out_rides(panel.get("pickups"), total.observed),
        inferred=float(panel["rows_inferred"]) / rows if rows and "rows_inferred" in panel else None,
        model=next((entry["model"] for entry in run.measures if entry.get("chosen")), None),
        coverage=(run.calibration or {}).get("coverage") or {},
        plan=None if fit_only else run.planned,
        truth=None if fit_only else run.truth,
        files=tuple(run.folder / name for name in shown if run.has(name)),
    )


def _left_out_rides(pickups: Any, observed: float) -> int:
    """Pickups of the panel that no figure holds."""
    if not isinstance(pickups, int | float) or not isfinite(pickups):
        return 0
    return max(0, round(pickups - observed))


def _local(moment: np.datetime64, zone: str) -> str:
    """A moment in UTC as text of the local clock."""
    return str(local_seconds(np.array([moment]), zone).astype("datetime64[s]")[0])
