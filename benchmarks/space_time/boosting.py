"""LightGBM as a careful user would set it up: lags, calendar, exposure, and if asked what neighbours did."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._around import make_around
from unmet.forecasting._counts import count_quantiles
from unmet.forecasting._grid import Grid

Floats = NDArray[np.float64]
_LAGS = (1, 2, 3, 4, 24, 168)
_VALIDATION_DAYS = 7
_SETTINGS: dict[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "min_data_in_leaf": 100,
    "feature_fraction": 0.8,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "num_threads": 1,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}
_ROUNDS, _PATIENCE = 600, 30


def _back(values: Floats, lag: int) -> Floats:
    found = np.full_like(values, np.nan)
    found[:, lag:] = values[:, :-lag]
    return found


def features(grid: Grid, site: Any | None, told: bool) -> Floats:
    """Return the columns of every place and hour, (P, T, columns); nothing in them is of the hour or later.

    Only with `told` is the exposure of the hour itself a column. Hours that do not run out have less demand
    than others, and all that are judged are such hours: told so, LightGBM knows what no forecast can know.
    """
    y = np.where(grid.known, grid.y, np.nan)
    share = np.where(grid.known & (grid.exposure > 0), grid.exposure, np.nan)
    weekly = np.stack([_back(y, k * 168) for k in range(1, 5)])
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(weekly)
        mean = np.nansum(weekly, axis=0) / np.maximum(seen.sum(axis=0), 1)
        usual = np.where(seen.any(axis=0), mean, np.nan)
    count = np.cumsum(np.where(np.isfinite(y), y, 0.0), axis=1)
    hours = np.cumsum(np.isfinite(y), axis=1)
    level = _back(count / np.maximum(hours, 1), 1)  # of the place so far
    day = _back((count - _back(count, 24)) / 24, 1)
    calendar = grid.calendar
    parts = [np.where(grid.known, grid.exposure, np.nan) if told else np.ones_like(y)]
    parts += [_back(y, lag) for lag in _LAGS] + [_back(share, lag) for lag in (1, 2, 3, 24)]
    parts += [usual, level, day]
    days = np.arange(len(grid.ds)) / grid.per_day
    for along in (calendar.hour, calendar.weekday, days, *grid.covariates.values()):
        parts.append(np.broadcast_to(np.asarray(along, np.float64), y.shape))
    parts.append(np.broadcast_to(np.arange(len(y), dtype=np.float64)[:, None], y.shape))
    if site is not None:
        parts.append(np.broadcast_to(site.east[:, None], y.shape))
        parts.append(np.broadcast_to(site.north[:, None], y.shape))
        index = make_around("graph", site, np.vstack([grid.y, grid.y.sum(axis=0)])).index
        excess = np.where(np.isfinite(y - usual), y - usual, 0.0)
        expected = np.where(np.isfinite(usual), usual, 0.0)
        nearby, near_usual = excess[index].sum(axis=1), expected[index].sum(axis=1)
        city = np.broadcast_to(excess.sum(axis=0) / np.maximum(expected.sum(axis=0), 1), y.shape)
        for lag in (1, 2, 3):
            parts += [_back(nearby, lag), _back(nearby / (1 + near_usual), lag), _back(city, lag)]
        for k in range(index.shape[1]):
            parts += [_back(excess[index[:, k]], lag) for lag in (1, 2)]
    return np.stack(parts, axis=2).astype(np.float32)


def forecast(
    grid: Grid,
    first: int,
    levels: Floats,
    site: Any | None,
    kinds: tuple[str, ...] = ("quantile", "counts"),
    told: bool = False,
) -> dict[str, Floats]:
    """Return quantiles of the counts of hours from `first` on, (P, n, K): by quantile loss, and by counts.

    "quantile" fits each level. "counts" fits the mean by Poisson loss with open time as offset, and the shape
    of a negative binomial around it by likelihood on the days held out. Rounds are chosen on the seven days
    before `first`; then all days before it are fitted.
    """
    import lightgbm
    from scipy.optimize import minimize_scalar
    from scipy.stats import nbinom

    columns = features(grid, site, told)
    number = 1 + len(_LAGS) + 4 + 3 + 3 + len(grid.covariates)  # column of the place
    use = grid.known & (grid.exposure > 0)
    use[:, :168] = False
    day = np.arange(len(grid.ds))
    cut = first - _VALIDATION_DAYS * grid.per_day
    rows = {"fit": use & (day < cut), "stop": use & (day >= cut) & (day < first), "all": use & (day < first)}
    ahead = columns[:, first:].copy()
    ahead[:, :, 0] = 1.0
    ahead = ahead.reshape(-1, columns.shape[2])

    def data(part: str, offset: bool) -> Any:
        keep = rows[part]
        log = np.log(np.maximum(grid.exposure[keep], 0.02)) if offset else None
        return lightgbm.Dataset(
            columns[keep], grid.y[keep], init_score=log, categorical_feature=[number], free_raw_data=False
        )

    def fit(settings: dict[str, Any], offset: bool) -> tuple[Any, Any]:
        settings = _SETTINGS | settings
        stop = lightgbm.early_stopping(_PATIENCE, verbose=False)
        fitted = data("fit", offset)
        trial = lightgbm.train(settings, fitted, _ROUNDS, [data("stop", offset)], callbacks=[stop])
        return trial, lightgbm.train(settings, data("all", offset), trial.best_iteration)

    size = (len(grid.places), -1, len(levels))
    found: dict[str, Floats] = {}
    if "quantile" in kinds:
        each = [fit({"objective": "quantile", "alpha": level}, False)[1] for level in levels.tolist()]
        by_level = np.stack([model.predict(ahead) for model in each], axis=1)
        found["quantile"] = np.maximum.accumulate(np.maximum(by_level, 0), axis=1).reshape(size)
    trial, final = fit({"objective": "poisson"}, True)
    keep = rows["stop"]
    mean = np.exp(trial.predict(columns[keep], raw_score=True)) * np.maximum(grid.exposure[keep], 0.02)

    def cost(log_shape: float) -> float:
        shape = np.exp(log_shape)
        return -float(nbinom.logpmf(grid.y[keep], shape, shape / (shape + mean)).sum())

    shape = float(np.exp(minimize_scalar(cost, bounds=(-3, 6), method="bounded").x))
    mean = np.exp(final.predict(ahead, raw_score=True))
    wanted = np.broadcast_to(levels, (len(mean), len(levels)))
    counts = np.floor(count_quantiles(wanted, mean, np.full(len(mean), shape)))
    return found | {"counts": counts.reshape(size)}
