"""Exact solvers for one plain linear quantile: statsmodels and scikit-learn, as points of reference."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.engine.config import Rule
from benchmarks.engine.problems import Problem, pinball

Fit = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("statsmodels", "scikit-learn")}


def with_statsmodels() -> Fit:
    """Iterated weighted least squares, as in R's quantreg without its simplex."""
    from statsmodels.regression.quantile_regression import QuantReg

    def fit(X: np.ndarray, y: np.ndarray, theta: float) -> np.ndarray:
        design = np.column_stack([np.ones(len(X)), X])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return design @ QuantReg(y, design).fit(q=theta).params

    return fit


def with_sklearn() -> Fit:
    """The linear programme, by HiGHS."""
    from sklearn.linear_model import QuantileRegressor

    def fit(X: np.ndarray, y: np.ndarray, theta: float) -> np.ndarray:
        return QuantileRegressor(quantile=theta, alpha=0.0, solver="highs").fit(X, y).predict(X)

    return fit


def plain(rule: Rule, problems: list[Problem], fit: Fit) -> dict[str, Any]:
    """Fit the problems one by one; the loss is that of the rows fitted."""
    data = [(p.X.astype(float), p.y.astype(float)) for p in problems]
    theta = rule.quantiles[0]
    fit(*data[0], theta)
    began = time.perf_counter()
    fitted = [fit(X, y, theta) for X, y in data]
    seconds = time.perf_counter() - began
    losses = [pinball(p.y, p.cap, q[:, None], rule.quantiles) for p, q in zip(problems, fitted)]
    return {"seconds": seconds, "losses": losses}
