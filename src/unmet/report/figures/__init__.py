"""Inline SVG: one kind of figure per file, each a function of plain values and a width."""

from unmet.report.figures._calibration import calibration_figure
from unmet.report.figures._days import days_figure
from unmet.report.figures._doubt import doubt_figure
from unmet.report.figures._fleet import fleet_figure
from unmet.report.figures._forecast import forecast_figure
from unmet.report.figures._map import PlaceMap, place_map
from unmet.report.figures._self_check import HiddenRides, self_check_figure
from unmet.report.figures._week import WeekMap, week_map

__all__ = [
    "HiddenRides",
    "PlaceMap",
    "WeekMap",
    "calibration_figure",
    "days_figure",
    "doubt_figure",
    "fleet_figure",
    "forecast_figure",
    "place_map",
    "self_check_figure",
    "week_map",
]
