"""Out-of-fold predictions of one method: each row is predicted by a fit that did not see it."""

import re
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.comparison._methods import Floats, Method

# What a fit warns of that speaks against its method: quantiles that it leaves open, chains that have not met.
_UNSURE = ("not identified", "have not settled", "hardly tell")


@dataclass(frozen=True, eq=False)
class Task:
    """One method and one fold: all that its predictions depend on. `told` are the arguments of `fit`."""

    method: Method
    X: Floats
    told: dict[str, NDArray[Any]]
    held: NDArray[np.bool_]
    levels: tuple[float, ...]
    side: str
    seed: int


@dataclass(frozen=True, eq=False)
class Held:
    """Predicted quantiles of the held-out rows; or the reason why there are none."""

    quantiles: Floats
    seconds: float  # CPU, to fit
    warning: str = ""
    failure: str = ""


def split(censored: NDArray[np.bool_], folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row; censored rows are shared out evenly."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(censored))
    order = order[np.argsort(censored[order], kind="stable")]
    fold = np.empty(len(censored), np.intp)
    fold[order] = np.arange(len(censored)) % folds
    return fold


def predict_held(task: Task) -> Held:
    """Fit to the rows that are not held out, and predict the others."""
    seen = {name: values[~task.held] for name, values in task.told.items()}
    nothing = np.empty((0, len(task.levels)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = task.method.make(task.levels, task.side, task.seed)
            began = time.process_time()
            model.fit(task.X[~task.held], **seen)
            seconds = time.process_time() - began
            found = predict_reached(model, task.X[task.held], task.levels)
        except ValueError as error:
            return Held(nothing, 0.0, failure=str(error))
    lost = [str(one.message) for one in told if any(sign in str(one.message) for sign in _UNSURE)]
    return Held(found, seconds, re.split(", because|, too few|:", lost[0])[0] if lost else "")


def predict_reached(model: Any, X: Floats, levels: tuple[float, ...]) -> Floats:
    """Return quantiles; a level that the method does not identify takes the nearest that it does."""
    reached = getattr(model, "levels_", None)
    if reached is None:
        return np.asarray(model.predict_quantiles(X, levels))
    asked = np.clip(levels, reached[0], reached[-1])
    distinct, place = np.unique(asked, return_inverse=True)
    return np.asarray(model.predict_quantiles(X, tuple(distinct)))[:, place]
