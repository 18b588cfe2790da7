"""Losses against golden numbers from R: what is optimal there is optimal here."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from unmet.datasets import make_synthetic
from unmet.losses import censored_tilted_loss, crossing_level, portnoy_loss, tilted_loss, tobit_loss

HERE = Path(__file__).parent


def golden(part):
    return json.loads((HERE / f"{part}.json").read_text())


def table(name):
    rows = np.genfromtxt(HERE / name, delimiter=",", names=True)
    return rows, np.column_stack([np.ones(len(rows)), rows["x1"], rows["x2"]])


def test_the_data_are_the_papers_training_rows():
    rows, X = table("synthetic_gaussian.csv")
    data = make_synthetic("gaussian")
    train = data.split().train
    assert np.array_equal(X, data.X[train])
    assert np.array_equal(rows["y"], data.y[train])
    assert np.array_equal(rows["latent"], data.latent[train])
    assert np.array_equal(rows["censored"] == 1, data.censored[train])


def test_tilted_loss_is_rqs_objective_and_rqs_answer_its_minimum():
    rows, X = table("synthetic_gaussian.csv")
    result = golden("rq")
    random = np.random.default_rng(0)
    for tau, beta, objective in zip(result["taus"], result["coefficients"], result["objective"], strict=True):

        def loss(beta, tau=tau):
            return tilted_loss(rows["latent"], X @ beta, tau).sum()

        assert loss(np.array(beta)) == pytest.approx(objective, rel=1e-10)
        for step in random.normal(scale=0.01, size=(50, 3)):
            assert loss(beta + step) > objective


def test_tobit_loss_is_minus_survregs_log_likelihood():
    rows, X = table("synthetic_gaussian.csv")
    result = golden("tobit")

    def loss(beta, scale):
        return tobit_loss(rows["y"], X @ beta, scale, rows["censored"] == 1, side="left").sum()

    best = loss(np.array(result["coefficients"]), result["scale"])
    assert best == pytest.approx(-result["log_likelihood"], rel=1e-10)
    found = minimize(lambda p: loss(p[:3], np.exp(p[3])), np.zeros(4), method="BFGS")
    assert np.allclose(found.x[:3], result["coefficients"], atol=1e-4)
    assert np.exp(found.x[3]) == pytest.approx(result["scale"], abs=1e-4)


def test_censored_tilted_loss_is_powells_objective():
    rows, X = table("synthetic_gaussian.csv")
    result = golden("powell")

    def loss(beta):
        return censored_tilted_loss(rows["y"], X @ beta, result["tau"], 0.0, side="left").sum()

    beta = np.array(result["coefficients"])
    assert np.allclose(beta, [-1.023, 1.342, 1.139], atol=5e-4)
    assert loss(beta) == pytest.approx(result["objective"], rel=1e-10)
    for step in np.random.default_rng(1).normal(scale=0.01, size=(50, 3)):
        assert loss(beta + step) >= result["objective"]


@pytest.mark.slow
def test_powells_golden_number_is_the_global_minimum():
    """Minima fit three rows exactly; x1 = ±1, so two of them share a group and fix the slope."""
    rows, _ = table("synthetic_gaussian.csv")
    tau, best = golden("powell")["tau"], np.inf
    groups = [(rows["x2"][rows["x1"] == sign], rows["y"][rows["x1"] == sign]) for sign in (-1, 1)]

    def loss(x, y, intercepts, slope):
        return censored_tilted_loss(y, intercepts[:, None] + slope * x, tau, 0.0, side="left").sum(axis=1)

    for (x, y), (other_x, other_y) in (groups, groups[::-1]):
        for i in range(len(x)):
            for j in range(i):
                slope = (y[i] - y[j]) / (x[i] - x[j])
                own = loss(x, y, np.array([y[i] - slope * x[i]]), slope)[0]
                if own < best:
                    best = min(best, own + loss(other_x, other_y, other_y - slope * other_x, slope).min())
    assert golden("powell")["objective"] == pytest.approx(best, rel=1e-9)


def test_crqs_portnoy_fit_is_nearly_stationary_for_portnoy_loss():
    """R re-weights on its own finer grid: the gradient is small, not zero; bounds taken as exact are far off."""
    rows, X = table("right_flags.csv")
    result = golden("portnoy")
    taus, betas = np.array(result["taus"]), np.array(result["coefficients"])
    censored = rows["censored"] == 1
    far = rows["y"].max() + 50
    gaps = {}
    for name, flags in (("portnoy", censored), ("exact", np.zeros_like(censored))):
        step = 1e-3

        def loss(shift, flags=flags):
            curves = (betas + shift) @ X.T
            # Weights belong to R's fit, not to the shifted one: only the loss moves.
            level = crossing_level(rows["y"], betas @ X.T, taus)
            weight = np.where(taus[:, None] > level, (taus[:, None] - level) / (1 - level), 1.0)
            weight = np.where(flags, weight, 1.0)
            seen, moved = (
                tilted_loss(rows["y"], curves, taus[:, None]),
                tilted_loss(far, curves, taus[:, None]),
            )
            return (weight * seen + (1 - weight) * moved).mean(axis=1)

        slopes = [(loss(step * axis) - loss(-step * axis)) / (2 * step) for axis in np.eye(3)]
        gaps[name] = np.abs(slopes).max(axis=0)
        if name == "portnoy":
            direct = portnoy_loss(rows["y"], betas @ X.T, taus, censored, far).mean(axis=1)
            assert np.allclose(direct, loss(np.zeros(3)))
    assert gaps["portnoy"].max() < 0.02
    assert gaps["exact"][4:].min() > 0.05
