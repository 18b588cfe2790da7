"""Do deciles hold on real survival data? Network, forest and booster, with and without the conformal layer.

    python benchmarks/survival_deciles.py --export DIR     # in an environment with SurvSet: writes the tables
    python benchmarks/survival_deciles.py --data DIR [--only SET …] [--splits 10] [--folds 5]

Each split draws 2,000 rows to fit and calibrate, fewer where that leaves less than 1,000, and 1,000 to
2,000 to test. A decile counts as held if an equivalence test over the splits at the 5% level finds its share
of the test rows within .10 ± .02. Rows at a step of their predicted distribution are spread over it; the
columns "upper" count them at its upper end. The loss is the weighted tilted loss up to the last value that a
tenth of the rows could show. "As fitted" is the method fitted to half of the rows to fit and calibrate; with
--folds, to all of them.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# All of SurvSet that leave 1,000 rows to test and as many to fit, with one row for each subject. Beside them
# scikit-survival has flchain again, and lifelines none of that size.
SETS = (
    "support2",
    "flchain",
    "Framingham",
    "rhc",
    "dataDIVAT1",
    "UnempDur",
    "acath",
    "divorce",
    "Dialysis",
    "nwtco",
    "smarto",
    "dataDIVAT3",
    "prostateSurvival",
    "hdfail",
    "rott2",
    "Aids2",
)
LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))
MOST_TRAIN, LEAST_TEST, MOST_TEST = 2_000, 1_000, 2_000


def export(folder: Path) -> None:
    from SurvSet.data import SurvLoader

    folder.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        SurvLoader().load_dataset(ds_name=name)["df"].to_csv(folder / f"{name}.csv", index=False)


def read(path: Path) -> tuple[Any, Any, Any]:
    """Return columns as numbers, the logarithm of the time, and which rows are censored."""
    from unmet.comparison._columns import encode
    from unmet.tables import read_any

    columns = read_any(path).columns
    columns.pop("pid", None)
    y, seen = np.log(columns.pop("time").astype(float) + 1e-3), columns.pop("event").astype(bool)
    return encode(columns, None).X, y, ~seen


def measure(y: Any, flags: Any, quantiles: Any, levels: Any) -> tuple[Any, Any, float]:
    """Return the share of the rows in each tenth, the same with rows at the upper end of steps, the loss."""
    from unmet.censoring import observe
    from unmet.comparison._measures import row_losses
    from unmet.metrics import calibration_shares, predicted_levels

    place = predicted_levels(y, quantiles, levels)
    before = predicted_levels(y, quantiles, levels, before=True)
    shares = calibration_shares(place, flags, before=before)
    return (
        shares,
        calibration_shares(place, flags),
        float(row_losses(observe(y, censored=flags), quantiles, tuple(levels)).mean()),
    )


def held(shares: Any) -> int:
    """Count the tenths whose share lies in .10 ± .02 by two one-sided t-tests over the splits."""
    from scipy.special import stdtrit

    splits = len(shares)
    mean, error = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(splits)
    reach = stdtrit(splits - 1, 0.95) * error
    return int(((mean - reach > 0.08) & (mean + reach < 0.12)).sum())


def run(path: Path, splits: int, methods: list[str], folds: int | None) -> Iterator[tuple[Any, ...]]:
    """Yield one line per method."""
    from unmet import CensoredQuantileBooster, CensoredQuantileForest, CensoredQuantileRegressor, Conformal
    from unmet.comparison._methods import KaplanMeier

    X, y, flags = read(path)
    rows = min(MOST_TRAIN, len(y) - LEAST_TEST)
    made = {
        "network": CensoredQuantileRegressor(network="mlp", random_state=0),
        "forest": CensoredQuantileForest(random_state=0),
        "booster": CensoredQuantileBooster(random_state=0),
    }
    for name in methods:
        began = time.process_time()
        shares: dict[str, list[Any]] = {"as fitted": [], "conformal": []}
        upper: dict[str, list[Any]] = {"as fitted": [], "conformal": []}
        losses: dict[str, list[float]] = {"as fitted": [], "conformal": [], "Kaplan–Meier": []}
        for split in range(splits):
            order = np.random.default_rng([split, 3]).permutation(len(y))
            train, test = order[:rows], order[rows : rows + MOST_TEST]
            model = Conformal(made[name], censoring="kaplan-meier", folds=folds, random_state=split)
            model.fit(X[train], y[train], censored=flags[train])
            none = KaplanMeier(LEVELS, "right").fit(X[train], y[train], censored=flags[train])
            predicted = {
                "as fitted": model.estimator_.predict_quantiles(X[test], LEVELS),
                "conformal": model.predict_quantiles(X[test], LEVELS),
                "Kaplan–Meier": none.predict_quantiles(X[test]),
            }
            for how, quantiles in predicted.items():
                share, share_upper, loss = measure(y[test], flags[test], quantiles, LEVELS)
                losses[how].append(loss)
                if how in shares:
                    shares[how].append(share)
                    upper[how].append(share_upper)
        mean = {how: np.mean(values) for how, values in losses.items()}
        worst = {how: np.abs(np.mean(values, axis=0) - 0.1).max() for how, values in shares.items()}
        yield (
            path.stem,
            name,
            splits,
            min(len(y) - rows, MOST_TEST),
            f"{flags.mean():.2f}",
            held(np.array(shares["as fitted"])),
            held(np.array(shares["conformal"])),
            f"{worst['as fitted']:.3f}",
            f"{worst['conformal']:.3f}",
            f"{mean['conformal'] / mean['Kaplan–Meier']:.3f}",
            f"{mean['conformal'] / mean['as fitted']:.4f}",
            held(np.array(upper["as fitted"])),
            held(np.array(upper["conformal"])),
            f"{time.process_time() - began:.0f}",
        )


HEAD = (
    *("set", "method", "splits", "test rows", "censored", "held as fitted", "held", "worst as fitted"),
    *("worst", "loss / Kaplan–Meier", "loss / as fitted", "upper as fitted", "upper", "CPU s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", default=["network", "forest", "booster"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--folds", type=int)
    given = parser.parse_args()
    if given.export:
        export(given.export)
        return
    warnings.simplefilter("ignore")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(HEAD)
    for name in given.only:
        for line in run(given.data / f"{name}.csv", given.splits, given.methods, given.folds):
            table.writerow(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
