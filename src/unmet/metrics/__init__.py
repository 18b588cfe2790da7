"""Measures of estimated quantiles: arrays in, one float out, NumPy only."""

from unmet.metrics._errors import mae, r2, rmse
from unmet.metrics._groups import by_censoring
from unmet.metrics._intervals import icp, mil
from unmet.metrics._quantiles import crossing_loss, crossings, tilted_loss

__all__ = ["by_censoring", "crossing_loss", "crossings", "icp", "mae", "mil", "r2", "rmse", "tilted_loss"]
