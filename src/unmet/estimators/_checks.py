"""Checks of data that all estimators share, and the loss of what was seen."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_random_state

from unmet.censoring import Observed, refuse_mask
from unmet.estimators._settings import check_number
from unmet.estimators._warn import warn_user
from unmet.losses import doubly_censored_tilted_loss, interval_tilted_loss

# With fewer rows, chance may leave all thresholds unreached.
_FEW = 30
_ARRAYS = (np.ndarray, np.memmap)
_BLOCK = 2**16  # rows of a table that are checked at a time
_NUMBERS = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32))

# What a method does that takes all rows for exact ones, and the remedy.
_UNTOLD = {
    "score": (
        "prefers models that ignore the cap: pass them; in searches and cross_val_score use params= and "
        "sklearn.set_config(enable_metadata_routing=True)"
    ),
    "complete": "takes every row for exact and returns y as it is: pass them",
}


def is_plain(X: Any, y: Any) -> bool:
    """Return True for arrays that need no conversion: scikit-learn's check costs more than a small fit."""
    return (
        type(X) in _ARRAYS
        and type(y) in _ARRAYS
        and X.dtype in _NUMBERS
        and y.dtype in _NUMBERS
        and X.ndim == 2
        and y.ndim == 1
        and X.shape[0] == y.shape[0] > 1
        and X.shape[1] > 0
        and all(np.isfinite(X[begin : begin + _BLOCK]).all() for begin in range(0, len(X), _BLOCK))
    )


def seen_loss(
    observed: Observed, quantiles: NDArray[np.float64], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the tilted loss of what was seen, shape (n, K): held at thresholds, or to the nearer bound."""
    if observed.known:
        floor, cap = (limit[:, None] for limit in observed.limits)
        return doubly_censored_tilted_loss(observed.observed[:, None], quantiles, levels, floor, cap)
    return interval_tilted_loss(observed.lower[:, None], observed.upper[:, None], quantiles, levels)


def check_lengths(X: Any, observed: Observed, y: Any) -> None:
    if len(X) != len(observed):
        name = "lower" if y is None else "y"
        raise ValueError(f"X has {len(X)} rows but {name} has {len(observed)}")


def refuse_wide(coverage: float, ends: tuple[float, float], levels: Sequence[float]) -> None:
    """Raise ValueError if a central interval ends outside the fitted levels."""
    least, most = levels[0], levels[-1]
    if least <= ends[0] and ends[1] <= most:
        return
    widest = round(1 - 2 * max(least, 1 - most), 12)
    if widest > 0:
        problem = f"coverage must be at most {widest:g}, not {coverage:g}"
    else:
        problem = f"coverage={coverage:g} needs quantiles on both sides of the median"
    raise ValueError(
        f"{problem}: the fitted ones lie between {least:g} and {most:g}; fit with quantiles= that include "
        f"{ends[0]:g} and {ends[1]:g}"
    )


def refuse_two_sided(observed: Observed, what: str, instead: str) -> None:
    """Raise ValueError if censored rows are not all open on the same side."""
    if observed.side == "both" and observed.censored.any():
        raise ValueError(f"{what} needs rows that are all open on the same side: use {instead}")


def refuse_negative(observed: Observed) -> None:
    """Raise ValueError if positive=True contradicts what was seen."""
    least = float(observed.upper.min())  # no latent value is above its upper bound
    if least < 0:
        raise ValueError(
            f"positive=True says that no value is below zero, but row {int(observed.upper.argmin())} is "
            f"at most {least:g}: set positive=False"
        )


def refuse_all_censored(observed: Observed) -> None:
    if not observed.censored.all():
        return
    if observed.kind == "intervals":
        raise ValueError(
            "no row is exact, with lower equal to upper: for intervals alone use TobitRegressor or "
            "CensoredQuantileRegressor"
        )
    raise ValueError("every row is censored: no quantile is identified without rows that show their value")


def check_jobs(n_jobs: Any) -> int:
    """Return a number of processes or threads, or raise ValueError."""
    from unmet.runs import available_cores

    if n_jobs == -1:
        return available_cores()
    if n_jobs == 0:
        raise ValueError("n_jobs must be a whole number of at least 1, or -1 for one per core, not 0")
    check_number("n_jobs", n_jobs, 1, whole=True)
    return int(n_jobs)


def refuse_unread(X: Any) -> None:
    """Raise ValueError for the path of a table or a lazy frame: their rows are not here yet."""
    if isinstance(X, str | os.PathLike):
        raise ValueError(f"X must hold the rows, not the path {os.fspath(X)!r}: read the file first")
    if hasattr(X, "collect") and hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise ValueError("X is a lazy frame: pass X.collect()")
    if hasattr(X, "to_table") and not hasattr(X, "to_numpy"):
        raise ValueError("X is a data set on disk: pass X.to_table(), in float32 if it is large")


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array, with all its zeros, and anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") and hasattr(X, "nnz") else X


def warn_if_never_reached(observed: Observed) -> None:
    """Warn if every row stays further from its threshold than the range of y: units may differ."""
    if len(observed) < _FEW or observed.kind != "known" or observed.censored.any():
        return
    y = observed.observed
    span = float(y.max() - y.min())
    if min(float((observed.ceiling - y).min()), float((y - observed.floor).min())) > span > 0:
        warn_user(
            "no row comes near its threshold, so that nothing is censored: check that y and threshold have "
            "the same units, or leave threshold out"
        )


def warn_all_censored(observed: Observed) -> None:
    if observed.side == "both" and not observed.known:
        return  # intervals on both sides identify what lies between them
    beyond = {"right": "above", "left": "below", "both": "between or beyond"}[observed.side]
    warn_user(
        f"every row is censored: the data say nothing {beyond} the observed values, and the fit "
        "depends on its start. Add rows that are not censored"
        + ("" if observed.known else ", or pass known thresholds")
    )


def warn_if_untold(model: Any, told: Mapping[str, Any], method: str) -> None:
    """Warn if `fit` was told which rows are censored, and `score` or `complete` is not."""
    if getattr(model, "told_censoring_", False) and all(part is None for part in told.values()):
        warn_user(f"{method} got no threshold or censored although fit did, so that it {_UNTOLD[method]}")


def check_weights(sample_weight: ArrayLike, rows: int) -> NDArray[np.float64]:
    refuse_mask(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({rows},), not {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return weight


def check_seed(state: Any) -> int:
    if not isinstance(state, (int, np.integer)):
        try:
            return int(check_random_state(state).randint(2**31))
        except ValueError as error:
            raise ValueError(f"random_state: {error}") from None
    if not 0 <= state < 2**32:
        raise ValueError(f"random_state must be between 0 and 2**32 - 1, not {state}")
    return int(state)


def check_mask(validation: ArrayLike, rows: int) -> NDArray[np.bool_]:
    refuse_mask(validation, "validation")
    mask = np.asarray(validation)
    if mask.shape != (rows,) or mask.dtype != bool:
        raise ValueError(
            f"validation must be a boolean array with one entry per row, shape ({rows},), "
            f"not {mask.dtype} of shape {mask.shape}"
        )
    return mask
