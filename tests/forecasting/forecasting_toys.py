"""Small panels whose demand is known: stock is dealt out each hour and runs out."""

from dataclasses import dataclass

import numpy as np

from unmet.mobility import Panel


@dataclass(frozen=True)
class Toy:
    panel: Panel
    latent: np.ndarray
    rate: np.ndarray


def make_toy(
    places: int = 12,
    days: int = 35,
    seed: int = 0,
    *,
    variance: float = 0.25,
    persistence: float = 0.0,
    short: float = 0.3,
    by: str = "hour",
) -> Toy:
    """Demand with a daily wave, gamma shocks, a temperature; a share `short` of hours has little stock."""
    rng = np.random.default_rng(seed)
    periods = days * (24 if by == "hour" else 1)
    step = np.timedelta64(3600 if by == "hour" else 86400, "s")
    ds = (np.datetime64("2024-01-01T00:00:00") + np.arange(periods) * step).astype("datetime64[us]")
    hour = np.arange(periods) % 24
    warm = np.sin(2 * np.pi * np.arange(periods) / (24 * 9.0)) + 0.3 * rng.standard_normal(periods)
    level = np.log(rng.uniform(0.5, 3.0, size=places))
    wave = np.where(
        np.arange(places)[:, None] % 2, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)
    )
    rate = np.exp(level[:, None] + 0.6 * wave + 0.2 * warm)
    z = rng.standard_normal((places, periods))
    for t in range(1, periods):
        z[:, t] = persistence * z[:, t - 1] + np.sqrt(1 - persistence**2) * z[:, t]
    width = np.sqrt(np.log1p(variance))
    shock = (
        np.exp(width * z - width**2 / 2) if persistence else rng.gamma(1 / variance, variance, size=z.shape)
    )
    latent = rng.poisson(rate * shock)
    stock = np.where(rng.uniform(size=z.shape) < short, rng.integers(0, 4, size=z.shape), 60)
    out = latent >= stock
    y = np.minimum(latent, stock)
    # The stock-th of N requests at uniform moments comes at a Beta(stock, N − stock + 1) share of the hour.
    moment = rng.beta(np.maximum(stock, 1), np.maximum(latent - stock + 1, 1))
    exposure = np.where(out, np.where(stock == 0, 0.0, moment), 1.0)
    ids = np.array([f"p{k:02d}" for k in range(places)], object)
    columns = {
        "unique_id": np.repeat(ids, periods),
        "ds": np.tile(ds, places),
        "y": y.reshape(-1),
        "censored": out.reshape(-1),
        "exposure": exposure.reshape(-1),
        "threshold": stock.reshape(-1),
        "warmth": np.tile(warm, places),
    }
    return Toy(Panel(columns, {"zone": "UTC", "by": by}), latent, rate)
