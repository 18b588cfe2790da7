"""`python -m benchmarks.shapes.large [--rows N …]`: one fit of a table of each size, beside rivals.

Every contender gets a fresh process on one core: CPU seconds and peak memory of the fit alone, and the mean
error of the quantiles .05, .5 and .95 against the truth. A third of the rows is censored; the rivals know
nothing of it, so their errors say what ignoring it costs. From a million rows on the table is a float32
file that is mapped into memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shapes.designs import LEVELS, TEST_ROWS, Design, Floats, _growing, _line

SIZES = {1_000: 3, 100_000: 20, 1_000_000: 20, 10_000_000: 20}
CONTENDERS = ("ours", "lightgbm", "sklearn")
# Scikit-learn's linear programme takes hours and many gigabytes beyond this.
MOST_FOR_SKLEARN = 10_000
# Rows from which a table is float32 and mapped.
MAPPED = 1_000_000
_BLOCK = 250_000


def make(folder: Path, rows: int, columns: int, seed: int) -> None:
    """Write X, y and cap, and test rows with their true quantiles, block by block."""
    random = np.random.default_rng([seed, rows])
    kind = np.float32 if rows >= MAPPED else np.float64
    design = Design(rows, columns, _line, _growing)
    shapes = {"X": (rows, columns), "y": (rows,), "cap": (rows,)}
    files = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=kind, shape=shape)
        for name, shape in shapes.items()
    }
    for begin in range(0, rows, _BLOCK):
        part = slice(begin, min(begin + _BLOCK, rows))
        X = random.normal(size=(part.stop - begin, columns)).astype(kind)
        latent = design.middle(X) + design.spread(X) * random.normal(size=len(X))
        cap = (0.8 + 1.5 * random.normal(size=len(X))).astype(kind)
        files["X"][part], files["cap"][part] = X, cap
        files["y"][part] = np.minimum(latent.astype(kind), cap)
    for array in files.values():
        array.flush()
    test = random.normal(size=(TEST_ROWS, columns))
    from scipy.special import ndtri

    np.save(folder / "test.npy", test)
    np.save(folder / "truth.npy", design.middle(test)[:, None] + design.spread(test)[:, None] * ndtri(LEVELS))


def ours(X: Any, y: Any, cap: Any, test: Floats, settings: dict[str, Any]) -> Floats:
    from unmet import CensoredQuantileRegressor

    model = CensoredQuantileRegressor(quantiles=LEVELS, random_state=0, progress=False, **settings)
    return model.fit(X, y, threshold=cap).predict_quantiles(test)


def lightgbm(X: Any, y: Any, cap: Any, test: Floats, settings: dict[str, Any]) -> Floats:
    from lightgbm import LGBMRegressor

    fitted = (LGBMRegressor(objective="quantile", alpha=a, n_jobs=1, verbosity=-1).fit(X, y) for a in LEVELS)
    return np.column_stack([model.booster_.predict(test) for model in fitted])


def sklearn(X: Any, y: Any, cap: Any, test: Floats, settings: dict[str, Any]) -> Floats:
    from sklearn.linear_model import QuantileRegressor

    return np.column_stack([QuantileRegressor(quantile=a, alpha=0.0).fit(X, y).predict(test) for a in LEVELS])


def perform(name: str, folder: Path, settings: dict[str, Any]) -> dict[str, float]:
    """Fit in this process, once its packages are imported. A program that was never compiled is compiled."""
    mode = "r" if np.load(folder / "y.npy", mmap_mode="r").dtype == np.float32 else None
    X, y, cap = (np.load(folder / f"{part}.npy", mmap_mode=mode) for part in ("X", "y", "cap"))
    test, truth = np.load(folder / "test.npy"), np.load(folder / "truth.npy")
    import_module({"ours": "unmet", "lightgbm": "lightgbm", "sklearn": "sklearn.linear_model"}[name])
    if name == "ours":
        from unmet import CensoredQuantileRegressor  # noqa: F401
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    found = globals()[name](X, y, cap, test, settings)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    error = float(np.abs(found - truth).mean())
    more = (after.ru_maxrss - before.ru_maxrss) / 1024
    return {"cpu": busy, "wall": wall, "peak_mb": after.ru_maxrss / 1024, "grown_mb": more, "error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", type=int, choices=list(SIZES), default=list(SIZES)[:3])
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=JSON", help="settings of ours")
    parser.add_argument("--contender", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    settings = {name: json.loads(text) for name, text in (item.split("=", 1) for item in given.set)}
    if given.contender:
        name, folder = given.contender
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
        print(json.dumps(perform(name, Path(folder), settings)))
        return
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), rows, SIZES[rows], given.seed)
            for name in given.only:
                if name == "sklearn" and rows > MOST_FOR_SKLEARN:
                    continue
                command = [sys.executable, "-m", "benchmarks.shapes.large", "--contender", name, folder]
                done = subprocess.run([*command, "--set", *given.set], capture_output=True, text=True)
                if done.returncode:
                    print(f"{rows:>10,} × {SIZES[rows]:<3} {name:9} failed: {done.stderr.splitlines()[-1]}")
                    continue
                a = json.loads(done.stdout.splitlines()[-1])
                cost = f"{a['cpu']:8.2f} s of CPU, peak {a['peak_mb']:7,.0f} MB (+{a['grown_mb']:,.0f})"
                print(f"{rows:>10,} × {SIZES[rows]:<3} {name:9} {cost}, error {a['error']:.4f}", flush=True)


if __name__ == "__main__":
    main()
