"""Saved linear models: coefficients as arrays, everything else as plain data."""

from typing import Any

import numpy as np

from unmet.runs import ModelFileError, save_model


def save(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a folder."""
    fitted = estimator.fitted_
    arrays = {
        "levels": np.asarray(fitted.levels),
        "intercepts": fitted.intercepts,
        "slopes": fitted.slopes,
    }
    if estimator.bootstrap_ is not None:
        known = np.isfinite(estimator.bootstrap_)
        arrays["draws"] = np.where(known, estimator.bootstrap_, 0.0)
        arrays["drawn"] = known
    names = getattr(estimator, "feature_names_in_", None)
    config = {
        "estimator": type(estimator).__name__,
        "parameters": {name: _plain(name, value) for name, value in estimator.get_params(deep=False).items()},
        "columns": int(estimator.n_features_in_),
        "column_names": None if names is None else [str(name) for name in names],
        "rows": int(estimator.rows_),
        "censored_share": float(estimator.censored_share_),
    }
    save_model(path, config, arrays)


def restore(path: str, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The estimator from checked files."""
    from unmet.estimators.linear._estimator import LinearCensoredQuantiles
    from unmet.estimators.linear._process import LinearProcess

    try:
        parameters: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in config["parameters"].items()
        }
        estimator = LinearCensoredQuantiles(**parameters)
        wanted, _ = estimator._levels()
        columns = config["columns"]
        levels, intercepts, slopes = (arrays.pop(name) for name in ("levels", "intercepts", "slopes"))
        if (
            levels.ndim != 1
            or not len(levels)
            or (np.diff(levels) <= 0).any()
            or intercepts.shape != levels.shape
            or slopes.shape != (len(levels), columns)
        ):
            raise ValueError("the shapes of the coefficients do not fit the parameters")
        draws = None
        if "draws" in arrays:
            draws = np.where(arrays.pop("drawn"), arrays.pop("draws"), np.nan)
            if draws.shape != (estimator.n_bootstrap, len(wanted), 1 + columns):
                raise ValueError("the shape of the bootstrap draws does not fit the parameters")
        if arrays:
            raise ValueError(f"unknown arrays {sorted(arrays)}")
        estimator.rows_, estimator.censored_share_ = config["rows"], config["censored_share"]
        names = config["column_names"]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path}: the files do not describe a fitted {config['estimator']}: {error}"
        ) from error
    estimator.fitted_ = LinearProcess(tuple(levels.tolist()), intercepts, slopes)  # type: ignore[assignment]
    estimator.bootstrap_ = draws
    estimator.n_features_in_ = columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _plain(name: str, value: Any) -> Any:
    if name == "random_state" and not isinstance(value, (int, np.integer, type(None))):
        return None  # a generator has moved on; the fitted model no longer needs it
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain("", item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
