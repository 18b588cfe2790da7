"""Saved conformal models: the inner estimator and the chosen rungs in one folder."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from unmet.estimators.conformal._conformal import Bounds, Conformal
from unmet.runs import ModelFileError


def pack(model: Conformal) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted model. A callable for the censoring is not saved."""
    from unmet.estimators._files import to_plain

    inner, arrays = model.estimator_._packed()
    given = {} if model.estimator is None else model.estimator.get_params(deep=False)
    names = getattr(model, "feature_names_in_", None)
    parameters = model.get_params(deep=False)
    parameters.pop("estimator")
    if callable(model.censoring):
        parameters["censoring"] = "forest"  # only `fit` needs it
    config = {
        "estimator": "Conformal",
        "parameters": {name: to_plain(name, value) for name, value in parameters.items()},
        "given": None
        if model.estimator is None
        else {
            "estimator": type(model.estimator).__name__,
            "parameters": {name: to_plain(name, value) for name, value in given.items()},
        },
        "inner": inner,
        "bounds": to_plain("", asdict(model.bounds_)),
        "side": model.side_,
        "columns": int(model.n_features_in_),
        "column_names": None if names is None else [str(name) for name in names],
    }
    return config, arrays


def restore(
    path: str, config: dict[str, Any], arrays: dict[str, np.ndarray], open_: Callable[..., Any]
) -> Conformal:
    """Return the model from checked files."""
    from unmet.estimators._files import from_plain

    try:
        if config["inner"]["estimator"] == "Conformal":
            raise ValueError("a conformal model cannot hold another")
        parameters = {name: from_plain(value) for name, value in config["parameters"].items()}
        inner = open_(config["inner"], arrays)
        given = None
        if config["given"] is not None:
            if config["given"]["estimator"] != config["inner"]["estimator"]:
                raise ValueError("the estimators differ")
            own = {name: from_plain(value) for name, value in config["given"]["parameters"].items()}
            if own.get("network") == {"custom": True}:
                own["network"] = inner.network
            given = type(inner)(**own)
        model = Conformal(given, **parameters)
        model._check_parameters()
        found = {name: from_plain(value) for name, value in config["bounds"].items()}
        model.estimator_, model.bounds_, model.side_ = inner, Bounds(**found), config["side"]
        model.n_features_in_ = config["columns"]
        rungs = (model.bounds_.lower, model.bounds_.lower_end, model.bounds_.upper_end or 0)
        if model.side_ not in ("right", "left") or not all(0 <= rung < 10_000 for rung in rungs):
            raise ValueError("side or rungs are wrong")
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path}: the files do not describe a fitted Conformal: {error}") from error
    if config["column_names"] is not None:
        model.feature_names_in_ = np.array(config["column_names"], dtype=object)
    return model
