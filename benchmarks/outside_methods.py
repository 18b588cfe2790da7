"""Errors of programs that are not ours on the data of `unmet paper methods`.

Run in an environment with this package, lightgbm, quantile-forest and xgboost-cpu:

    python benchmarks/outside_methods.py --seeds 20 --large 20

R's crq runs too if `R` is on the path and has quantreg. Errors go to src/unmet/papers/methods_outside.csv;
a second run goes on where the first was interrupted. All of it takes three hours of one core, half of them
for the Peng–Huang of crq: `--program` runs one of them only.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

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


_CRQ = """
suppressMessages({library(quantreg); library(survival)})
rows <- read.csv("rows.csv")
fit <- crq(Surv(y, seen, type = "right") ~ ., data = rows, method = METHOD)
reached <- range(fit$sol["tau", is.finite(colSums(fit$sol)) & apply(abs(fit$sol), 2, max) < 1e6])
asked <- pmin(pmax(c(LEVELS), reached[1] + 1e-9), reached[2] - 1e-9)
write.csv(as.matrix(coef(fit, taus = asked)), "coefficients.csv")
"""


def crq(method: str) -> Callable[[Drawn], Floats]:
    """Return quantreg's crq. A level that it does not reach takes the nearest that it does, as ours do.

    The last level of its Peng–Huang process may have coefficients of 1e10: it does not count as reached.
    """

    def fit(drawn: Drawn) -> Floats:
        table = np.column_stack([drawn.X, drawn.y, ~drawn.censored])
        names = [f"x{column}" for column in range(drawn.X.shape[1])]
        levels = ", ".join(f"{level:g}" for level in LEVELS)
        script = _CRQ.replace("METHOD", repr(method)).replace("LEVELS", levels)
        with TemporaryDirectory() as folder:
            head = ",".join([*names, "y", "seen"])
            np.savetxt(f"{folder}/rows.csv", table, delimiter=",", header=head, comments="", fmt="%.17g")
            command = ["R", "--vanilla", "--slave", "-e", script]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            try:
                found = np.genfromtxt(f"{folder}/coefficients.csv", delimiter=",", skip_header=1)[:, 1:]
            except OSError:
                raise RuntimeError(done.stderr) from None
        return found[0] + drawn.test @ found[1:]

    return fit


PROGRAMS: dict[str, Callable[[Drawn], Floats]] = {
    "LightGBM, unaware": lightgbm,
    "quantile-forest, unaware": quantile_forest,
    "XGBoost AFT": xgboost_aft,
}
if which("R"):
    PROGRAMS |= {"crq, Portnoy": crq("Portnoy"), "crq, Peng–Huang": crq("PengHuang")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="seeds of 300 rows")
    parser.add_argument("--large", type=int, default=20, help="seeds of 10,000 rows")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="run only this one; repeatable")
    parser.add_argument("--seconds", type=float, default=420.0, help="stop after this long")
    given = parser.parse_args()
    began = time.monotonic()
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
                    for name in given.program or PROGRAMS:
                        key = (name, noise, str(rows), f"{share:g}", str(seed))
                        if key in known or time.monotonic() - began > given.seconds:
                            continue
                        error = np.abs(PROGRAMS[name](drawn) - drawn.truth).mean()
                        known[key] = f"{error:.6g}"
                    write(known)


def write(known: dict[tuple[str, ...], str]) -> None:
    text = io.StringIO()
    packages = ("lightgbm", "quantile-forest", "xgboost-cpu", "numpy")
    text.write("# Errors of programs that are not ours, by benchmarks/outside_methods.py.\n")
    versions = [f"{name} {version(name)}" for name in packages]
    text.write("# " + ", ".join([*versions, "R 4.2.2 with quantreg 5.94"]) + "\n")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(FIELDS)
    table.writerows((*key, error) for key, error in known.items())
    TARGET.write_text(text.getvalue())


if __name__ == "__main__":
    main()
