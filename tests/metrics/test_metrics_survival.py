"""Measures of right-censored data: against outside programs, by hand, and what they refuse."""

import json
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from unmet import metrics

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "survival_measures.json").read_text())
DATA = {name: np.array(values) for name, values in GOLDEN["data"].items()}
Y, CENSORED, TIMES, RATE = DATA["y"], DATA["censored"], DATA["times"], DATA["rate"]
TRAIN = (DATA["train_y"], DATA["train_censored"])
SURVIVAL = np.exp(-np.outer(RATE, TIMES))


def test_d_calibration_is_survivalevals():
    levels = 1 - np.exp(-RATE * Y)
    shares = metrics.calibration_shares(levels, CENSORED)
    theirs = np.array(GOLDEN["d_calibration"]["histogram"])
    assert shares * len(Y) == pytest.approx(theirs, abs=1e-9)
    assert metrics.d_calibration(levels, CENSORED) == pytest.approx(
        GOLDEN["d_calibration"]["p_value"], rel=1e-9
    )


def test_km_calibration_is_lifelines_curve_and_near_survivalevals():
    found = metrics.km_calibration(Y, CENSORED, SURVIVAL, TIMES)
    assert found == pytest.approx(GOLDEN["km_calibration_lifelines"], rel=1e-4)
    assert found == pytest.approx(GOLDEN["km_calibration_survivaleval"], rel=0.5)  # it integrates elsewhere
    assert metrics.km_calibration(Y, CENSORED, SURVIVAL.mean(axis=0), TIMES) == pytest.approx(found)


def test_ipcw_tilted_loss_is_scikit_learns_with_scikit_survivals_weights():
    quantiles = -np.log1p(-DATA["thetas"]) / RATE[:, None]
    for theta, q, theirs in zip(DATA["thetas"], quantiles.T, GOLDEN["ipcw_pinball"], strict=True):
        assert metrics.ipcw_tilted_loss(Y, CENSORED, q, [theta], reference=TRAIN) == pytest.approx(theirs)
    mean = metrics.ipcw_tilted_loss(Y, CENSORED, quantiles, DATA["thetas"], reference=TRAIN)
    assert mean == pytest.approx(np.mean(GOLDEN["ipcw_pinball"]))


def test_brier_scores_are_scikit_survivals():
    ours = metrics.brier_score(Y, CENSORED, SURVIVAL, TIMES, reference=TRAIN)
    assert ours == pytest.approx(GOLDEN["brier_score"], rel=1e-9)
    whole = metrics.integrated_brier_score(Y, CENSORED, SURVIVAL, TIMES, reference=TRAIN)
    assert whole == pytest.approx(GOLDEN["integrated_brier_score"], rel=1e-9)


def test_concordance_is_scikit_survivals_and_lifelines():
    assert metrics.concordance(Y, CENSORED, -RATE) == pytest.approx(GOLDEN["concordance_sksurv"], rel=1e-9)
    assert metrics.concordance(Y, CENSORED, -RATE) == pytest.approx(GOLDEN["concordance_lifelines"], rel=1e-9)
    uno = metrics.concordance(Y, CENSORED, -RATE, weighted=True, reference=TRAIN)
    assert uno == pytest.approx(GOLDEN["concordance_uno"], rel=1e-9)
    early = metrics.concordance(Y, CENSORED, -RATE, weighted=True, reference=TRAIN, until=2.0)
    assert early == pytest.approx(GOLDEN["concordance_uno_until_2"], rel=1e-9)


def test_ties_count_as_scikit_survival_counts_them():
    ties = GOLDEN["ties"]
    found = metrics.concordance(ties["y"], CENSORED, ties["prediction"])
    assert found == pytest.approx(ties["concordance_sksurv"], rel=1e-9)


def test_weighted_measures_estimate_those_of_latent_values():
    """Over draws, the IPCW loss and Brier score equal those on latent values; unweighted ones do not."""
    random = np.random.default_rng(0)
    gaps, naive = [], []
    for _ in range(60):
        latent, limit = random.exponential(size=1000), random.uniform(0.2, 6.0, size=1000)
        latent = np.minimum(latent, 5.0)
        y, censored = np.minimum(latent, limit), latent > limit
        q = np.full(1000, 1.2)
        truth = metrics.tilted_loss(latent, q, [0.7])
        gaps.append(metrics.ipcw_tilted_loss(y, censored, q, [0.7]) - truth)
        naive.append(metrics.tilted_loss(y, q, [0.7]) - truth)
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(60)
    assert abs(np.mean(naive)) > 0.02


def test_levels_of_quantiles_lie_where_the_curves_meet_y():
    thetas = [0.1, 0.5, 0.9]
    Q = np.tile([1.0, 2.0, 4.0], (6, 1))
    found = metrics.predicted_levels([0.0, 1.0, 1.5, 3.0, 4.0, 9.0], Q, thetas)
    assert found == pytest.approx([0.05, 0.1, 0.3, 0.7, 0.9, 0.95])


def test_a_step_at_y_has_two_ends():
    thetas, Q = [0.2, 0.4, 0.6, 0.8], np.tile([1.0, 2.0, 2.0, 4.0], (4, 1))
    y = [2.0, 3.0, 1.0, 9.0]
    assert metrics.predicted_levels(y, Q, thetas) == pytest.approx([0.6, 0.7, 0.2, 0.9])
    assert metrics.predicted_levels(y, Q, thetas, before=True) == pytest.approx([0.4, 0.7, 0.1, 0.9])


def test_counts_of_a_perfect_model_are_even_only_if_steps_are_spread():
    random = np.random.default_rng(2)
    y, limit = random.poisson(2.0, 20_000), random.poisson(4.0, 20_000)
    law = np.cumsum([0.0, *(np.exp(-2.0) * 2.0**k / factorial(k) for k in range(40))])
    seen, censored = np.minimum(y, limit), y > limit
    upper, lower = np.minimum(law[seen + 1], 1.0), np.minimum(law[seen], 1.0)
    assert metrics.calibration_shares(upper, censored, before=lower) == pytest.approx(0.1, abs=0.01)
    assert metrics.d_calibration(upper, censored, before=lower) > 1e-3
    assert metrics.d_calibration(upper, censored) < 1e-6


def test_shares_of_a_perfect_model_are_even_and_sum_to_one():
    random = np.random.default_rng(1)
    latent, limit = random.uniform(size=20_000), random.uniform(0, 2, size=20_000)
    y, censored = np.minimum(latent, limit), latent > limit
    shares = metrics.calibration_shares(y, censored)
    assert shares.sum() == pytest.approx(1)
    assert shares == pytest.approx(0.1, abs=0.01)
    assert metrics.d_calibration(y, censored) > 1e-3
    assert metrics.d_calibration(y**1.3, censored) < 1e-6
    assert metrics.calibration_shares([1.0], [True]).tolist() == [0] * 9 + [1]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: metrics.d_calibration([0.5, 1.5], [False, False]), "levels"),
        (lambda: metrics.d_calibration([0.5, 0.6], [False]), "censored"),
        (lambda: metrics.calibration_shares([0.5], [False], bins=1), "bins"),
        (lambda: metrics.calibration_shares([0.5], [False], before=[0.6]), "before"),
        (lambda: metrics.calibration_shares([0.5], [False], before=[0.1, 0.2]), "before"),
        (lambda: metrics.concordance([1.0, 2.0], [True, True], [1.0, 2.0]), "no pair"),
        (lambda: metrics.concordance([1.0, 2.0], [False, 2], [1.0, 2.0]), "censored"),
        (lambda: metrics.concordance([1.0, 2.0], [False, False], [1.0, 2.0], reference=TRAIN), "reference"),
        (lambda: metrics.brier_score([1.0, 2.0], [False, False], [[0.5]], [1.0, 2.0]), "survival"),
        (lambda: metrics.brier_score([1.0, 2.0], [False, True], np.ones((2, 2)), [1.0, 3.0]), "reference"),
        (lambda: metrics.km_calibration([1.0], [False], [0.5, 0.4], [2.0, 1.0]), "times"),
        (lambda: metrics.km_calibration([1.0], [False], [5.0, 0.4], [1.0, 2.0]), "from 0 to 1"),
        (
            lambda: metrics.brier_score([1.0, 2.0], [False, False], np.full((2, 2), 5), [0.5, 1.5]),
            "from 0 to",
        ),
        (lambda: metrics.ipcw_tilted_loss([1.0, 2.0], [True, True], [1.0, 1.0], [0.5]), "every row is"),
        (lambda: metrics.ipcw_tilted_loss([1.0], [False], [1.0], [1.0]), "thetas"),
        (lambda: metrics.ipcw_tilted_loss([1.0], [False], [1.0], [0.5], reference=3), "reference"),
        (lambda: metrics.predicted_levels([1.0], [[1.0, 2.0]], [0.5, 0.2]), "thetas"),
    ],
)
def test_errors_name_the_argument(call, named):
    with pytest.raises(ValueError, match=named):
        call()
