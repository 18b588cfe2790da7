"""scikit-learn estimators for censored targets: thin shells over the trainer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unmet.estimators._files import load

if TYPE_CHECKING:
    from unmet.estimators._many import fit_many, iter_fit_many
    from unmet.estimators._regressor import CensoredQuantileRegressor
    from unmet.estimators._tobit import TobitRegressor
    from unmet.estimators.bayes import BayesianCensoredQuantiles
    from unmet.estimators.conformal import Conformal
    from unmet.estimators.gaussian_process import CensoredGaussianProcess
    from unmet.estimators.linear import LinearCensoredQuantiles
    from unmet.estimators.local import LocalLinearCensoredQuantiles
    from unmet.estimators.trees import CensoredQuantileBooster, CensoredQuantileForest, censored_objective

# Loaded on first use: opening a saved model then imports neither scikit-learn nor JAX.
_HOMES = {
    "BayesianCensoredQuantiles": "bayes",
    "CensoredGaussianProcess": "gaussian_process",
    "CensoredQuantileBooster": "trees",
    "CensoredQuantileForest": "trees",
    "CensoredQuantileRegressor": "_regressor",
    "Conformal": "conformal",
    "LinearCensoredQuantiles": "linear",
    "LocalLinearCensoredQuantiles": "local",
    "TobitRegressor": "_tobit",
    "censored_objective": "trees",
    "fit_many": "_many",
    "iter_fit_many": "_many",
}

__all__ = [
    "BayesianCensoredQuantiles",
    "CensoredGaussianProcess",
    "CensoredQuantileBooster",
    "CensoredQuantileForest",
    "CensoredQuantileRegressor",
    "Conformal",
    "LinearCensoredQuantiles",
    "LocalLinearCensoredQuantiles",
    "TobitRegressor",
    "censored_objective",
    "fit_many",
    "iter_fit_many",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.estimators' has no attribute {name!r}")
    return getattr(import_module(f"unmet.estimators.{_HOMES[name]}"), name)
