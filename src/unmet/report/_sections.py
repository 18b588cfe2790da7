"""What each section of the template is given: figures in two widths, tables and facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unmet import __version__
from unmet.report import _tables as tables
from unmet.report._data import ReportData
from unmet.report.figures import (
    HiddenRides,
    calibration_figure,
    days_figure,
    doubt_figure,
    fleet_figure,
    forecast_figure,
    place_map,
    self_check_figure,
    week_map,
)
from unmet.report.figures._calibration import achieved
from unmet.results import (
    Interval,
    doubts,
    headline,
    if_no_van_came,
    not_here,
    recent_days,
    self_check_words,
    targets_played,
)
from unmet.results.numbers import known, one_in, percent

WIDE, NARROW = 1000.0, 340.0


@dataclass(frozen=True)
class Pair:
    """The same figure for a wide and for a narrow page; style sheets show one of them."""

    wide: Markup
    narrow: Markup


def pair(draw: Callable[[float, str], Markup], wide: float = WIDE, narrow: float = NARROW) -> Pair:
    """Draw twice."""
    return Pair(draw(wide, "wide"), draw(narrow, "narrow"))


def section_values(data: ReportData) -> dict[str, Any]:
    """Names of the template and their values."""
    panel = data.account.get("panel")
    return {
        "version": __version__,
        "panel_account": panel if isinstance(panel, dict) else {},
        "trips_account": trips if isinstance(trips := data.account.get("trips"), dict) else {},
        "summary": data.summary,
        "w": data.summary.words,
        "not_here": not_here(data.summary),
        "trust": data.summary.trust,
        "total": data.summary.total,
        "plan": data.summary.plan,
        "planned": None if data.summary.plan is None else data.summary.plan.day,
        "words_lost": one_in(data.summary.total.share_lost),
        "headline": headline(data.summary),
        "doubts": doubts(data.summary),
        **_doubt(data),
        "days_pair": pair(lambda width, kind: days_figure(data.days, width, kind, data.summary.words))
        if data.days
        else None,
        "map": place_map(data.places, data.summary.words.noun),
        "week_map": week_map(data.week, data.summary.words.noun) if data.week is not None else None,
        **_plan(data),
        **_forecast(data),
        **_trust(data),
        **_self_check(data),
        "worst_table": tables.worst_table(data),
        "places_table": tables.places_table(data),
        "days_table": tables.days_table(data),
        "week_table": tables.week_table(data),
    }


def _doubt(data: ReportData) -> dict[str, Any]:
    doubt = data.summary.doubt
    if doubt is None or not doubt.curve:
        return {"doubt_pair": None}
    return {"doubt_pair": pair(lambda width, kind: doubt_figure(doubt, width, kind))}


def _forecast(data: ReportData) -> dict[str, Any]:
    horizon = data.horizon
    drawn = None
    if horizon is not None and horizon.total:
        clock, total = horizon.clock, horizon.total
        drawn = pair(lambda width, kind: forecast_figure(clock, total, data.summary.words, width, kind))
    return {
        "forecast_pair": drawn,
        "horizon_sum": sum(horizon.total) if horizon is not None else None,
        "horizon_table": tables.horizon_table(data),
        "horizon_periods_table": tables.horizon_periods_table(data),
    }


def _plan(data: ReportData) -> dict[str, Any]:
    plan, known_lost = data.summary.plan, data.summary.total.lost.point
    shown = data.summary.trust.show_total
    losses = shown or not known_lost  # lower bounds are always given
    stock = None if plan is None else plan.usual_vehicles
    drawn = None
    if len(data.fleet) > 1 and losses:
        rows = tables.thinned(tables.near_fleet(data))
        drawn = pair(lambda width, kind: fleet_figure(rows, width, kind, stock))
    return {
        "plan_words": None if plan is None else if_no_van_came(plan, at_least=not known_lost, shown=shown),
        "recent_days": recent_days(plan.day) if plan and plan.day and known_lost and shown else None,
        "fleet_pair": drawn,
        "plan_table": tables.plan_table(data),
        "moves_table": tables.moves_table(data),
        "fleet_table": tables.fleet_table(data) if losses else None,
        "targets": targets_played(data.summary.truth),
    }


def _truth(truth: dict[str, Any] | None) -> dict[str, Any] | None:
    """What people in the simulated city wanted, and what was lost."""
    lost = (truth or {}).get("lost")
    if not isinstance(lost, dict) or not all(known(lost.get(name)) for name in ("true", "requests")):
        return None
    held = (truth or {}).get("forecast_coverage")
    return {
        "lost": lost["true"],
        "demand": lost["requests"],
        "forecasts": held.get("randomised") if isinstance(held, dict) else None,
        "past": (truth or {}).get("censored_rows_coverage"),
    }


def _trust(data: ReportData) -> dict[str, Any]:
    calibration = data.calibration
    points = achieved(calibration)
    drawn = None
    if points.before or points.after:
        drawn = pair(lambda width, kind: calibration_figure(points, width, kind), 420.0, 320.0)
    return {
        "calibration_pair": drawn,
        "coverage": data.summary.coverage,
        "daily": calibration.get("daily") or {},
        "assumption": calibration.get("assumption") or {},
        "bands_table": tables.bands_table(data),
        "measures_table": tables.measures_table(data),
        "best": _best(data),
        "truth": _truth(data.summary.truth),
    }


def _self_check(data: ReportData) -> dict[str, Any]:
    """Rides that the run hid from itself, and whether it finds them."""
    found = data.summary.self_check
    names = {place.unique_id: place.name for place in data.places}
    places = [
        HiddenRides(names.get(place, place), entry["hidden"], Interval.read(entry["estimate"]))
        for place, entry in ((found or {}).get("places") or {}).items()
    ]
    drawn = pair(lambda w, kind: self_check_figure(places, w, kind), 420.0, 320.0) if places else None
    return {"self_check": found, "self_check_words": self_check_words(data.summary), "self_check_pair": drawn}


def _best(data: ReportData) -> dict[str, str]:
    """Which model was best on what, and by how much if it is not the one that was chosen."""
    used = next((row for row in data.measures if row.get("chosen")), None)

    def lowest(name: str) -> str | None:
        rows = [row for row in data.measures if known(row.get(name))]
        if not rows:
            return None
        best = min(rows, key=lambda row: row[name])
        if used is None or best is used or not known(used.get(name)) or not used[name] > 0:
            return str(best["model"])
        ahead = 1 - best[name] / used[name]
        words = "by less than 0.1%" if ahead < 0.001 else f"by {percent(ahead)}"
        return f"{best['model']} ({words} against the one used)"

    near = [row for row in data.measures if known(row.get("coverage"))]
    found = {
        "pinball": lowest("pinball"),
        "starved": lowest("pinball_starved_places"),
        "coverage": str(min(near, key=lambda row: abs(row["coverage"] - 0.9))["model"]) if near else None,
        "chosen": next((str(row["model"]) for row in data.measures if row.get("chosen")), None),
    }
    return {key: name for key, name in found.items() if name is not None}
