"""Prepare many problems: those of equal shape in one pass over a stack of them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from unmet.censoring import observe
from unmet.estimators._checks import check_mask, check_seed, is_plain
from unmet.estimators._network import NetworkRegressor
from unmet.estimators._prepare import Prepared, prepare_stack
from unmet.estimators._settings import Settings

_TOLD = ("threshold", "censored", "lower", "upper")
_DATA = ("X", "y", *_TOLD, "validation", "sample_weight", "random_state")
# Problems of a stack, and numbers in their columns: more would only leave the cache.
_MOST, _MOST_NUMBERS = 32, 2**18

Ready = tuple[int, NetworkRegressor, Settings, Prepared]


class _Problem:
    """A problem and the unfitted estimator for it."""

    def __init__(self, index: int, data: dict[str, Any], one: NetworkRegressor, settings: Settings) -> None:
        self.index, self.data, self.one, self.settings = index, data, one, settings

    def alike(self) -> Any:
        """Return what problems of one stack share; None if this one is checked and prepared alone."""
        data, settings = self.data, self.settings
        X, y, threshold = data["X"], data.get("y"), data.get("threshold")
        flags, held = data.get("censored"), data.get("validation")
        if (
            y is None
            or not is_plain(X, y)
            or X.size > _MOST_NUMBERS // 2
            or not (threshold is None or (type(threshold) is np.ndarray and threshold.shape == y.shape))
            or not (flags is None or _is_mask(flags, y.shape))
            or not (held is None or _is_mask(held, y.shape))
            or data.get("sample_weight") is not None
            or data.get("lower") is not None
            or data.get("upper") is not None
            or settings.loss == "ipcw"
            or settings.side == "both"
            or self.one.positive
        ):
            return None
        return settings, X.shape, X.dtype, threshold is None, flags is None, held is None

    def seed(self) -> int:
        return check_seed(self.one.random_state)

    def prepare(self) -> Ready:
        """Check and prepare this problem alone, as `fit` does."""
        data, one = self.data, self.one
        try:
            told = {name: data.get(name) for name in _TOLD}
            checked = one._observe(data["X"], data.get("y"), data.get("sample_weight"), **told)
            mask = data.get("validation")
            mask = None if mask is None else check_mask(mask, len(checked[1]))
            return self.ready(one._prepare(self.settings, *checked, mask, self.seed()))
        except (TypeError, ValueError) as error:
            raise ValueError(f"problem {self.index}: {error}") from error

    def ready(self, prepared: Prepared) -> Ready:
        return self.index, self.one, self.settings, prepared


def _is_mask(part: Any, shape: tuple[int, ...]) -> bool:
    return type(part) is np.ndarray and part.dtype == bool and part.shape == shape


def prepare_many(
    estimator: NetworkRegressor, problems: Iterable[tuple[int, dict[str, Any]]]
) -> Iterator[Ready]:
    """Yield problems with their jobs: (index, unfitted estimator, settings, jobs).

    Whatever is out of the ordinary about a problem, it is prepared alone: the jobs are the same to the bit.
    """
    parameters = estimator.get_params(deep=False)
    common = estimator._settings()
    source = iter(problems)
    while window := list(islice(source, _MOST)):
        stacks: dict[Any, list[_Problem]] = {}
        for index, data in window:
            problem = _read(estimator, parameters, common, index, data)
            key = problem.alike()
            if key is None:
                yield problem.prepare()
                continue
            stack = stacks.setdefault(key, [])
            stack.append(problem)
            if len(stack) * data["X"].size >= _MOST_NUMBERS:
                yield from _prepare_stack(stacks.pop(key))
        for stack in stacks.values():
            yield from _prepare_stack(stack)


def _prepare_stack(stack: list[_Problem]) -> Iterator[Ready]:
    """Yield the jobs of problems that are alike."""
    prepared: list[Prepared | None] = [None] * len(stack)
    if len(stack) > 1:
        columns = {name: _column(stack, name) for name in ("X", "y", "threshold", "censored", "validation")}
        for group in _kinds(columns["y"], columns["threshold"], columns["censored"]):
            some = {name: None if part is None else part[group] for name, part in columns.items()}
            try:
                found = _prepare_group(
                    [stack[i] for i in group], some if len(group) < len(stack) else columns
                )
            except ValueError:  # said again below, with the number of the problem
                continue
            for number, jobs in zip(group, found):
                prepared[number] = jobs
    for problem, found_ in zip(stack, prepared):
        yield problem.prepare() if found_ is None else problem.ready(found_)


def _column(stack: list[_Problem], name: str) -> Any:
    first = stack[0].data.get(name)
    if first is None:
        return None
    return np.concatenate([problem.data[name] for problem in stack]).reshape(len(stack), *first.shape)


def _kinds(y: Any, threshold: Any, flags: Any) -> list[Any]:
    """Return the numbers of problems with the same loss. Those that `fit` may warn about are left out."""
    if flags is None:
        flags = np.zeros(y.shape, bool) if threshold is None else y == threshold
    some, limited = flags.any(axis=1), np.zeros(len(y), bool)
    if threshold is not None and not some.all():
        limited = np.isfinite(threshold).any(axis=1)
    usual = ~flags.all(axis=1) & (some | ~limited)
    groups = (np.flatnonzero(usual & some), np.flatnonzero(usual & ~some))
    return [group for group in groups if len(group) > 1]


def _prepare_group(stack: list[_Problem], columns: dict[str, Any]) -> list[Prepared | None]:
    X, side = columns["X"], stack[0].one.side
    told = {name: None if columns[name] is None else columns[name].ravel() for name in _TOLD[:2]}
    observed = observe(columns["y"].ravel(), side=side, **told)
    told_censoring = observed.kind != "none"
    for problem in stack:
        problem.one.n_features_in_, problem.one.told_censoring_ = X.shape[2], told_censoring
    seeds = [problem.seed() for problem in stack]
    return prepare_stack(X, observed, None, columns["validation"], stack[0].settings, seeds)


def _read(
    estimator: NetworkRegressor,
    parameters: dict[str, Any],
    common: Settings,
    index: int,
    data: dict[str, Any],
) -> _Problem:
    """Return a problem with an unfitted copy. scikit-learn's clone costs more than a small fit."""
    if (
        not isinstance(data, dict)
        or "X" not in data
        or not ("y" in data or {"lower", "upper"} <= data.keys())
    ):
        raise ValueError(f"problem {index}: each problem must be a dict with X and y, or X, lower and upper")
    one = type(estimator).__new__(type(estimator))
    one.__dict__.update(parameters)
    special = {name: value for name, value in data.items() if name not in _DATA}
    if data.get("random_state") is not None:
        one.random_state = data["random_state"]
    if not special:
        return _Problem(index, data, one, common)
    try:
        one.set_params(**special)
        if one.warm_start:
            raise ValueError("fit_many starts every problem afresh: set warm_start=False")
        return _Problem(index, data, one, one._settings())
    except ValueError as error:
        raise ValueError(f"problem {index}: {error}") from error
