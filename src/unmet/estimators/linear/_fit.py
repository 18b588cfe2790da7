"""From checked observations to coefficients: general position, methods, bootstrap."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.estimators._rows import canonical_rows
from unmet.estimators.linear._design import Design, make_design
from unmet.estimators.linear._paths import Floats, Path, Problem, Rows
from unmet.estimators.linear._peng_huang import peng_huang
from unmet.estimators.linear._portnoy import portnoy
from unmet.estimators.linear._powell import powell
from unmet.estimators.linear._simplex import first_basis
from unmet.estimators.linear._steps import refine_levels
from unmet.estimators.linear._wang_wang import wang_wang

# Rows are moved by at most this part of the spread of y, so that no p + 1 of them lie on one hyperplane.
_MOVED = 1e-9
# Numbers in one array of a batch of bootstrap runs: it should stay in a core's cache.
_BATCH = 32_768
_LARGEST = 1e150


@dataclass(frozen=True)
class Ready:
    """A problem in general position, with what is needed to go back to the user's units."""

    method: str
    problem: Problem
    weights: Floats  # (n,), mean 1
    start: Rows
    design: Design
    values: Floats  # (n,): y in the user's units, before rows were moved apart
    X: Floats  # (n, columns), without those that depend on others
    options: dict[str, Any]

    def coefficients(self, path: Path) -> tuple[Floats, Floats]:
        """Intercepts (R, K) and slopes (R, K, columns) of all runs."""
        return self.design.restore(path.coefficients(self.problem.X, self.values))


def make_ready(
    X: Floats,
    observed: Observed,
    weight: Floats | None,
    *,
    method: str,
    levels: tuple[float, ...],
    intercept: bool,
    options: dict[str, Any],
    refine: bool = False,
) -> Ready:
    """Canonical rows, independent columns, rows moved apart; with `refine`, steps between the levels."""
    if np.abs(observed.observed).max() > _LARGEST:
        raise ValueError(f"y holds values beyond {_LARGEST:g}: give it in larger units")
    rows = len(observed) if weight is None else int(np.count_nonzero(weight))
    floor, cap = observed.limits
    if method != "powell":
        cap = np.where(observed.censored, observed.observed, np.inf)
    own = [observed.observed, cap, observed.censored]
    index, share = canonical_rows(X, [*own, floor] if np.isfinite(floor).any() else own, weight)
    X, observed, floor, cap = X[index], observed.take(index), floor[index], cap[index]
    design = make_design(X, intercept)
    y, censored = observed.observed, observed.censored
    spread = float(y.max() - y.min()) or abs(float(y[0])) or 1.0
    # At equal values an uncensored row comes first, as in Kaplan and Meier's estimate.
    shift = _MOVED * np.random.default_rng(0).uniform(size=len(y))
    scaled = (y - y.min()) / spread
    below = np.isinf(observed.lower)
    moved = np.where(censored & ~below, scaled + shift, scaled - shift)
    usable = np.arange(len(y)) if method == "powell" else np.flatnonzero(~censored)
    start = _start(design, usable)
    # The cap of a right-censored row is its value, and so is the floor of a left-censored one.
    cap = np.where(censored & ~below, moved, (cap - y.min()) / spread)
    floor = np.where(below, moved, (floor - y.min()) / spread)
    if refine:
        levels = refine_levels(levels, method, len(y))
    problem = Problem(design.columns, moved, floor, cap, censored, levels)
    return Ready(method, problem, share * rows, start, design, y, X[:, design.used], options)


def _start(design: Design, usable: NDArray[np.intp]) -> Rows:
    columns = design.columns[usable]
    rank = design.columns.shape[1]
    if len(usable) < rank or np.linalg.matrix_rank(columns, tol=1e-7 * np.sqrt(len(design.columns))) < rank:
        raise ValueError(
            f"the {len(usable)} uncensored rows do not determine {rank} coefficients: add rows, or drop "
            "columns that vary only among censored rows"
        )
    return usable[first_basis(columns)]


def run(ready: Ready, weights: Floats, known: Rows | None = None) -> Path:
    """Fit all levels for R sets of row weights (R, n). `known`: bases of the full sample to start from."""
    if ready.method == "portnoy":
        return portnoy(ready.problem, weights, ready.start)
    if ready.method == "peng-huang":
        return peng_huang(ready.problem, weights, ready.start)
    if ready.method == "wang-wang":
        return wang_wang(ready.problem, weights, ready.start, X=ready.X, bandwidth=ready.options["bandwidth"])
    restarts, seed = ready.options["n_restarts"], ready.options["seed"]
    return powell(ready.problem, weights, ready.start, n_restarts=restarts, seed=seed, known=known)


def bootstrap(
    ready: Ready, path: Path, keep: list[int], draws: int, seed: int, jobs: int, shown: bool | None
) -> tuple[Floats, Floats]:
    """Intercepts (draws, K) and slopes (draws, K, columns) at the kept levels under random row weights.

    Each draw multiplies the weights by independent exponential numbers, the multiplier bootstrap, which
    unlike drawing rows never loses a column. NaN where a draw does not reach a level.
    """
    from unmet.runs import progress, run_shards

    size = max(1, _BATCH // len(ready.weights))
    tasks = [
        (ready, path.bases[0], keep, seed, range(i, min(i + size, draws))) for i in range(0, draws, size)
    ]
    found: dict[int, tuple[Floats, Floats]] = {}
    with progress(draws, "bootstrap", "draws", shown=shown) as bar:
        for index, result in run_shards(_draw, tasks, jobs=jobs):
            found[index] = result
            bar.advance(len(tasks[index][-1]))
    parts = [found[index] for index in range(len(tasks))]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _draw(task: Any) -> tuple[Floats, Floats]:
    ready, known, keep, seed, numbers = task
    # A row of weight w stands for w rows, each with an exponential weight of its own.
    weights = np.array([np.random.default_rng([seed, number]).gamma(ready.weights) for number in numbers])
    weights = np.maximum(weights, 1e-12)
    levels = ready.problem.levels[: max(keep) + 1]  # nothing beyond is asked for
    some = replace(ready, problem=replace(ready.problem, levels=levels))
    intercepts, slopes = some.coefficients(run(some, weights, known))
    return intercepts[:, keep], slopes[:, keep]
