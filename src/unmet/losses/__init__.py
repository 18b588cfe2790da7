"""Losses and likelihoods of censored quantile regression: pure, elementwise, unreduced, NumPy or JAX."""

from unmet.losses._intervals import interval_tilted_loss, interval_tobit_loss, level_at, self_consistent_loss
from unmet.losses._laplace import asymmetric_laplace_log_likelihood, multi_output_log_likelihood
from unmet.losses._portnoy import crossing_level, portnoy_loss, portnoy_weights
from unmet.losses._tilted import (
    censored_tilted_loss,
    doubly_censored_tilted_loss,
    smooth_tilted_loss,
    tilted_loss,
)
from unmet.losses._tobit import sinh_arcsinh_quantile, tobit_loss

__all__ = [
    "asymmetric_laplace_log_likelihood",
    "censored_tilted_loss",
    "crossing_level",
    "doubly_censored_tilted_loss",
    "interval_tilted_loss",
    "interval_tobit_loss",
    "level_at",
    "multi_output_log_likelihood",
    "portnoy_loss",
    "portnoy_weights",
    "self_consistent_loss",
    "sinh_arcsinh_quantile",
    "smooth_tilted_loss",
    "tilted_loss",
    "tobit_loss",
]
