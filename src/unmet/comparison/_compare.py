"""Compare every method that applies to a table, by cross-validation, without knowing latent values."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, Side, observe
from unmet.comparison._answers import leave_out_answers, leave_out_row_numbers
from unmet.comparison._cautions import (
    below_zero_caution,
    beyond_cautions,
    close_call,
    logarithm_caution,
    side_caution,
)
from unmet.comparison._columns import Encoded, encode, read_table
from unmet.comparison._comparison import Comparison
from unmet.comparison._folds import Held, Task, predict_held, split
from unmet.comparison._logarithm import logarithm_hint, logarithm_words, wants_logarithm
from unmet.comparison._measures import LOSS_NAMES, measure
from unmet.comparison._methods import LEVELS, METHODS, Method, why_not
from unmet.comparison._names import method_names, no_column
from unmet.comparison._paste import Used, fit_code
from unmet.comparison._recommend import make_lines, recommend, trusted
from unmet.comparison._target import choose_rows, read_target
from unmet.comparison._untold import untold_censoring

_TOLD = ("y", "threshold", "censored", "lower", "upper")
_FEWEST_ROWS = 50


def compare(
    X: Any,
    y: Any = None,
    *,
    threshold: Any = None,
    censored: Any = None,
    event: Any = None,
    lower: Any = None,
    upper: Any = None,
    side: Side = "right",
    features: Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
    quantiles: Sequence[float] = LEVELS,
    folds: int = 5,
    max_rows: int = 5_000,
    random_state: int = 0,
    n_jobs: int = 1,
    output: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: bool | Callable[[str], None] | None = None,
) -> Comparison:
    """Compare all methods that apply to censored rows, and recommend one.

    Every method is fitted `folds` times and predicts the rows that it did not see. Its loss is Powell's
    ρ_θ(y − min(cap, q̂)) for known thresholds, the tilted loss weighted by δ/Ĝ(y−) for flags, the log score
    for intervals, and the tilted loss where nothing is censored. The recommended method is the simplest whose
    loss is within one standard error of the lowest. Rows are assumed to be exchangeable: for time series the
    losses are too good.

    Parameters
    ----------
    X : frame, mapping of columns, path of a CSV or Parquet file, or array of shape (n, columns)
        Texts become groups; gaps in numbers are filled with the median and marked.
    y, threshold, censored, lower, upper
        As in `fit`; each may also be the name of a column of X, which is then no feature. A row without
        y, or with a gap in `threshold` or `censored`, is left out, and a note says so. A gap in `lower` or
        `upper` means no bound; in `threshold`, write ±inf for a row without one. Flags may be booleans, 1 and
        0, or the words true, false, t, f, yes, no, y and n in any case.
    event
        The opposite of `censored`: true where y was seen. Give one of the two.
    side : {"right", "left", "both"}
        As in `CensoredQuantileRegressor`.
    features : sequence of str, optional
        Columns to predict from; all others by default.
    methods : str or sequence of str, optional
        Names of `METHODS` to compare; all that apply by default. Case and kind of dash do not matter.
    quantiles : sequence of float
        Levels to predict, and over which losses are averaged.
    folds : int
    max_rows : int
        Of a larger table this many rows are drawn.
    random_state : int
        Draws rows and folds, and starts the methods.
    n_jobs : int
        Number of worker processes; −1 for one per core.
    output : path, optional
        Keep finished fits in this folder, so that an interrupted comparison goes on where it was.
    replace : bool
        Replace another comparison in that folder.
    progress : bool or callable, optional
        Show a progress bar. By default only in a terminal, when it takes long. A function is called with a
        line of text for each finished method instead.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import compare
    >>> random = np.random.default_rng(0)
    >>> x, cap = random.normal(size=200), 1 + random.normal(size=200)
    >>> y = np.minimum(x + random.normal(size=200), cap)
    >>> found = compare({"x": x}, y, threshold=cap, methods=["Tobit", "Kaplan–Meier"], folds=2)
    >>> found.recommended
    'Tobit'
    """
    from unmet.runs import available_cores

    source = read_table(X, [name for name in (censored, event) if isinstance(name, str)])
    columns = source.columns
    given = {
        "y": y,
        "threshold": threshold,
        "censored": censored,
        "event": event,
        "lower": lower,
        "upper": upper,
    }
    all_told, used = read_target(given, columns, side)
    rows, kept, notes = choose_rows(all_told, len(next(iter(columns.values()))), max_rows, random_state)
    told = {name: values[rows] for name, values in all_told.items()}
    if "censored" in told:
        told["censored"] = told["censored"] == 1
    observed = observe(side=side, **told)
    others = {name: values[rows] for name, values in columns.items() if name not in used}
    notes += untold_censoring(others, told, side)
    offered = _features(columns, features, used)
    if features is None:
        offered, numbered = leave_out_row_numbers(offered)
        offered = {name: values[rows] for name, values in offered.items()}
        offered, answers = leave_out_answers(offered, told.get("y"), observed.censored, told.get("threshold"))
        notes = [*notes, *numbered, *answers]
    else:
        offered = {name: values[rows] for name, values in offered.items()}
    table = encode(offered, features)
    skewed = wants_logarithm(table.X, observed)
    hints = [logarithm_hint(told, observed.kind)] if skewed else []
    _check_size(observed, folds, quantiles)
    chosen, left_out = _applying(table, observed, None if methods is None else method_names(methods))
    levels = tuple(sorted({*(float(level) for level in quantiles)}))
    fold = split(observed.censored, folds, random_state)
    tasks = {
        (method, number): Task(method, table.X, told, fold == number, levels, observed.side, random_state)
        for method in chosen
        for number in range(folds)
    }
    jobs = available_cores() if n_jobs == -1 else n_jobs
    held = dict(_predict(tasks, jobs, output, replace, progress))
    found, quantiles_of = {}, {}
    for method in chosen:
        parts = [held[method, number] for number in range(folds)]
        failed = [part.failure for part in parts if part.failure]
        if failed:
            left_out[method.name] = f"failed: {failed[0]}"
            continue
        predicted = np.empty((len(observed), len(levels)))
        for number, part in enumerate(parts):
            predicted[fold == number] = part.quantiles
        note = next((part.warning for part in parts if part.warning), "")
        seconds = float(np.median([part.seconds for part in parts]))
        found[method] = (measure(observed, predicted, levels), seconds, note)
        quantiles_of[method.name] = predicted
    if not found:
        raise ValueError(f"methods: none could be fitted; {next(iter(left_out.values()))}")
    lines = make_lines(found, "right" if "lower" in told else side, observed.side)
    asked = None if methods is None else len({*left_out, *(method.name for method in chosen)})
    weighted = observed.kind == "flags"
    name, sentence = recommend(lines, found, asked, weighted=weighted)
    used_one = next(method for method in chosen if method.name == name)
    cautions = side_caution(observed, censored, event)
    if skewed:
        cautions.append(logarithm_caution(used_one, quantiles_of[name], logarithm_words(told)))
    else:
        cautions += below_zero_caution(observed, quantiles_of[name])
    cautions += beyond_cautions(observed, quantiles_of[name], levels) + close_call(
        trusted(lines, found) if weighted else lines, name
    )
    compared = Used(X, source, given, all_told, side, kept, table.made_from, int(random_state))
    return Comparison(
        lines,
        name,
        sentence,
        left_out,
        (*notes, *table.notes, *hints),
        LOSS_NAMES[observed.kind],
        len(observed),
        table.names,
        float(observed.censored.mean()),
        levels,
        folds,
        fit_code(used_one, compared),
        tuple(cautions),
    )


def _features(
    columns: dict[str, NDArray[Any]], features: Sequence[str] | None, used: set[str]
) -> dict[str, NDArray[Any]]:
    if features is None:
        return {name: values for name, values in columns.items() if name not in used}
    for name in features:
        if name not in columns:
            raise ValueError(f"features: {name!r} {no_column(name, columns)}")
        if name in used:
            raise ValueError(f"features: {name!r} holds the target or its censoring: leave it out")
    return {name: columns[name] for name in features}


def _check_size(observed: Observed, folds: int, quantiles: Sequence[float]) -> None:
    if not isinstance(folds, int) or not 2 <= folds <= 20:
        raise ValueError(f"folds must be a whole number from 2 to 20, not {folds!r}")
    if not len(quantiles) or not all(0 < level < 1 for level in quantiles):
        raise ValueError(f"quantiles must lie strictly between 0 and 1, not {quantiles!r}")
    if len(observed) < _FEWEST_ROWS:
        raise ValueError(
            f"X has {len(observed)} rows that tell something of the target: at least {_FEWEST_ROWS} are "
            "needed to tell methods apart"
        )
    if observed.kind in ("flags", "known") and observed.censored.all():
        told = "censored" if observed.kind == "flags" else "threshold"
        raise ValueError(f"{told}: every row is censored, so that no method can be measured")


def _applying(
    table: Encoded, observed: Observed, names: Sequence[str] | None
) -> tuple[list[Method], dict[str, str]]:
    """Return the methods to compare, and why others are left out."""
    chosen, left_out = [], {}
    for method in METHODS if names is None else [m for m in METHODS if m.name in names]:
        reason = why_not(method, table.X, observed)
        if reason is None or (names is not None and reason.endswith("all the same")):
            chosen.append(method)
        else:
            left_out[method.name] = reason
    if not chosen:
        raise ValueError(f"methods: {', '.join(left_out)}: {next(iter(left_out.values()))}")
    return chosen, left_out


def _predict(
    tasks: dict[tuple[Method, int], Task],
    jobs: int,
    output: str | os.PathLike[str] | None,
    replace: bool,
    shown: bool | Callable[[str], None] | None,
) -> Iterator[tuple[tuple[Method, int], Held]]:
    """Yield the predictions of every task; those that the folder holds are not made again."""
    from unmet.runs import progress, run_shards

    left = Counter(method.name for method, _ in tasks)
    total = len(left)
    made: set[str] = set()

    def count(method: Method, *, new: bool = True) -> None:
        """Tell a caller who listens that all fits of a method are finished, or were before."""
        left[method.name] -= 1
        if new:
            made.add(method.name)
        if not left[method.name]:
            del left[method.name]
            if callable(shown):
                how = "is finished" if method.name in made else "was kept from before"
                shown(f"{method.name} {how}, {total - len(left)} of {total}")

    with progress(len(tasks), "compare", "fits", shown=False if callable(shown) else shown) as bar:
        if output is None:
            keys = list(tasks)
            for index, held in run_shards(predict_held, list(tasks.values()), jobs=jobs):
                bar.advance()
                count(keys[index][0])
                yield keys[index], held
            return
        from unmet.comparison._kept import Kept

        with Kept(output, _source(tasks), replace) as kept:
            missing = []
            for key in tasks:
                if (found := kept.find(*key)) is None:
                    missing.append(key)
                else:
                    bar.resume()
                    count(key[0], new=False)
                    yield key, found
            for index, held in run_shards(predict_held, [tasks[key] for key in missing], jobs=jobs):
                kept.keep(*missing[index], held)
                bar.advance()
                count(missing[index][0])
                yield missing[index], held


def _source(tasks: dict[tuple[Method, int], Task]) -> dict[str, Any]:
    """Return what all tasks share: words that say how a comparison differs from another, and a checksum."""
    some = next(iter(tasks.values()))
    found = hashlib.sha256(repr((some.levels, some.side, some.seed, some.X.shape)).encode())
    folds = [task.held for (method, _), task in tasks.items() if method is some.method]
    for part in (some.X, *folds, *(some.told[name] for name in _TOLD if name in some.told)):
        found.update(np.ascontiguousarray(part).tobytes())
    return {
        "target": " and ".join(name for name in _TOLD if name in some.told),
        "rows": len(some.X),
        "columns": some.X.shape[1],
        "side": some.side,
        "folds": len(folds),
        "seed": some.seed,
        "levels": ", ".join(f"{level:g}" for level in some.levels),
        "compare": found.hexdigest(),
    }
