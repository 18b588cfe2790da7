"""Write the data sets that the R scripts read: python tests/golden/make_data.py

synthetic_gaussian.csv   the 536 training rows of make_synthetic("gaussian"), left-censored at 0, with latent
right_flags.csv          500 rows, linear, right-censored at random thresholds that only the flag tells of
"""

from pathlib import Path

import numpy as np

from unmet.datasets import make_synthetic

HERE = Path(__file__).parent


def write(name: str, **columns: np.ndarray) -> None:
    """One CSV file; 17 digits, so that R reads the same doubles."""
    table = np.column_stack(list(columns.values()))
    np.savetxt(HERE / name, table, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")


def main() -> None:
    data = make_synthetic("gaussian")
    rows = data.split().train
    write(
        "synthetic_gaussian.csv",
        x1=data.X[rows, 1],
        x2=data.X[rows, 2],
        y=data.y[rows],
        latent=data.latent[rows],
        censored=data.censored[rows],
    )

    # Slopes differ between levels (the scale grows with x1), and thresholds do not depend on demand given x.
    random = np.random.RandomState(7)
    n = 500
    x1, x2 = random.uniform(0, 2, n), random.normal(0, 1, n)
    latent = 1 + 2 * x1 - x2 + (0.5 + 0.5 * x1) * random.normal(0, 1, n)
    threshold = 0.5 + 2 * x1 - x2 + random.exponential(2, n)
    write(
        "right_flags.csv",
        x1=x1,
        x2=x2,
        y=np.minimum(latent, threshold),
        censored=latent > threshold,
        latent=latent,
    )


if __name__ == "__main__":
    main()
