"""Linear fits against exact optima: a linear program, and Powell's estimator of R."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from unmet import CensoredQuantileRegressor
from unmet.datasets import make_synthetic
from unmet.losses import censored_tilted_loss

GOLDEN = Path(__file__).parents[1] / "golden"
LEVELS = (0.05, 0.5, 0.95)


def lowest_published_loss(X, y, censored, theta):
    """The exact minimum over linear q of the mean of ρ_θ(y − max(y, q)) (censored rows), ρ_θ(y − q) (others).

    With y − Xβ = above − below, both not negative, an uncensored row costs θ·above + (1−θ)·below, and a
    left-censored one only its share of `below`.
    """
    rows, columns = X.shape
    cost = np.concatenate([np.zeros(columns), np.where(censored, 0, theta), np.full(rows, 1 - theta)]) / rows
    equal = sparse.hstack([sparse.csr_matrix(X), sparse.eye(rows), -sparse.eye(rows)])
    bounds = [(None, None)] * columns + [(0, None)] * (2 * rows)
    found = linprog(cost, A_eq=equal, b_eq=y, bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("noise", ["gaussian", "heteroskedastic", "mixture"])
def test_the_published_loss_reaches_the_optimum_of_the_linear_program(noise):
    data = make_synthetic(noise)
    model = CensoredQuantileRegressor(
        side="left", head="free", loss="published", quantiles=LEVELS, max_epochs=4000, random_state=0
    )
    model.fit(data.X, data.y, censored=data.censored)
    quantiles = model.predict_quantiles(data.X)
    cap = np.where(data.censored, data.y, -np.inf)
    for column, theta in enumerate(LEVELS):
        ours = censored_tilted_loss(data.y, quantiles[:, column], theta, cap, side="left").mean()
        ratio = ours / lowest_published_loss(data.X, data.y, data.censored, theta)
        print(f"{noise} {theta}: {ratio - 1:.2e} above the optimum")
        assert 1 - 1e-6 < ratio < 1.005


def test_known_thresholds_reach_powells_global_minimum():
    golden = json.loads((GOLDEN / "powell.json").read_text())
    data = make_synthetic("gaussian")
    train = data.split().train
    X, y = data.X[train], data.y[train]
    model = CensoredQuantileRegressor(
        side="left", head="free", quantiles=(golden["tau"],), n_restarts=10, random_state=0
    )
    model.fit(X, y, threshold=0.0)
    quantile = model.predict(X)
    ours = censored_tilted_loss(y, quantile, golden["tau"], 0.0, side="left").sum()
    print(f"{ours / golden['objective'] - 1:.2e} above the global minimum")
    assert 1 - 1e-6 < ours / golden["objective"] < 1.005
    # x0 is 1 in every row, so its coefficient and the intercept are one number.
    found = [model.intercept_[0] + model.coef_[0, 0], *model.coef_[0, 1:]]
    assert np.allclose(found, golden["coefficients"], atol=0.01)


def test_coefficients_reproduce_predictions_and_stand_in_the_order_of_quantiles():
    data = make_synthetic("gaussian", n=60)
    for side, y in (("left", data.y), ("right", -data.y)):
        model = CensoredQuantileRegressor(side=side, head="free", max_epochs=50, random_state=0)
        for known in ({"threshold": 0.0}, {"censored": data.censored}):
            model.fit(data.X, y, **known)
            assert model.coef_.shape == (3, 3)
            assert model.intercept_.shape == (3,)
            own = data.X @ model.coef_.T + model.intercept_
            assert np.allclose(own, model.predict_quantiles(data.X), atol=1e-5)
