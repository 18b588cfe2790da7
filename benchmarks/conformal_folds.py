"""What do folds of Conformal cost and gain? Coverage and loss on simulated rows, beside the split.

    python -m benchmarks.conformal_folds [--draws 5] [--rows 1000 2000] [--methods tobit forest network]

Two designs with known latent values: curves with known thresholds (28% censored), and lines told by flags
(65%). Each draw fits `Conformal` with the split and with five folds, and asks 5,000 new rows: the share of
latent values at or above the 90% lower bound and inside the 90% interval, the share of intervals without an
upper end, the mean tilted loss of the deciles, and processor time. Folds over split and standard errors are
those of pairs of fits to the same rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

LEVELS = np.arange(1, 10) / 10
FOLDS = 5


def curves(rows: int, random: np.random.Generator) -> tuple[Any, Any, Any]:
    X = random.uniform(size=(rows, 3))
    latent = np.sin(4 * X[:, 0]) + X[:, 1] + (0.3 + 0.5 * X[:, 2]) * random.normal(size=rows)
    return X, latent, 0.2 + 0.5 * X[:, 1] + random.exponential(1.5, size=rows)


def lines(rows: int, random: np.random.Generator) -> tuple[Any, Any, Any]:
    X = random.normal(size=(rows, 5))
    latent = X @ [0.8, -0.5, 0.3, 0, 0] + 0.8 * random.gumbel(size=rows)
    return X, latent, 0.3 * X[:, 0] - 0.3 + 0.9 * random.logistic(size=rows)


def measure(inner: Any, folds: int | None, design: Any, rows: int, draw: int) -> list[float]:
    """Return shares held by bound and interval, share of open intervals, loss, and CPU seconds."""
    from unmet import Conformal
    from unmet.losses import tilted_loss

    kind = 2 if design is lines else 1
    X, latent, cut = design(rows, np.random.default_rng([1_000 + draw, kind]))
    new, truth, _ = design(5_000, np.random.default_rng([900_000 + draw, kind]))
    told = {"censored": latent > cut} if design is lines else {"threshold": cut}
    began = time.process_time()
    model = Conformal(inner, folds=folds, random_state=draw).fit(X, np.minimum(latent, cut), **told)
    spent = time.process_time() - began
    low, high = model.predict_interval(new).T
    return [
        float((truth >= model.predict_lower(new)).mean()),
        float(((low <= truth) & (truth <= high)).mean()),
        float(np.isinf(high).mean()),
        float(tilted_loss(truth[:, None], model.predict_quantiles(new, LEVELS), LEVELS).mean()),
        spent,
    ]


def say(values: Any) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.4f} ± {error:.4f}"


def main() -> None:
    from unmet import CensoredQuantileForest, CensoredQuantileRegressor, TobitRegressor

    made = {
        "tobit": TobitRegressor(random_state=0),
        "forest": CensoredQuantileForest(random_state=0),
        "network": CensoredQuantileRegressor(network="mlp", random_state=0),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--methods", nargs="+", choices=made, default=list(made))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.methods:
        for design in (curves, lines):
            for rows in given.rows:
                found = np.array(
                    [
                        [measure(made[name], folds, design, rows, draw) for folds in (None, FOLDS)]
                        for draw in range(given.draws)
                    ]
                )
                print(f"{name}, {design.__name__}, {rows} rows")
                for place, what in enumerate(("lower", "inside", "open", "loss", "CPU s")):
                    print(f"  {what:7} split {say(found[:, 0, place])}   folds {say(found[:, 1, place])}")
                print(f"  loss of folds / split {say(found[:, 1, 3] / found[:, 0, 3])}", flush=True)


if __name__ == "__main__":
    main()
