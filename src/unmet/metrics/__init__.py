"""Measures of estimated quantiles and distributions: arrays in, one float out (or one per bin or time)."""

from unmet.metrics._concordance import concordance
from unmet.metrics._distribution import calibration_shares, d_calibration, km_calibration, predicted_levels
from unmet.metrics._errors import mae, r2, rmse
from unmet.metrics._groups import by_censoring
from unmet.metrics._intervals import icp, mil
from unmet.metrics._inverse_weights import brier_score, integrated_brier_score, ipcw_tilted_loss
from unmet.metrics._quantiles import crossing_loss, crossings, tilted_loss

__all__ = [
    "brier_score",
    "by_censoring",
    "calibration_shares",
    "concordance",
    "crossing_loss",
    "crossings",
    "d_calibration",
    "icp",
    "integrated_brier_score",
    "ipcw_tilted_loss",
    "km_calibration",
    "mae",
    "mil",
    "predicted_levels",
    "r2",
    "rmse",
    "tilted_loss",
]
