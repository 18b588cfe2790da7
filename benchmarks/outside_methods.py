"""Errors of programs that are not ours on the data of `unmet paper methods`.

Run in an environment with this package, lightgbm, quantile-forest and xgboost-cpu:

    python benchmarks/outside_methods.py --seeds 20 --large 1

It writes src/unmet/papers/methods_outside.csv, and goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import csv
import io
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from unmet.papers._method_data import LEVELS, Case, Drawn, Floats, draw
from unmet.papers._methods import GROUPS, OUTSIDE, SHARES

TARGET = Path(__file__).parents[1] / "src" / "unmet" / "papers" / OUTSIDE
FIELDS = ("program", "data", "rows", "share", "seed", "error")


def lightgbm(drawn: Drawn) -> Floats:
    """Boost one model per level, with LightGBM's defaults, stopped on a fifth of the rows."""
    import lightgbm as lgb

    held = np.arange(len(drawn.y)) % 5 == 0
    columns = []
    for level in LEVELS:
        model = lgb.LGBMRegressor(
            objective="quantile", alpha=level, n_estimators=500, learning_rate=0.05, verbose=-1, n_jobs=1
        )
        stop = [lgb.early_stopping(30, verbose=False)]
        model.fit(drawn.X[~held], drawn.y[~held], eval_X=drawn.X[held], eval_y=drawn.y[held], callbacks=stop)
        columns.append(model.predict(drawn.test))
    return np.stack(columns, axis=1)


def quantile_forest(drawn: Drawn) -> Floats:
    from quantile_forest import RandomForestQuantileRegressor

    model = RandomForestQuantileRegressor(n_estimators=200, min_samples_leaf=8, random_state=0, n_jobs=1)
    return np.asarray(model.fit(drawn.X, drawn.y).predict(drawn.test, quantiles=list(LEVELS)))


def xgboost_aft(drawn: Drawn) -> Floats:
    """Boost normal errors on exp(y); its scale is the best of five on a fifth of the rows."""
    import xgboost as xgb

    shift, unit = drawn.y.mean(), drawn.y.std()
    lower = np.exp((drawn.y - shift) / unit)
    upper = np.where(drawn.censored, np.inf, lower)
    held = np.arange(len(lower)) % 5 == 0
    parts = []
    for rows in (~held, held):
        part = xgb.DMatrix(drawn.X[rows])
        part.set_float_info("label_lower_bound", lower[rows])
        part.set_float_info("label_upper_bound", upper[rows])
        parts.append(part)
    found = []
    for scale in (0.3, 0.45, 0.6, 0.8, 1.1):
        settings = {
            "objective": "survival:aft",
            "eval_metric": "aft-nloglik",
            "aft_loss_distribution": "normal",
            "aft_loss_distribution_scale": scale,
            "eta": 0.05,
            "max_depth": 4,
            "nthread": 1,
            "verbosity": 0,
        }
        stopping = {"evals": [(parts[1], "held")], "early_stopping_rounds": 30, "verbose_eval": False}
        model = xgb.train(settings, parts[0], 1000, **stopping)
        found.append((model.best_score, scale, model))
    _, scale, model = min(found, key=lambda one: one[0])
    best = (0, model.best_iteration + 1)
    middle = np.log(model.predict(xgb.DMatrix(drawn.test), iteration_range=best))
    return shift + unit * (middle[:, None] + scale * ndtri(LEVELS))


PROGRAMS: dict[str, Callable[[Drawn], Floats]] = {
    "LightGBM, unaware": lightgbm,
    "quantile-forest, unaware": quantile_forest,
    "XGBoost AFT": xgboost_aft,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="seeds of 300 rows")
    parser.add_argument("--large", type=int, default=20, help="seeds of 10,000 rows")
    parser.add_argument("--seconds", type=float, default=420.0, help="stop after this much CPU time")
    given = parser.parse_args()
    known: dict[tuple[str, ...], str] = {}
    if TARGET.exists():
        lines = [line for line in TARGET.read_text().splitlines() if not line.startswith("#")]
        for row in csv.DictReader(lines):
            known[tuple(row[name] for name in FIELDS[:-1])] = row["error"]
    noises = [noise for group in GROUPS.values() for noise in group]
    for rows, seeds in ((300, given.seeds), (10_000, given.large)):
        for seed in range(300, 300 + seeds):
            for share in SHARES:
                for noise in noises:
                    case = Case(noise, rows, share, seed)
                    drawn = draw(case)
                    for name, fit in PROGRAMS.items():
                        key = (name, noise, str(rows), f"{share:g}", str(seed))
                        if key not in known and time.process_time() < given.seconds:
                            error = np.abs(fit(drawn) - drawn.truth).mean()
                            known[key] = f"{error:.6g}"
                    write(known)


def write(known: dict[tuple[str, ...], str]) -> None:
    text = io.StringIO()
    packages = ("lightgbm", "quantile-forest", "xgboost-cpu", "numpy")
    text.write("# Errors of programs that are not ours, by benchmarks/outside_methods.py.\n")
    text.write("# " + ", ".join(f"{name} {version(name)}" for name in packages) + "\n")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(FIELDS)
    table.writerows((*key, error) for key, error in known.items())
    TARGET.write_text(text.getvalue())


if __name__ == "__main__":
    main()
