"""The problems that every contender is given: the same numbers for the same seed, standardised beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LAGS = 7
TRAIN_ROWS = 126
VALIDATION_ROWS = 126


@dataclass(frozen=True)
class Problem:
    """One censored regression problem; `validation` marks the rows that are used only for stopping."""

    X: np.ndarray
    y: np.ndarray
    threshold: np.ndarray
    censored: np.ndarray
    validation: np.ndarray
    seed: int

    @property
    def cap(self) -> np.ndarray:
        """What the prediction is capped at: the observation on flagged rows, elsewhere the threshold."""
        return np.where(self.censored, self.y, self.threshold)

    def split(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """(X, y, cap) of the training rows and of the validation rows."""
        stop = self.validation
        return (
            (self.X[~stop], self.y[~stop], self.cap[~stop]),
            (self.X[stop], self.y[stop], self.cap[stop]),
        )


def seasonal(index: int) -> Problem:
    """Daily rides of one hub: a weekly season, counts, a supply that runs out on some days; seven lags.

    The supply is drawn independently of demand, so the thresholds are the kind that the censored loss is
    meant for. About a third of the days are censored.
    """
    rng = np.random.default_rng([20, index])
    days = LAGS + TRAIN_ROWS + VALIDATION_ROWS
    level = rng.uniform(15, 80)
    season = 1 + 0.3 * rng.standard_normal(7)
    trend = np.exp(np.cumsum(0.01 * rng.standard_normal(days)))
    mean = np.clip(level * season[np.arange(days) % 7] * trend, 1.0, None)
    latent = rng.negative_binomial(12, 12 / (12 + mean)).astype(float)
    supply = np.round(mean * rng.uniform(0.7, 1.7, size=days)) + 1
    observed = np.minimum(latent, supply)
    censored = latent >= supply

    fit = slice(LAGS, LAGS + TRAIN_ROWS)
    centre, spread = observed[fit].mean(), observed[fit].std() + 1e-6
    observed, supply = (observed - centre) / spread, (supply - centre) / spread
    X = np.lib.stride_tricks.sliding_window_view(observed[:-1], LAGS)
    rows = len(X)
    return Problem(
        X=np.ascontiguousarray(X, dtype=np.float32),
        y=observed[LAGS:].astype(np.float32),
        threshold=supply[LAGS:].astype(np.float32),
        censored=censored[LAGS:],
        validation=np.arange(rows) >= TRAIN_ROWS,
        seed=index,
    )


def tabular(rows: int, columns: int, seed: int = 7) -> Problem:
    """One large table: a smooth nonlinear signal, noise that grows with a column, a random threshold.

    A tenth more rows come behind them, held out to compare the contenders; nobody trains on those.
    """
    rng = np.random.default_rng(seed)
    held_out = rows // 10
    rows += held_out
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    signal = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * np.abs(X[:, 3]) + X[:, 4:].sum(1) * 0.1
    latent = signal + (0.5 + 0.3 * np.abs(X[:, 1])) * rng.standard_normal(rows, dtype=np.float32)
    threshold = (signal + rng.normal(1.0, 1.0, size=rows)).astype(np.float32)
    return Problem(
        X=X,
        y=np.minimum(latent, threshold).astype(np.float32),
        threshold=threshold,
        censored=latent >= threshold,
        validation=np.arange(rows) >= rows - held_out,
        seed=seed,
    )


def uncensored(index: int, rows: int, columns: int = LAGS) -> Problem:
    """One plain linear quantile problem with noise that grows with the first column; nothing is censored."""
    rng = np.random.default_rng([30, index])
    X = rng.standard_normal((rows, columns))
    y = X @ rng.standard_normal(columns) + np.exp(0.3 * X[:, 0]) * rng.standard_normal(rows)
    y = (y - y.mean()) / y.std()
    return Problem(
        X=X.astype(np.float32),
        y=y.astype(np.float32),
        threshold=np.full(rows, np.inf, dtype=np.float32),
        censored=np.zeros(rows, dtype=bool),
        validation=np.zeros(rows, dtype=bool),
        seed=index,
    )


def pinball(y: np.ndarray, cap: np.ndarray, predicted: np.ndarray, quantiles: tuple[float, ...]) -> float:
    """Mean over rows and quantiles of ρ_θ(y − min(cap, q)): the yardstick, computed alike for everyone."""
    theta = np.asarray(quantiles)
    residual = y[:, None] - np.minimum(cap[:, None], predicted)
    return float(np.maximum(theta * residual, (theta - 1) * residual).mean())
