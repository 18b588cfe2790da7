"""The recommended fit as Python lines to paste, with the names of the caller's columns."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from unmet.comparison._methods import Method


def fit_code(method: Method, given: Mapping[str, Any], side: str) -> str:
    """Return the lines that fit a method to the same target; none for Kaplan–Meier, which has no fit.

    `table` is the caller's table and X the columns to predict from. An array keeps the name of its argument.

    Examples
    --------
    >>> print(fit_code(Method("Tobit", "TobitRegressor"), {"y": "sold", "threshold": "stock"}, "right"))
    from unmet import TobitRegressor
    model = TobitRegressor()
    model.fit(X, table["sold"], threshold=table["stock"])
    """
    if method.estimator == "KaplanMeier":
        return ""
    told = {name: _word(name, value) for name, value in given.items() if value is not None}
    words = ["X", *(word if name == "y" else f"{name}={word}" for name, word in told.items())]
    call = method.call("right" if "lower" in told else side)  # bounds say themselves which side is open
    return f"from unmet import {method.estimator}\nmodel = {call}\nmodel.fit({', '.join(words)})"


def _word(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"table[{json.dumps(value, ensure_ascii=False)}]"
    if np.ndim(value) == 0:
        return f"{float(value):g}" if float(f"{float(value):g}") == value else repr(float(value))
    if isinstance(value, (tuple, list)) and all(isinstance(v, str) or np.ndim(v) == 0 for v in value):
        return f"({', '.join(_word(name, part) for part in value)})" if len(value) == 2 else name
    return name
