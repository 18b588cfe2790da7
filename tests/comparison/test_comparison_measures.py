"""Measures without truth: hand values, equality with the metrics, and what the true quantiles score."""

import numpy as np
import pytest
from scipy.special import ndtri

from unmet import metrics
from unmet.censoring import observe
from unmet.comparison._measures import log_scores, measure, row_losses

LEVELS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@pytest.fixture(scope="module")
def normal():
    """Rows around x with unit noise, cut off independently; and their true quantiles."""
    random = np.random.default_rng(4)
    x = random.normal(size=4000)
    latent, cut = x + random.normal(size=4000), 1 + random.normal(size=4000)
    return latent, cut, x[:, None] + ndtri(LEVELS)


def test_known_caps_are_scored_by_powells_loss():
    observed = observe([1.0, 2.0], threshold=2.0)
    # Row 0: y = 1, q = 3 held at 2, level .25: .75 · 1. Row 1: y = 2, q = 3 held at 2: nothing.
    assert row_losses(observed, np.array([[3.0], [3.0]]), (0.25,)).tolist() == [0.75, 0.0]


def test_flags_are_scored_by_the_weighted_loss_of_the_metrics():
    y = np.arange(20.0)
    flags = y % 5 == 0  # every value had a good chance to be seen
    quantiles = np.minimum(np.random.default_rng(0).normal(10, 5, (20, len(LEVELS))), 19)
    mean = row_losses(observe(y, censored=flags), quantiles, LEVELS).mean()
    assert mean == pytest.approx(metrics.ipcw_tilted_loss(y, flags, quantiles, LEVELS), rel=1e-12)


def test_flags_leave_open_what_nobody_could_see(normal):
    latent, _, truth = normal
    cut = np.random.default_rng(8).uniform(-3, 1, latent.size)  # no latent value above 1 is ever seen
    observed = observe(np.minimum(latent, cut), censored=latent > cut)
    right = row_losses(observed, truth, LEVELS).mean()
    beyond = np.where(truth > 1, truth + 5, truth)
    assert row_losses(observed, beyond, LEVELS).mean() == right
    for shift in (-0.3, 0.3):
        assert row_losses(observed, truth + shift, LEVELS).mean() > right


def test_left_censoring_is_the_mirror_image(normal):
    latent, cut, truth = normal
    y, flags = np.minimum(latent, cut), latent > cut
    right = measure(observe(y, censored=flags), truth, LEVELS)
    mirrored = -truth[:, ::-1]
    left = measure(observe(-y, censored=flags, side="left"), mirrored, LEVELS)
    np.testing.assert_allclose(left.losses, right.losses, rtol=1e-12)
    assert left.coverage == pytest.approx(right.coverage, abs=1e-12)
    assert left.d_calibration == pytest.approx(right.d_calibration, rel=1e-9)
    assert left.km_distance == pytest.approx(right.km_distance, rel=1e-9)


def test_log_score_by_hand():
    values = np.arange(10.0)
    observed = observe(lower=[*values, 4.5], upper=[*values, np.inf])
    quantiles = np.tile([2.25, 4.5, 6.75], (11, 1))
    found = log_scores(observed, quantiles, (0.25, 0.5, 0.75))
    assert found[10] == pytest.approx(np.log(2))  # P(above the median)
    # Parts end at .9, 1.8, …, 8.1. The row at 5 lies between 4.5 and 5.4: levels .5 and .6.
    assert found[5] == pytest.approx(-np.log(0.1))


@pytest.mark.parametrize("how", ["threshold", "censored"])
def test_true_quantiles_are_calibrated_and_beat_wrong_ones(normal, how):
    latent, cut, truth = normal
    y = np.minimum(latent, cut)
    told = {"threshold": cut} if how == "threshold" else {"censored": latent > cut}
    observed = observe(y, **told)
    right = measure(observed, truth, LEVELS)
    assert right.coverage == pytest.approx(0.9, abs=0.02)
    assert right.d_calibration > 0.01
    assert right.km_distance < 0.02
    assert right.crossings == 0
    for wrong in (truth + 0.3, truth - 0.3, truth.mean(axis=0) + np.zeros_like(truth)):
        other = measure(observed, wrong, LEVELS)
        assert other.losses.mean() > right.losses.mean()
        assert other.log_scores.mean() > right.log_scores.mean()
    assert measure(observed, truth - 0.3, LEVELS).d_calibration < 0.01


def test_coverage_is_not_told_where_censoring_hides_it(normal):
    latent, _, truth = normal
    observed = observe(np.minimum(latent, -1.0), threshold=-1.0)
    assert measure(observed, truth * 0 + ndtri(LEVELS) * 2, LEVELS).coverage is None


def test_log_score_of_intervals_prefers_the_truth(normal):
    latent, _, truth = normal
    low = np.floor(latent)
    observed = observe(lower=low, upper=low + 1)
    right = measure(observed, truth, LEVELS)
    assert right.coverage is None
    assert np.array_equal(right.losses, right.log_scores)
    for wrong in (truth + 0.3, truth * 0 + ndtri(LEVELS) * 1.4):
        assert measure(observed, wrong, LEVELS).losses.mean() > right.losses.mean()


def test_crossings_are_counted():
    observed = observe([1.0, 2.0, 3.0])
    quantiles = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert measure(observed, quantiles, (0.25, 0.75)).crossings == 1
