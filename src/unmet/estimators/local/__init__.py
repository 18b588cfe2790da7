"""Local linear censored quantile regression, for few columns."""

from unmet.estimators.local._estimator import LocalLinearCensoredQuantiles

__all__ = ["LocalLinearCensoredQuantiles"]
