"""Saved linear models: coefficients as arrays, everything else as plain data."""

from typing import Any

import numpy as np

from unmet.runs import ModelFileError


def pack(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return description and arrays of a fitted estimator."""
    from unmet.estimators._files import to_plain

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
        "parameters": {
            name: to_plain(name, value) for name, value in estimator.get_params(deep=False).items()
        },
        "columns": int(estimator.n_features_in_),
        "column_names": None if names is None else [str(name) for name in names],
        "rows": int(estimator.rows_),
        "censored_share": float(estimator.censored_share_),
        "side": estimator.side_,
    }
    return config, arrays


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
        estimator.side_ = config["side"]
        names = config["column_names"]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{path}: the files do not describe a fitted {config['estimator']}: {error}"
        ) from error
    estimator.fitted_ = LinearProcess(tuple(levels.tolist()), intercepts, slopes)  # type: ignore[assignment]
    estimator.bootstrap_ = draws
    estimator.n_features_in_ = columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator
