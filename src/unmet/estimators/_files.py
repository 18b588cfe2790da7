"""Saved estimators: parameters and weights as plain data, opened on first use.

Importing this module imports neither scikit-learn nor JAX.
"""

from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from unmet.estimators._categories import read_categories
from unmet.runs import ModelFileError, check_shape, load_model

# Estimators that may be loaded, and their modules. A file never names a module to import.
_ESTIMATORS = {
    "BayesianCensoredQuantiles": "unmet.estimators.bayes",
    "CensoredGaussianProcess": "unmet.estimators.gaussian_process",
    "CensoredQuantileBooster": "unmet.estimators.trees",
    "CensoredQuantileForest": "unmet.estimators.trees",
    "CensoredQuantileRegressor": "unmet.estimators._regressor",
    "Conformal": "unmet.estimators.conformal",
    "LinearCensoredQuantiles": "unmet.estimators.linear",
    "LocalLinearCensoredQuantiles": "unmet.estimators.local",
    "TobitRegressor": "unmet.estimators._tobit",
}
_CUSTOM = {"custom": True}  # stands for a network that only the caller has
# Models that check their own arrays when they are opened.
_OPENED = tuple(f"unmet.estimators.{kind}" for kind in ("trees", "conformal", "gaussian_process", "local"))
# What model.json holds, by kind of estimator.
_PARAMETERS = {"*": "any"}
_BOTH = {
    "estimator": "text",
    "parameters": _PARAMETERS,
    "columns": "count",
    "column_names": (None, ["text"]),
    "side": "text",
}
_NETWORKS = {**_BOTH, "levels": [["share"]], "y_center": "number", "y_scale": "number", "epochs": "count"}
_IPCW = {"rows": "count", "largest": "number", "truncated": "number"}
_LINEAR = {**_BOTH, "rows": "count", "censored_share": "number"}


def describe(estimator: Any) -> dict[str, Any]:
    """Return name and parameters of an estimator as plain data."""
    parameters = estimator.get_params(deep=False)
    if type(estimator).__name__ == "Conformal":
        del parameters["estimator"]  # described on its own
    plain = {name: to_plain(name, value) for name, value in parameters.items()}
    return {"estimator": type(estimator).__name__, "parameters": plain}


def construct(config: dict[str, Any]) -> Any:
    """Return an unfitted estimator from what `describe` returned."""
    kind = getattr(import_module(_ESTIMATORS[config["estimator"]]), config["estimator"])
    return kind(**{name: from_plain(value) for name, value in config["parameters"].items()})


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted estimator."""
    own, arrays = estimator._pack()
    names = getattr(estimator, "feature_names_in_", None)
    config = {
        **describe(estimator),
        "columns": estimator._width,
        "column_names": None if names is None else [str(name) for name in names],
        **own,
    }
    if hasattr(estimator, "categories_"):
        config["categories"] = estimator.categories_.plain()
    return config, arrays


def rebuild(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Return the estimator from what `pack` returned. Raise ValueError or the like if it does not fit."""
    estimator = construct(config)
    estimator._unpack(config, arrays)
    if arrays:
        raise ValueError(f"unknown arrays {sorted(arrays)}")
    estimator.n_features_in_ = config["columns"]
    if "categories" in config:
        estimator.categories_ = read_categories(config["categories"])
        if len(estimator.categories_.columns) != config["columns"]:
            raise ValueError("the categories do not match the number of columns")
        estimator.n_features_in_ = len(estimator.categories_.names)
    if config["column_names"] is not None:
        estimator.feature_names_in_ = np.array(config["column_names"], dtype=object)
    return estimator


def load(path: Any, network: Any = None) -> Any:
    """Return the estimator saved at `path`, ready to predict.

    This checks the files. scikit-learn and JAX are imported when the estimator is first used.

    Parameters
    ----------
    network : callable, optional
        The callable that the model was fitted with, if it has a custom network. It is not saved, because
        loading a file never runs code.
    """
    config, arrays = load_model(path)
    if str(config.get("estimator")) not in _ESTIMATORS:
        raise ModelFileError(
            f"{path}: unknown estimator {str(config.get('estimator'))[:80]!r}; "
            "save the model again with this version"
        )
    try:
        inner = _check_description(config)
    except ValueError as error:
        raise ModelFileError(f"{path}: {error}; save the model again with this version") from None
    custom = inner["parameters"].get("network") == _CUSTOM
    if custom and network is None:
        raise ValueError("this model was fitted with a custom network: pass the same callable as network=")
    if not custom and network is not None:
        raise ValueError("network= is only for models that were fitted with a custom network: leave it out")
    return _Unopened(str(path), config, arrays, network)


def _check_description(config: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError unless model.json has all parts; return the part about the model that was trained."""
    inner = config.get("inner", config)
    if inner is not config:
        check_shape(config.get("parameters"), _PARAMETERS, "parameters")
    if not isinstance(inner, dict) or str(inner.get("estimator")) not in _ESTIMATORS:
        raise ValueError("the estimator inside is unknown")
    kind = _ESTIMATORS[inner["estimator"]]
    if kind in _OPENED:
        check_shape(inner.get("parameters"), _PARAMETERS, "parameters")
        return inner
    linear = ("unmet.estimators.linear", "unmet.estimators.bayes")
    shape = _LINEAR if kind in linear else _NETWORKS
    if "categories" in inner:
        shape = {**shape, "categories": {"*": "any"}}
    if "likelihood" in inner:
        shape = {**shape, "likelihood": {"*": "any"}}
    if "ipcw" in inner:
        shape = {**shape, "ipcw": _IPCW}
    check_shape(inner, shape, "model")
    return inner


def _open(path: str, config: dict[str, Any], arrays: dict[str, np.ndarray], network: Any) -> Any:
    """Build the estimator from checked files."""
    try:
        return rebuild(_with_network(config, network), arrays)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{path}: the files do not describe a fitted {config['estimator']}: {error}"
        ) from error


def _with_network(value: Any, network: Any) -> Any:
    """Return the description with the caller's network wherever the model had a custom one."""
    if value == _CUSTOM:
        return network
    return (
        {key: _with_network(item, network) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


def to_plain(name: str, value: Any) -> Any:
    if name == "network" and callable(value):
        return _CUSTOM
    if name == "censoring" and callable(value):
        return "forest"  # only `fit` needs the callable
    if name == "random_state" and not isinstance(value, (int, np.integer, type(None))):
        return None  # a generator has advanced, and the fitted model does not need it
    if name == "head" and not isinstance(value, str):
        return {"location_scale": to_plain("", asdict(value))}
    if isinstance(value, dict):
        return {key: to_plain("", item) for key, item in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [to_plain("", item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(from_plain(item) for item in value)
    if isinstance(value, dict) and set(value) == {"location_scale"}:
        from unmet.networks import LocationScale

        return LocationScale(**{name: from_plain(item) for name, item in value["location_scale"].items()})
    return value


class _Unopened:
    """A saved estimator that turns into the real one on first use."""

    def __init__(self, *parts: Any) -> None:
        object.__setattr__(self, "_parts", parts)

    def _real(self) -> Any:
        parts = object.__getattribute__(self, "_parts")
        if len(parts) == 4:
            path, config, arrays, network = parts
            parts = (_open(path, config, dict(arrays), network),)
            object.__setattr__(self, "_parts", parts)
        return parts[0]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._real())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real(), name, value)

    def __repr__(self) -> str:
        return repr(self._real())

    def __dir__(self) -> list[str]:
        return dir(self._real())

    def __reduce__(self) -> Any:
        return (_same, (self._real(),))

    def __sklearn_is_fitted__(self) -> bool:
        return True  # a pipeline looks for fitted attributes in the instance, which has none of its own

    def __sklearn_clone__(self) -> Any:
        from sklearn.base import clone

        return clone(self._real())


def _same(estimator: Any) -> Any:
    return estimator
