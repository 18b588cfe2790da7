"""Bounds on latent values that hold for any estimator: conformal prediction under censoring."""

from unmet.estimators.conformal._conformal import Conformal

__all__ = ["Conformal"]
