"""Saved trees: arrays as safetensors, everything else as plain data."""

from typing import Any

import numpy as np

from unmet.estimators.trees._arrays import Trees, take_trees
from unmet.estimators.trees._booster import CensoredQuantileBooster, FittedBooster
from unmet.estimators.trees._forest import CensoredQuantileForest, FittedForest
from unmet.estimators.trees._neighbours import Neighbours
from unmet.runs import ModelFileError


def pack_forest(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted forest."""
    rows = estimator.fitted_.neighbours
    arrays = {"y": rows.y, "censored": rows.censored, "share": rows.share, "leaves": rows.leaves}
    return _config(estimator), {**rows.trees.arrays(), **arrays}


def pack_booster(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted booster."""
    fitted = estimator.fitted_
    config = {**_config(estimator), "center": fitted.center, "scale": fitted.scale}
    arrays = {"start": fitted.start, "inner": np.asarray(fitted.inner)}
    return config, {**fitted.trees.arrays(), **arrays}


def _config(estimator: Any) -> dict[str, Any]:
    from unmet.estimators._files import to_plain

    names = getattr(estimator, "feature_names_in_", None)
    return {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: to_plain(name, value) for name, value in estimator.get_params(deep=False).items()
        },
        "columns": int(estimator.n_features_in_),
        "column_names": None if names is None else [str(name) for name in names],
        "side": estimator.fitted_.side,
    }


def restore(path: str, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Return the estimator from checked files."""
    from unmet.estimators._files import from_plain

    kinds: dict[str, Any] = {
        "CensoredQuantileForest": CensoredQuantileForest,
        "CensoredQuantileBooster": CensoredQuantileBooster,
    }
    try:
        parameters = {name: from_plain(value) for name, value in config["parameters"].items()}
        estimator: Any = kinds[config["estimator"]](**parameters)
        levels, columns, side = estimator._check_parameters(), config["columns"], config["side"]
        if side not in ("right", "left"):
            raise ValueError(f"unknown side {side!r}")
        trees = take_trees(arrays, columns)
        if config["estimator"] == "CensoredQuantileForest":
            estimator.fitted_ = FittedForest(_rows(trees, arrays), levels, side)
        else:
            estimator.fitted_ = _booster(trees, arrays, config, side)
            estimator.n_iter_ = len(trees.roots) // len(levels)
        if arrays:
            raise ValueError(f"unknown arrays {sorted(arrays)}")
        names = config["column_names"]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path}: the files do not describe a fitted {config['estimator']}: {error}"
        ) from error
    estimator.n_features_in_ = columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _rows(trees: Trees, arrays: dict[str, np.ndarray]) -> Neighbours:
    y, censored, share, leaves = (arrays.pop(name) for name in ("y", "censored", "share", "leaves"))
    sound = (
        y.ndim == 1
        and len(y) > 0
        and y.dtype == share.dtype == np.float64
        and censored.dtype == bool
        and y.shape == censored.shape == share.shape
        and leaves.dtype == np.int32
        and leaves.shape == (len(y), len(trees.roots))
    )
    if not sound or (np.diff(y) < 0).any() or (share <= 0).any():
        raise ValueError("the training rows do not fit the trees")
    if leaves.min() < 0 or leaves.max() >= len(trees.feature) or (trees.feature[leaves] >= 0).any():
        raise ValueError("the training rows lie in leaves that do not exist")
    return Neighbours(trees, y, censored, share, leaves)


def _booster(trees: Trees, arrays: dict[str, np.ndarray], config: dict[str, Any], side: Any) -> FittedBooster:
    start, inner = arrays.pop("start"), arrays.pop("inner")
    sound = inner.ndim == 1 and len(inner) > 0 and start.shape == inner.shape and (np.diff(inner) > 0).all()
    if not sound or len(trees.roots) % len(inner):
        raise ValueError("the number of trees does not fit the levels")
    return FittedBooster(
        trees, start, tuple(inner.tolist()), float(config["center"]), float(config["scale"]), side
    )
