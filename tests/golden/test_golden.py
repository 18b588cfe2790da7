"""Losses against golden numbers from R: what is optimal there is optimal here."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize

from unmet import metrics
from unmet.datasets import make_synthetic
from unmet.losses import (
    censored_tilted_loss,
    crossing_level,
    portnoy_loss,
    portnoy_weights,
    tilted_loss,
    tobit_loss,
)

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
    """R re-weights on its own finer grid, so the gradient is small, not zero; exact bounds are far off."""
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


def weighted_quantile_fit(X, y, weights, tau):
    """Exact minimiser of Σ wᵢ ρ_τ(yᵢ − Xβ), as a linear programme over β and both parts of the residuals."""
    n, p = X.shape
    parts = sparse.hstack([sparse.csr_matrix(X), sparse.eye(n), -sparse.eye(n)]).tocsr()
    cost = np.concatenate([np.zeros(p), tau * weights, (1 - tau) * weights])
    return linprog(cost, A_eq=parts, b_eq=y, bounds=[(None, None)] * p + [(0, None)] * (2 * n)).x[:p]


def test_fits_with_our_portnoy_weights_agree_with_crq():
    """Re-weight and re-fit on the deciles until nearly fixed: within 0.06 of R's quantiles at every level."""
    rows, X = table("right_flags.csv")
    result = golden("portnoy")
    taus, theirs = np.array(result["taus"]), np.array(result["coefficients"]) @ X.T
    y, censored = rows["y"], rows["censored"] == 1
    doubled_X = np.vstack([X, X[censored]])
    doubled_y = np.concatenate([y, np.full(censored.sum(), y.max() + 50)])

    weights = np.ones((len(taus), len(y)))
    gaps = []
    for _ in range(6):
        kept = np.where(censored, weights, 1.0)
        each = np.concatenate([kept, 1 - weights[:, censored]], axis=1)
        betas = [
            weighted_quantile_fit(doubled_X, doubled_y, w, tau) for w, tau in zip(each, taus, strict=True)
        ]
        ours = np.array(betas) @ X.T
        gaps.append(np.abs(ours - theirs).mean(axis=1))
        weights = portnoy_weights(crossing_level(y, ours, taus), taus[:, None])
    assert gaps[0].max() > 0.4
    assert gaps[-1].max() < 0.06


# Table III of the paper, rows "Tobit": coverage, length and summed tilted loss at levels .05 and .95 against
# the latent test values; then coverage and loss of the uncensored rows alone.
TABLE_III = {
    "gaussian": (0.91, 3.29, 65.81, 0.91, 47.13),
    "heteroskedastic": (0.85, 3.29, 113.12, 0.84, 78.67),
    "mixture": (0.94, 3.29, 61.26, 0.94, 44.09),
}


@pytest.mark.parametrize("noise", TABLE_III)
def test_the_papers_tobit_rows_are_reproduced_with_unit_scale(noise):
    data = make_synthetic(noise)
    train, _, test = data.split()

    def loss(beta):
        return tobit_loss(data.y[train], data.X[train] @ beta, 1.0, data.censored[train], side="left").sum()

    location = data.X[test] @ minimize(loss, np.zeros(3), method="BFGS").x
    latent, censored = data.latent[test], data.censored[test]
    Q = location[:, None] + np.array([-1.6448536269514722, 1.6448536269514722])
    covered = metrics.by_censoring(metrics.icp, censored, latent, Q[:, 0], Q[:, 1])
    tilted = metrics.by_censoring(metrics.tilted_loss, censored, latent, Q, thetas=[0.05, 0.95], reduce="sum")
    icp, mil, all_rows, icp_seen, seen = TABLE_III[noise]
    # The paper averages ten early-stopped runs, so the last digit may differ.
    assert covered["all"] == pytest.approx(icp, abs=0.006)
    assert metrics.mil(Q[:, 0], Q[:, 1]) == pytest.approx(mil, abs=0.005)
    assert tilted["all"] == pytest.approx(all_rows, abs=0.3)
    assert covered["uncensored"] == pytest.approx(icp_seen, abs=0.015)
    assert tilted["uncensored"] == pytest.approx(seen, abs=0.3)
