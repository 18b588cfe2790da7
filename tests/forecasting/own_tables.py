"""Tables of somebody's own, whose demand is known: weekly sales of stores that run out."""

import numpy as np
import pandas as pd


def weekly_sales(
    stores: int = 10, weeks: int = 60, seed: int = 0, *, start: str = "2023-01-02", step: str = "7D"
) -> pd.DataFrame:
    """Columns store, week, sold, in_stock (share of the week), ran_out, units (stock), wanted."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(8, 40, stores)[:, None]
    rate = level * (1 + 0.3 * np.sin(2 * np.pi * np.arange(weeks) / 52))
    wanted = rng.poisson(rate * rng.gamma(10, 0.1, rate.shape))
    units = np.round(level * rng.choice([0.7, 1.2, 2.5, 4.0], p=[0.15, 0.15, 0.3, 0.4], size=rate.shape))
    units = units.astype(int)
    out = wanted >= units
    # The last unit goes at a Beta(units, wanted − units + 1) share of the week.
    moment = rng.beta(np.maximum(units, 1), np.maximum(wanted - units + 1, 1))
    return pd.DataFrame(
        {
            "store": np.repeat([f"store {number:02d}" for number in range(stores)], weeks),
            "week": np.tile(pd.date_range(start, periods=weeks, freq=step), stores),
            "sold": np.minimum(wanted, units).reshape(-1),
            "in_stock": np.where(out, moment, 1.0).reshape(-1),
            "ran_out": out.reshape(-1),
            "units": units.reshape(-1),
            "wanted": wanted.reshape(-1),
        }
    )


NAMES = {"unique_id": "store", "ds": "week", "y": "sold"}
