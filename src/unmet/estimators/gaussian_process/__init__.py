"""Gaussian processes for censored targets: sparse variational inference, several outputs and likelihoods."""

from unmet.estimators.gaussian_process._estimator import CensoredGaussianProcess

__all__ = ["CensoredGaussianProcess"]
