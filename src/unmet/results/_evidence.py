"""Gather from the files of a run what decides how far its headline can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.results._places import place_of_rows
from unmet.results._trust import Evidence
from unmet.results._values import PlaceTotals
from unmet.results.numbers import known

if TYPE_CHECKING:
    from unmet.results._run import Run

_FEW_LOST = 0.01  # lost rides for each ride seen that are too few for the width of their interval to matter
_LEAST_OPEN, _LEAST_RIDES = 50, 10  # open periods and rides of a place that says something


def gather_evidence(run: Run, total: PlaceTotals) -> Evidence:
    """Return the evidence for `judge`."""
    lost, account = run.columns("lost"), run.account or {}
    panel, trips = account.get("panel", {}), account.get("trips", {})
    calibration = run.calibration or {}
    coverage = calibration.get("coverage") or {}
    rows = panel.get("rows")
    return Evidence(
        known=float(np.mean(np.isfinite(lost["exposure"].astype(float)))),
        inferred=float(panel["rows_inferred"]) / rows if rows and "rows_inferred" in panel else None,
        inferred_from=panel.get("inferred_from"),
        unsure=total.unsure,
        point=total.lost.point,
        coverage=_number(coverage.get("uncensored_rows")) or _number(coverage.get("randomised")),
        tested=bool(coverage),
        upper_bounds_agree=not (calibration.get("assumption") or {}).get("warn", False),
        lost_per_ride=total.lost.mean / max(total.observed, 1.0),
        width=_width(total),
        beyond=_beyond(lost),
        thin=_thin(lost),
        standing=_number(panel.get("vehicles_standing")),
        vehicles=_number(trips.get("vehicles")),
        docks=_docks(run),
        assumed_ends=panel.get("assumed_ends") is True,
        self_check=run.self_check,
        untimed=panel.get("exposure") == "estimated",
        words=run.words,
    )


def _width(total: PlaceTotals) -> float:
    """Return the relative width of the interval of lost rides; 0 if it has no end, which other rules tell."""
    lost = total.lost
    if not (lost.point and lost.identified):
        return 0.0
    return (lost.high - lost.low) / max(lost.mean, _FEW_LOST * total.observed, 1.0)


def _beyond(lost: Any) -> float:
    """Return the share of lost rides in periods with more demand than the place ever served in one."""
    ids, place = place_of_rows(lost)
    most = np.zeros(len(ids))
    np.maximum.at(most, place, np.nan_to_num(lost["y"].astype(float)))
    gone = np.nan_to_num(lost["lost_mean"].astype(float))
    beyond = np.nan_to_num(lost["demand_mean"].astype(float)) > most[place]
    return float(gone[beyond].sum() / max(1e-9, gone.sum()))


def _thin(lost: Any) -> float:
    """Return the share of lost rides at places with little open time or few rides."""
    place = place_of_rows(lost)[1]
    open_periods, rides, gone = (
        np.bincount(place, np.nan_to_num(lost[name].astype(float))) for name in ("exposure", "y", "lost_mean")
    )
    thin = (open_periods < _LEAST_OPEN) | (rides < _LEAST_RIDES)
    return float(gone[thin].sum() / max(1e-9, gone.sum()))


def _docks(run: Run) -> float | None:
    """Return the number of all docks; None unless every place has some."""
    stations = run.columns("stations") if run.given("stations") else {}
    docks = stations.get("capacity")
    return None if docks is None or not (docks.astype(float) > 0).all() else float(docks.astype(float).sum())


def _number(value: Any) -> float | None:
    return float(value) if known(value) else None
