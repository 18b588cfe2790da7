"""Exact linear censored quantile regression: Powell, Portnoy, Peng–Huang, Wang–Wang."""

from unmet.estimators.linear._estimator import LinearCensoredQuantiles

__all__ = ["LinearCensoredQuantiles"]
