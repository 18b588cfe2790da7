"""Recover the demand a service did not see: censored quantile regression for any capped target."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Public name → its module, loaded on first use: JAX and scikit-learn each cost over a second to import.
_HOMES = {
    "BayesianCensoredQuantiles": "unmet.estimators",
    "CensoredGaussianProcess": "unmet.estimators",
    "CensoredQuantileBooster": "unmet.estimators",
    "CensoredQuantileForest": "unmet.estimators",
    "CensoredQuantileRegressor": "unmet.estimators",
    "Conformal": "unmet.estimators",
    "LinearCensoredQuantiles": "unmet.estimators",
    "LocalLinearCensoredQuantiles": "unmet.estimators",
    "TobitRegressor": "unmet.estimators",
    "censored_objective": "unmet.estimators",
    "compare": "unmet.comparison",
    "fit_many": "unmet.estimators",
    "iter_fit_many": "unmet.estimators",
    "load": "unmet.estimators",
    "Run": "unmet.results",
    "open_run": "unmet.results",
    "run": "unmet.pipeline",
}
_MODULES = ("datasets", "metrics")

__all__ = [
    "BayesianCensoredQuantiles",
    "CensoredGaussianProcess",
    "CensoredQuantileBooster",
    "CensoredQuantileForest",
    "CensoredQuantileRegressor",
    "Conformal",
    "LinearCensoredQuantiles",
    "LocalLinearCensoredQuantiles",
    "Run",
    "TobitRegressor",
    "censored_objective",
    "compare",
    "datasets",
    "fit_many",
    "iter_fit_many",
    "load",
    "metrics",
    "open_run",
    "run",
]

if TYPE_CHECKING:
    from unmet import datasets, metrics
    from unmet.comparison import compare
    from unmet.estimators import (
        BayesianCensoredQuantiles,
        CensoredGaussianProcess,
        CensoredQuantileBooster,
        CensoredQuantileForest,
        CensoredQuantileRegressor,
        Conformal,
        LinearCensoredQuantiles,
        LocalLinearCensoredQuantiles,
        TobitRegressor,
        censored_objective,
        fit_many,
        iter_fit_many,
        load,
    )
    from unmet.pipeline import run
    from unmet.results import Run, open_run


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from unmet.runs import naming_extras

        with naming_extras():
            value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"unmet.{name}")
    else:
        raise AttributeError(f"module 'unmet' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
