"""What people would otherwise use: Tobit with Student's t, Portnoy's estimator, XGBoost's AFT."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from benchmarks.shapes.designs import LEVELS, Draw, Floats


def tobit_t(draw: Draw) -> Floats:
    """Fit a line with one scale and Student's t by maximum likelihood; return quantiles at the test rows."""
    design = np.c_[np.ones(len(draw.X)), draw.X]

    def loss(p: Floats) -> tuple[float, Floats]:
        value, slope = _t_loss(p[:-1], p[-1], design, draw)
        step = 1e-5
        up, _ = _t_loss(p[:-1], p[-1] + step, design, draw)
        return value, np.r_[slope, (up - value) / step]

    begin = np.r_[np.linalg.lstsq(design, draw.y, rcond=None)[0], np.log(np.std(draw.y)), np.log(10.0)]
    bounds = [(None, None)] * (len(begin) - 1) + [(np.log(1.5), np.log(200.0))]
    settings = {"method": "L-BFGS-B", "bounds": bounds, "options": {"maxiter": 500}}
    found = optimize.minimize(loss, begin, jac=True, **settings).x
    middle = np.c_[np.ones(len(draw.test)), draw.test] @ found[:-2]
    return middle[:, None] + np.exp(found[-2]) * special.stdtrit(np.exp(found[-1]), LEVELS)


def _t_loss(p: Floats, log_df: float, design: Floats, draw: Draw) -> tuple[float, Floats]:
    scale, df = np.exp(p[-1]), np.exp(log_df)
    z = (draw.y - design @ p[:-1]) / scale
    log_density = stats.t.logpdf(z, df)
    log_beyond = np.log(np.maximum(special.stdtr(df, -z), 1e-300))
    loss = np.where(draw.censored, -log_beyond, -log_density + p[-1])
    # d loss / d z
    slope = np.where(draw.censored, np.exp(log_density - log_beyond), (df + 1) * z / (df + z**2))
    return float(loss.mean()), np.r_[-(slope @ design) / scale, (~draw.censored).sum() - slope @ z] / len(z)


def portnoy(draw: Draw) -> Floats:
    """Fit Portnoy's process; a level that it does not reach takes the highest that it does."""
    from unmet import LinearCensoredQuantiles

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearCensoredQuantiles(method="portnoy", quantiles=LEVELS, progress=False)
        model.fit(draw.X, draw.y, censored=draw.censored)
    return np.stack([_highest(model, level, draw.test) for level in LEVELS], axis=1)


def _highest(model: Any, level: float, test: Floats) -> Floats:
    """Return the quantile at the level, or at the highest below it that the process reaches."""
    for percent in range(round(100 * level), 0, -1):
        try:
            return np.asarray(model.predict_quantiles(test, quantiles=(percent / 100,)))[:, 0]
        except ValueError:
            continue
    raise ValueError(f"no level up to {level} is identified")


def xgboost_aft(draw: Draw) -> Floats:
    """Boost normal errors on exp(y), stopped on a fifth of the rows; quantiles use the given scale of one."""
    import xgboost as xgb

    shift = draw.y.mean()
    lower = np.exp(draw.y - shift)
    upper = np.where(draw.censored, np.inf, lower)
    held = np.arange(len(lower)) % 5 == 0
    parts = []
    for rows in (~held, held):
        part = xgb.DMatrix(draw.X[rows])
        part.set_float_info("label_lower_bound", lower[rows])
        part.set_float_info("label_upper_bound", upper[rows])
        parts.append(part)
    settings = {
        "objective": "survival:aft",
        "eval_metric": "aft-nloglik",
        "aft_loss_distribution": "normal",
        "aft_loss_distribution_scale": 1.0,
        "eta": 0.05,
        "max_depth": 4,
        "nthread": 1,
        "verbosity": 0,
    }
    stopping = {"evals": [(parts[1], "held")], "early_stopping_rounds": 30, "verbose_eval": False}
    model = xgb.train(settings, parts[0], 2000, **stopping)
    best = (0, model.best_iteration + 1)
    middle = np.log(model.predict(xgb.DMatrix(draw.test), iteration_range=best)) + shift
    return middle[:, None] + special.ndtri(LEVELS)
