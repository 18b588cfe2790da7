"""Kernel and local methods where the truth is known: curves in one column, surfaces in two.

    python -m benchmarks.kernels [--seeds 10] [--first 0] [--write docs/results/kernels.md]

Mean absolute error of the quantiles .1, .5 and .9 against the truth on 1,000 new rows, from 500 rows of which
30% are cut off at known random caps.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

import unmet
from unmet.runs import progress

ROWS, TEST, SHARE, LEVELS = 500, 1_000, 0.3, (0.1, 0.5, 0.9)
METHODS = {
    "default (linear)": ("CensoredQuantileRegressor", {}),
    "MLP": ("CensoredQuantileRegressor", {"network": "mlp"}),
    "kernel": ("CensoredQuantileRegressor", {"network": "kernel"}),
    "local linear": ("LocalLinearCensoredQuantiles", {}),
    "local linear, ipcw": ("LocalLinearCensoredQuantiles", {"method": "ipcw"}),
    "forest": ("CensoredQuantileForest", {}),
}


def sine(x: Any) -> tuple[Any, Any]:
    return np.sin(2 * x[:, 0]), 0.3 + 0.2 * np.abs(x[:, 0])


def bump(x: Any) -> tuple[Any, Any]:
    return 0.5 * x[:, 0] + 2 * np.exp(-8 * np.square(x[:, 0])), np.full(len(x), 0.4)


def saddle(x: Any) -> tuple[Any, Any]:
    return x[:, 0] * x[:, 1], 0.3 + 0.1 * (x[:, 0] + 2)


def waves(x: Any) -> tuple[Any, Any]:
    return np.sin(2 * x[:, 0]) + np.cos(1.5 * x[:, 1]), 0.3 * np.exp(0.3 * x[:, 1])


SETS = {"sine": (sine, 1), "bump": (bump, 1), "saddle": (saddle, 2), "waves": (waves, 2)}


def draw(name: str, seed: int) -> tuple[Any, ...]:
    """Return X, y, caps, new rows and their true quantiles."""
    curve, columns = SETS[name]
    random = np.random.default_rng([seed, list(SETS).index(name)])
    X = random.uniform(-2, 2, (ROWS + TEST, columns))
    middle, spread = curve(X)
    latent = (middle + spread * random.normal(size=len(X)))[:ROWS]
    truth = (middle[:, None] + spread[:, None] * ndtri(LEVELS))[ROWS:]
    cap = random.normal(0.0, np.std(latent), ROWS)
    cap += np.quantile(latent - cap, 1 - SHARE)
    return X[:ROWS], np.minimum(latent, cap), cap, X[ROWS:], truth


def error(method: str, name: str, seed: int) -> tuple[float, float]:
    """Return the mean absolute error and the seconds of one fit and prediction."""
    X, y, cap, new, truth = draw(name, seed)
    kind, settings = METHODS[method]
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(unmet, kind)(quantiles=LEVELS, random_state=seed, **settings)
        found = model.fit(X, y, threshold=cap).predict_quantiles(new)
    return float(np.abs(found - truth).mean()), time.perf_counter() - begun


def table(methods: list[str], seeds: range) -> str:
    errors: dict[tuple[str, str], list[float]] = {}
    seconds: dict[str, list[float]] = {}
    with progress(len(methods) * len(SETS) * len(seeds), "kernels", "fits") as bar:
        for method in methods:
            for name in SETS:
                for seed in seeds:
                    found, took = error(method, name, seed)
                    errors.setdefault((method, name), []).append(found)
                    seconds.setdefault(method, []).append(took)
                    bar.advance()
    best = {name: min(np.mean(errors[method, name]) for method in methods) for name in SETS}
    heads = " | ".join(f"{name} ({columns})" for name, (_, columns) in SETS.items())
    lines = [f"| method | {heads} | seconds |", "|---|" + "---:|" * (len(SETS) + 1)]
    for method in methods:
        cells = []
        for name in SETS:
            values = np.array(errors[method, name])
            text = f"{values.mean():.3f}"
            text = f"**{text}**" if values.mean() == best[name] else text
            cells.append(f"{text} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}")
        lines.append(f"| {method} | {' | '.join(cells)} | {np.median(seconds[method]):.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--write", type=Path, help="put the table between the marks of this page")
    options = parser.parse_args()
    text = table(options.methods, range(options.first, options.first + options.seeds))
    print(text)
    if options.write is not None:
        page = options.write.read_text(encoding="utf-8")
        before, rest = page.split("<!-- kernels -->\n")
        after = rest.split("<!-- /kernels -->")[1]
        page = f"{before}<!-- kernels -->\n\n{text}\n\n<!-- /kernels -->{after}"
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
