"""Saved estimators: parameters and weights as plain data, opened on first use.

Importing this module imports neither scikit-learn nor JAX.
"""

from dataclasses import asdict, replace
from importlib import import_module
from typing import Any, get_args

import numpy as np

from unmet.censoring import Side
from unmet.runs import ModelFileError, check_shape, load_model

# Estimators that may be loaded, and their modules. A file never names a module to import.
_ESTIMATORS = {
    "CensoredQuantileBooster": "unmet.estimators.trees",
    "CensoredQuantileForest": "unmet.estimators.trees",
    "CensoredQuantileRegressor": "unmet.estimators._regressor",
    "Conformal": "unmet.estimators.conformal",
    "LinearCensoredQuantiles": "unmet.estimators.linear",
    "TobitRegressor": "unmet.estimators._tobit",
}
# What model.json holds, by kind of estimator. Trees and conformal models check the rest when they are opened.
_PARAMETERS = {"*": "any"}
_BOTH = {
    "estimator": "text",
    "parameters": _PARAMETERS,
    "columns": "count",
    "column_names": (None, ["text"]),
    "side": "text",
}
_NETWORKS = {**_BOTH, "levels": [["share"]], "y_center": "number", "y_scale": "number", "epochs": "count"}
_LINEAR = {**_BOTH, "rows": "count", "censored_share": "number"}


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted network."""
    from unmet.networks import split

    fitted = estimator.fitted_
    arrays = {"x_center": fitted.scaling.x_center, "x_scale": fitted.scaling.x_scale}
    for index, member in enumerate(fitted.members):
        for name, array in split(member.spec, member.weights).items():
            arrays[f"member{index}.{name}"] = array
    names = getattr(estimator, "feature_names_in_", None)
    config = {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: to_plain(name, value) for name, value in estimator.get_params(deep=False).items()
        },
        "columns": int(estimator.n_features_in_),
        "column_names": None if names is None else [str(name) for name in names],
        "levels": [list(member.levels) for member in fitted.members],
        "y_center": float(fitted.scaling.y_center),
        "y_scale": float(fitted.scaling.y_scale),
        "epochs": int(estimator.n_iter_),
        "side": fitted.side,
    }
    known = getattr(estimator, "likelihood_", None)
    if known is not None:
        undetermined = np.isnan(known.covariance)
        arrays["covariance"] = np.where(undetermined, 0.0, known.covariance)
        arrays["undetermined"] = undetermined
        config["likelihood"] = {name: value for name, value in asdict(known).items() if name != "covariance"}
    return config, arrays


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
    custom = inner["parameters"].get("network") == {"custom": True}
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
    if kind in ("unmet.estimators.trees", "unmet.estimators.conformal"):
        check_shape(inner.get("parameters"), _PARAMETERS, "parameters")
        return inner
    shape = _LINEAR if kind == "unmet.estimators.linear" else _NETWORKS
    if "likelihood" in inner:
        shape = {**shape, "likelihood": {"*": "any"}}
    check_shape(inner, shape, "model")
    return inner


def _open(path: str, config: dict[str, Any], arrays: dict[str, np.ndarray], network: Any) -> Any:
    """Build the estimator from checked files."""
    if config["estimator"] == "Conformal":
        from unmet.estimators.conformal._saved import restore as restore_conformal

        return restore_conformal(path, config, arrays, lambda inner, own: _open(path, inner, own, network))
    if config["estimator"] == "LinearCensoredQuantiles":
        from unmet.estimators.linear._saved import restore

        return restore(path, config, arrays)
    if _ESTIMATORS[config["estimator"]] == "unmet.estimators.trees":
        from unmet.estimators.trees._saved import restore as restore_trees

        return restore_trees(path, config, arrays)
    from unmet.estimators._fitted import Fitted, Member
    from unmet.estimators._prepare import model_spec
    from unmet.estimators._scaling import Scaling
    from unmet.networks import layout

    kind = getattr(import_module(_ESTIMATORS[config["estimator"]]), config["estimator"])
    try:
        parameters = {name: from_plain(value) for name, value in config["parameters"].items()}
        if network is not None:
            parameters["network"] = network
        estimator = kind(**parameters)
        if config["side"] not in get_args(Side):
            raise ValueError(f"unknown side {config['side']!r}")
        settings = replace(estimator._settings(), side=config["side"])
        columns = config["columns"]
        members = []
        for index, levels in enumerate(config["levels"]):
            spec = model_spec(settings, columns, tuple(levels))
            plan = layout(spec)
            found = [arrays.pop(f"member{index}.{name}") for name in plan.names]
            fitting = [array.shape == shape for array, shape in zip(found, plan.shapes)]
            if not all(fitting) or any(array.dtype != np.float32 for array in found):
                raise ValueError("the shapes of the weights do not match the parameters")
            weights = np.concatenate([array.ravel() for array in found])
            members.append(Member(spec, tuple(levels), weights))
        known = None
        if "likelihood" in config:
            from unmet.estimators._likelihood import Likelihood

            covariance = np.where(arrays.pop("undetermined"), np.nan, arrays.pop("covariance"))
            if covariance.ndim != 2 or abs(len(covariance) - columns - 1) > 1:
                raise ValueError("the shape of the covariance does not match the parameters")
            known = Likelihood(covariance, **config["likelihood"])
        center, scale = arrays.pop("x_center"), arrays.pop("x_scale")
        if center.shape != (columns,) or scale.shape != (columns,) or arrays:
            raise ValueError("the arrays do not match the parameters")
        if center.dtype != np.float64 or scale.dtype != np.float64:
            raise ValueError("the units of the columns are not numbers")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{path}: the files do not describe a fitted {config['estimator']}: {error}"
        ) from error
    estimator.fitted_ = Fitted(
        tuple(members),
        Scaling(center, scale, config["y_center"], config["y_scale"]),
        monotone=settings.head != "free",
        parametric=settings.parametric,
        side=settings.side,
    )
    if known is not None:
        estimator.likelihood_ = known
    estimator.n_features_in_ = columns
    estimator.n_iter_ = config["epochs"]
    if config["column_names"] is not None:
        estimator.feature_names_in_ = np.array(config["column_names"], dtype=object)
    return estimator


def to_plain(name: str, value: Any) -> Any:
    if name == "network" and callable(value):
        return {"custom": True}
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

    def __sklearn_clone__(self) -> Any:
        from sklearn.base import clone

        return clone(self._real())


def _same(estimator: Any) -> Any:
    return estimator
