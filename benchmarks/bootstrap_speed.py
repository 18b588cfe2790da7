"""python benchmarks/bootstrap_speed.py [--draws 1000] [--jobs 2] [--method portnoy]: seconds of a bootstrap.

n = 1,000 rows, 10 columns, a third of the rows censored, steps of 0.01. Aim: 5 minutes on two cores.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from unmet import LinearCensoredQuantiles


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--method", default="portnoy")
    given = parser.parse_args()
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 10))
    latent = 1 + X.sum(axis=1) / 2 + (1 + 0.3 * np.abs(X[:, 0])) * random.normal(size=1000)
    threshold = 2 + 2 * random.normal(size=1000)
    model = LinearCensoredQuantiles(
        method=given.method,
        quantiles=(0.25, 0.5, 0.75, 0.95),
        n_bootstrap=given.draws,
        n_jobs=given.jobs,
        random_state=0,
        progress=False,
    )
    wall, work = time.perf_counter(), time.process_time()
    model.fit(X, np.minimum(latent, threshold), censored=latent > threshold)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    reached = np.isfinite(model.bootstrap_).all(axis=2).mean(axis=0)
    print(f"{given.method}: {given.draws} draws, {given.jobs} processes: {wall:.0f} s, {work:.0f} CPU s here")
    print("share of draws that reach each level:", dict(zip(model.quantiles, reached.round(3).tolist())))


if __name__ == "__main__":
    main()
