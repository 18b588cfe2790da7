"""Golden numbers for the measures of right-censored data: python tests/golden/survival_measures.py

It needs scikit-survival, lifelines and SurvivalEVAL, in an environment of their own; the tests need none.
Writes survival_measures.json: data, what each program says, versions.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from lifelines import KaplanMeierFitter
from lifelines.utils import concordance_index
from sklearn.metrics import mean_pinball_loss
from sksurv.metrics import (
    brier_score,
    concordance_index_censored,
    concordance_index_ipcw,
    integrated_brier_score,
)
from sksurv.nonparametric import CensoringDistributionEstimator
from sksurv.util import Surv
from SurvivalEVAL import d_calibration, km_calibration

HERE = Path(__file__).parent


def draw(rows: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Exponential latent values, exponential thresholds."""
    x = random.uniform(size=rows)
    latent, threshold = random.exponential(np.exp(x)), random.exponential(2.5, size=rows)
    return x, np.minimum(latent, threshold), latent > threshold


def main() -> None:
    random = np.random.default_rng(5)
    x, y, censored = draw(300, random)
    _, train_y, train_censored = draw(500, random)
    keep = y < 4.5
    x, y, censored = x[keep], y[keep], censored[keep]
    times = np.linspace(0.1, 3.0, 25)
    rate = np.exp(-0.8 * x)  # a model that is a little wrong
    survival = np.exp(-np.outer(rate, times))
    thetas = [0.1, 0.5, 0.8]
    quantiles = -np.log1p(-np.array(thetas)) / rate[:, None]
    at_y = np.exp(-rate * y)

    test, train = Surv.from_arrays(~censored, y), Surv.from_arrays(~train_censored, train_y)
    chance = CensoringDistributionEstimator().fit(train)
    weight = chance.predict_ipcw(test)
    pinball = [
        mean_pinball_loss(y, quantiles[:, k], alpha=theta, sample_weight=weight) * weight.sum() / len(y)
        for k, theta in enumerate(thetas)
    ]
    statistic, p_value, histogram = d_calibration(at_y, ~censored)
    fine = np.linspace(times[0], times[-1], 2_000_001)
    curve = KaplanMeierFitter().fit(y, ~censored).survival_function_at_times(fine).to_numpy()
    gap = np.square(np.interp(fine, times, survival.mean(axis=0)) - curve)
    result = {
        "versions": {name: version(name) for name in ("scikit-survival", "lifelines", "SurvivalEVAL")},
        "data": {
            "y": y.tolist(),
            "censored": censored.tolist(),
            "train_y": train_y.tolist(),
            "train_censored": train_censored.tolist(),
            "rate": rate.tolist(),
            "times": times.tolist(),
            "thetas": thetas,
        },
        "d_calibration": {"statistic": statistic, "p_value": p_value, "histogram": histogram.tolist()},
        "km_calibration_lifelines": float(np.trapezoid(gap, fine) / (times[-1] - times[0])),
        "km_calibration_survivaleval": float(km_calibration(survival.mean(axis=0), times, y, ~censored)),
        "ipcw_pinball": pinball,
        "brier_score": brier_score(train, test, survival, times)[1].tolist(),
        "integrated_brier_score": float(integrated_brier_score(train, test, survival, times)),
        "concordance_sksurv": float(concordance_index_censored(~censored, y, rate)[0]),
        "concordance_lifelines": float(concordance_index(y, -rate, ~censored)),
        "concordance_uno": float(concordance_index_ipcw(train, test, rate)[0]),
        "concordance_uno_until_2": float(concordance_index_ipcw(train, test, rate, tau=2.0)[0]),
    }
    # Ties in values and predictions, as counts have them.
    rounded, coarse = np.ceil(y * 3), np.round(rate, 1)
    result["ties"] = {
        "y": rounded.tolist(),
        "prediction": (-coarse).tolist(),
        "concordance_sksurv": float(concordance_index_censored(~censored, rounded, coarse)[0]),
        "concordance_lifelines": float(concordance_index(rounded, -coarse, ~censored)),
    }
    (HERE / "survival_measures.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
