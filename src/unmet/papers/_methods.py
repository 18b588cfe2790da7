"""All methods on data with known quantiles, beside other programs: which is best where?"""

import csv
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from unmet.papers._answers import Answer, Check, write_answer
from unmet.papers._cells import Cell, averaged
from unmet.papers._experiments import OTHER_NOISES, PAPER_NOISES
from unmet.papers._method_data import LEVELS, NONLINEAR, Case, draw
from unmet.papers._pieces import FOLDER, Log, file_name, finish_pieces
from unmet.papers._tables import Table

SHARES = (0.3, 0.6)
GROUPS = {
    "paper's noises": PAPER_NOISES,
    "other noises": (*OTHER_NOISES, "laplace"),
    "nonlinear": (NONLINEAR,),
}
# Seeds by number of rows.
SIZES = {
    "smoke": {300: range(300, 301)},
    "medium": {300: range(300, 305), 10_000: range(300, 301)},
    "full": {300: range(300, 320), 10_000: range(300, 320)},
}
# Other programs, run by benchmarks/outside_methods.py, which the file names with their versions.
OUTSIDE = "methods_outside.csv"
# In the place of a method: run none, and write the tables from what is finished.
NO_METHOD = "none"


def cases(size: str) -> list[Case]:
    """Return all draws, the small ones first."""
    noises = [noise for group in GROUPS.values() for noise in group]
    if size == "smoke":
        noises = ["gaussian", NONLINEAR]
    return [
        Case(noise, rows, share, seed)
        for rows, seeds in SIZES[size].items()
        for seed in seeds
        for share in SHARES
        for noise in noises
    ]


def run_method(case: Case, name: str) -> float | None:
    """Return the mean absolute error of the quantiles of one method; None if it does not apply."""
    import warnings

    from unmet.censoring import observe
    from unmet.comparison import METHODS, predict_reached, why_not

    (method,) = (method for method in METHODS if method.name == name)
    drawn = draw(case)
    if why_not(method, drawn.X, observe(drawn.y, threshold=drawn.cap)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method.make(LEVELS, "right", case.seed)
        model.fit(drawn.X, drawn.y, threshold=drawn.cap)
        predicted = predict_reached(model, drawn.test, LEVELS)
    return float(np.abs(predicted - drawn.truth).mean())


def compare_methods(folder: Path, *, size: str, jobs: int, only: Sequence[str] = ()) -> Answer:
    """Run what is missing, and write methods.md, .csv and .json.

    With `only`, a method is run only if it is named, and the others are shown as far as the folder holds
    them, whichever version of the code they are from: a new method does not run the old ones again.
    """
    from unmet.comparison import METHODS

    names = [method.name for method in METHODS]
    if unknown := [name for name in only if name not in (*names, NO_METHOD)]:
        raise ValueError(
            f"there is no method {unknown[0]!r}: --only takes {', '.join(names)}, or {NO_METHOD!r} to "
            "write the tables from what is finished"
        )
    pieces = {_file(case, name): (case, name) for case in cases(size) for name in names}
    home = folder / "runs" / "methods"
    wanted = {file: piece for file, piece in pieces.items() if not only or piece[1] in only}
    if wanted:  # tables of what is finished can be written while a run goes on
        _finish(home, wanted, jobs)
    errors: dict[Case, dict[str, float]] = {}
    for file, (case, name) in pieces.items():
        path = home / FOLDER / file
        found = json.loads(path.read_bytes()) if path.exists() else None
        if found is not None:
            errors.setdefault(case, {})[name] = found
    for case, outside in read_outside().items():
        if case in errors:
            errors[case].update(outside)
    tables = [tabulate(errors, rows, share) for rows in _sizes(errors) for share in SHARES]
    tables = [table for table in tables if table.lines]
    checks = check(errors)
    before = (
        "Mean absolute error of the quantiles .05, .50 and .95 against the truth, on 1,000 new rows: mean "
        "over the data sets of a group, ± standard error over seeds. All methods know the cap of every row. "
        "Programs in italics are not ours: LightGBM and quantile-forest know nothing of the censoring, "
        "XGBoost's AFT takes the rows as intervals, R's crq the flags. A dash: the method does not "
        "apply, takes too long, or has not been run."
    )
    write_answer(folder, "methods", tables, checks, before=before, cells=to_cells(errors))
    return Answer("Methods compared", ("methods",), tables, checks)


def _file(case: Case, method: str) -> str:
    return f"{case.name}-{file_name(method)}.json"


def _finish(home: Path, pieces: dict[str, tuple[Case, str]], jobs: int) -> None:
    """Run the pieces that are missing, each a draw and a method."""
    from unmet.runs import available_cores, progress, run_shards

    workers = available_cores() if jobs == -1 else jobs

    def missing(files: list[str], log: Log) -> Iterator[tuple[str, bytes]]:
        with progress(len(pieces), "methods", "fits") as bar:
            bar.resume(len(pieces) - len(files))
            shards = [pieces[file] for file in files]
            for index, found in run_shards(_run_piece, shards, jobs=workers):
                yield files[index], json.dumps(found).encode()
                bar.advance()

    finish_pieces(home, {"experiment": "methods"}, list(pieces), missing)


def _run_piece(piece: tuple[Case, str]) -> float | None:
    return run_method(*piece)


def _sizes(errors: dict[Case, dict[str, float]]) -> list[int]:
    return sorted({case.rows for case in errors})


def read_outside() -> dict[Case, dict[str, float]]:
    """Return the stored errors of other programs."""
    text = files("unmet.papers").joinpath(OUTSIDE).read_text(encoding="utf-8")
    found: dict[Case, dict[str, float]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        case = Case(row["data"], int(row["rows"]), float(row["share"]), int(row["seed"]))
        found.setdefault(case, {})[f"*{row['program']}*"] = float(row["error"])
    return found


def group_means(
    errors: dict[Case, dict[str, float]], method: str, rows: int, share: float, group: Sequence[str]
) -> list[float]:
    """Return the mean error over the data sets of a group, one per seed; seeds that lack one are left out."""
    seeds = sorted({case.seed for case in errors if case.rows == rows})
    found = []
    for seed in seeds:
        values = [errors.get(Case(data, rows, share, seed), {}).get(method) for data in group]
        present = [value for value in values if value is not None]
        if len(present) == len(values):
            found.append(float(np.mean(present)))
    return found


def tabulate(errors: dict[Case, dict[str, float]], rows: int, share: float) -> Table:
    """Return one line per method; the lowest error of each column is bold."""
    names = list(dict.fromkeys(name for found in errors.values() for name in found))
    means = {
        name: [group_means(errors, name, rows, share, group) for group in GROUPS.values()] for name in names
    }
    seeds = [len(values) for found in means.values() for values in found if values]
    title = f"{rows:,} rows, {share:.0%} censored, {_count(seeds)}"
    best = [min((np.mean(v[k]) for v in means.values() if v[k]), default=np.inf) for k in range(len(GROUPS))]
    lines = [
        (name, *(_show(values, float(best[k])) for k, values in enumerate(found)))
        for name, found in means.items()
        if any(found)
    ]
    return Table(title, ("method", *GROUPS), tuple(lines), 1)


def _count(seeds: list[int]) -> str:
    """Return the number of seeds in words; if methods differ, the fewest and the most."""
    if not seeds:
        return "no seed"
    fewest, most = min(seeds), max(seeds)
    count = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{count} seed" if most == 1 else f"{count} seeds"


def _show(values: list[float], best: float) -> str:
    if not values:
        return "–"
    mean = float(np.mean(values))
    text = f"{mean:.3f}" if mean > best else f"**{mean:.3f}**"
    if len(values) > 1:
        text += f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"
    return text


def check(errors: dict[Case, dict[str, float]]) -> list[Check]:
    """Compare each of our methods with the program of its kind, over all data sets and sizes."""
    pairs = (
        ("booster", "*LightGBM, unaware*"),
        ("forest", "*quantile-forest, unaware*"),
        ("booster", "*XGBoost AFT*"),
        ("MLP", "*XGBoost AFT*"),
        ("Portnoy", "*crq, Portnoy*"),
        ("Peng–Huang", "*crq, Peng–Huang*"),
    )
    found = []
    for ours, theirs in pairs:
        both = [(one[ours], one[theirs]) for one in errors.values() if ours in one and theirs in one]
        if both:
            logs = np.log([mine / other for mine, other in both])
            ratio = float(np.exp(logs.mean()))
            wide = float(ratio * logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else 0.0
            words = f"{ratio:.3f} ± {wide:.3f} over {len(both)} draws"
            found.append(Check(f"{ours} / {theirs.strip('*')}, geometric mean: at most 1", words, ratio <= 1))
    return found


def to_cells(errors: dict[Case, dict[str, float]]) -> list[Cell]:
    """Return one cell per data set, size, share and method: mean and standard deviation over seeds."""
    grouped: dict[tuple[Any, ...], list[float]] = {}
    for case, found in errors.items():
        block = f"{case.rows:,} rows, {case.share:.0%} censored"
        for name, error in found.items():
            grouped.setdefault((block, case.data, name.strip("*")), []).append(error)
    return [
        averaged(("methods", block, data, name, "", "all", "exact", "MAE"), values)
        for (block, data, name), values in grouped.items()
    ]
