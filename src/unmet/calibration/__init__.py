"""Calibration of demand forecasts from censored observations."""

from unmet.calibration._bands import Band, LevelMap, fit_level_map
from unmet.calibration._coverage import Coverage, censored_coverage, nominal_levels
from unmet.calibration._pit import randomised_pit
from unmet.calibration._rolling import rolling_intervals
from unmet.censoring import Distribution, kaplan_meier

__all__ = [
    "Band",
    "Coverage",
    "Distribution",
    "LevelMap",
    "censored_coverage",
    "fit_level_map",
    "kaplan_meier",
    "nominal_levels",
    "randomised_pit",
    "rolling_intervals",
]
