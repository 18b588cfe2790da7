"""Trees for censored quantiles: forests with local Kaplan–Meier estimates, gradient boosting."""

from unmet.estimators.trees._booster import CensoredQuantileBooster
from unmet.estimators.trees._forest import CensoredQuantileForest
from unmet.estimators.trees._objective import censored_objective

__all__ = ["CensoredQuantileBooster", "CensoredQuantileForest", "censored_objective"]
