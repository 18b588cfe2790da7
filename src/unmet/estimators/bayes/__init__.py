"""Bayesian censored quantile regression: a working likelihood, sampled, and intervals that hold."""

from unmet.estimators.bayes._estimator import BayesianCensoredQuantiles

__all__ = ["BayesianCensoredQuantiles"]
