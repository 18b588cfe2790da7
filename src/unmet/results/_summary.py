"""Every headline figure of a run, computed once: the terminal, the page and notebooks show these."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.calendar import local_seconds
from unmet.results._agree import check_fit
from unmet.results._evidence import gather_evidence
from unmet.results._places import make_total, shown_name
from unmet.results._trust import Trust, judge
from unmet.results._values import Doubt, Interval, PlaceTotals, PlanFigures
from unmet.results._words import RIDES, Words, sentences

if TYPE_CHECKING:
    from unmet.results._run import Run

_MEASURES = (
    *("trust", "observed", "left_out", "demand", "unserved", "lost", "ambiguous"),
    *("model", "coverage", "self_check", "inferred", "never_available"),
)
_SHOWN_FILES = ("panel.parquet", "forecast.parquet", "lost.parquet", "plan.csv", "moves.csv", "report.html")


@dataclass(frozen=True)
class Summary:
    """The figures of a run. `print` shows them as sentences.

    Attributes
    ----------
    places, periods, rows : int
    by, zone, first, last : str
        Length of a period, time zone, and the first and last period by the local clock.
    trust : Trust
        How far the totals can be trusted. Without ``trust.show_total`` nobody should show them.
    total : PlaceTotals
        All places together.
    worst : tuple of PlaceTotals
        Every place, the one that lost most rides first.
    left_out_share, left_out_rides : float, int
        Rows that no figure holds, because the place was closed or its feed silent, and their pickups.
    notes : tuple of str
        In what time nothing is known, one sentence for each kind.
    doubt : Doubt or None
        What lost rides rest on without a status feed; None where every stock was reported.
    inferred : float or None
        Share of rows whose stock was inferred from rides; None where nobody knows.
    model : str or None
        Name of the model that was chosen.
    coverage : dict
        How often past demand fell inside the 90% intervals (``randomised``, ``plain``, …).
    self_check : dict or None
        Rides that the run hid from itself and its estimate of them: the content of self_check.json.
    plan : PlanFigures or None
    truth : dict or None
        What a simulated city knows.
    files : tuple of Path
        The files that people open first.
    words : Words
        What the run calls what it counts.
    no_plan : str or None
        Why the run cannot have a plan.
    """

    places: int
    periods: int
    rows: int
    by: str
    zone: str
    first: str
    last: str
    trust: Trust
    total: PlaceTotals
    worst: tuple[PlaceTotals, ...]
    left_out_share: float
    left_out_rides: int
    notes: tuple[str, ...]
    inferred: float | None
    model: str | None
    coverage: dict[str, Any]
    self_check: dict[str, Any] | None
    plan: PlanFigures | None
    truth: dict[str, Any] | None
    files: tuple[Path, ...]
    doubt: Doubt | None = None
    words: Words = RIDES
    no_plan: str | None = None

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
        """Return the figures as plain data, all digits, for JSON; totals that nobody can trust are None."""
        shown = self.trust.show_total
        return {
            "trust": self.trust.as_dict(),
            "observed": self.observed,
            "demand": self.demand.as_dict() if shown else None,
            "unserved": _as_dict(self.total.unserved) if shown else None,
            "lost": self.lost.as_dict() if shown else None,
            "ambiguous": None if self.doubt is None else self.doubt.as_dict(),
            "worst": [
                {"place": place.unique_id, "lost": place.lost.as_dict()["mean"]}
                | {end: place.lost.as_dict()[end] for end in ("q05", "q95")}
                for place in (self.worst[:5] if shown else ())
            ],
            "left_out": {"periods": self.left_out_share, "rides": self.left_out_rides},
            "notes": list(self.notes),
            "model": self.model,
            "coverage": self.coverage or None,
            "self_check": _without_places(self.self_check),
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
    evidence = gather_evidence(run, total)
    return Summary(
        places=len(places),
        periods=len(np.unique(times)),
        rows=len(times),
        by=run.by,
        zone=run.zone,
        first=_local(times.min(), run.zone),
        last=_local(times.max(), run.zone),
        trust=judge(evidence),
        total=total,
        worst=tuple(sorted(places, key=lambda place: (-place.lost.mean, place.unique_id))),
        left_out_share=1 - evidence.known,
        left_out_rides=_left_out_rides(panel.get("pickups"), total.observed),
        notes=tuple(shown_name(note, "", longest=400) for note in panel.get("notes") or ()),
        inferred=evidence.inferred,
        model=next((entry["model"] for entry in run.measures if entry.get("chosen")), None),
        coverage=(run.calibration or {}).get("coverage") or {},
        self_check=evidence.self_check,
        plan=None if fit_only else run.planned,
        truth=None if fit_only else run.truth,
        files=tuple(run.folder / name for name in shown if run.has(name)),
        doubt=Doubt.read(run.totals.get("ambiguous")),
        words=run.words,
        no_plan=panel.get("no_plan"),
    )


def _without_places(found: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if found is None else {name: value for name, value in found.items() if name != "places"}


def _as_dict(value: Interval | None) -> dict[str, float | None] | None:
    return None if value is None else value.as_dict()


def _left_out_rides(pickups: Any, observed: float) -> int:
    """Pickups of the panel that no figure holds."""
    if not isinstance(pickups, int | float) or not isfinite(pickups):
        return 0
    return max(0, round(pickups - observed))


def _local(moment: np.datetime64, zone: str) -> str:
    """A moment in UTC as text of the local clock."""
    return str(local_seconds(np.array([moment]), zone).astype("datetime64[s]")[0])
