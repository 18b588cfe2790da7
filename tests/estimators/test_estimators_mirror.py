"""Left-censored results are the mirrored right-censored ones: negate y and thresholds, swap θ with 1 − θ."""

import numpy as np
import pytest

from unmet import CensoredQuantileRegressor, TobitRegressor

LEVELS = (0.1, 0.5, 0.75)
MIRRORED = (0.25, 0.5, 0.9)


def kwargs(data, how, sign=1):
    known = {}
    if how in ("threshold", "both"):
        known["threshold"] = sign * data.threshold
    if how in ("flags", "both"):
        known["censored"] = data.censored
    return known


def assert_mirrored(kind, data, how="threshold", **settings):
    settings = {"max_epochs": 30, "random_state": 0, "hidden": (8,), "units": 4, **settings}
    right = kind(side="right", quantiles=LEVELS, **settings).fit(data.X, data.y, **kwargs(data, how))
    left = kind(side="left", quantiles=MIRRORED, **settings).fit(data.X, -data.y, **kwargs(data, how, -1))
    ours, mirrored = right.predict_quantiles(data.X), -left.predict_quantiles(data.X)[:, ::-1]
    assert np.ptp(ours) > 0.1
    assert np.abs(ours - mirrored).max() < 1e-6
    assert np.allclose(right.predict(data.X), -left.predict(data.X), rtol=0, atol=1e-6)
    assert np.allclose(
        right.predict_interval(data.X, coverage=0.5),
        -left.predict_interval(data.X, coverage=0.5)[:, ::-1],
        atol=1e-6,
    )
    score = right.score(data.X, data.y, **kwargs(data, how))
    assert score == pytest.approx(left.score(data.X, -data.y, **kwargs(data, how, -1)), abs=1e-6)
    return right, left


@pytest.mark.parametrize("how", ["none", "threshold", "flags", "both"])
@pytest.mark.parametrize("head", ["free", "monotone", "location-scale"])
def test_every_head_and_kind_of_censoring(capped, head, how):
    assert_mirrored(CensoredQuantileRegressor, capped, how, head=head)


@pytest.mark.parametrize("how", ["threshold", "flags"])
def test_the_published_loss(capped, how):
    assert_mirrored(CensoredQuantileRegressor, capped, how, head="free", loss="published")


@pytest.mark.parametrize("network", ["mlp", "lstm"])
def test_every_network(capped, network):
    assert_mirrored(CensoredQuantileRegressor, capped, network=network, head="free")


@pytest.mark.parametrize("network", ["linear", "mlp", "lstm"])
@pytest.mark.parametrize("initialiser", ["normal", "glorot"])
def test_every_drawn_start(capped, network, initialiser):
    assert_mirrored(CensoredQuantileRegressor, capped, network=network, head="free", initialiser=initialiser)


@pytest.mark.parametrize(
    "settings",
    [
        {"joint": False},
        {"n_restarts": 2},
        {"patience": 3},
        {"standardise": False},
        {"smoothing": 0.1},
        {"batch_size": 16},
        {"dropout": 0.2},
    ],
    ids=str,
)
def test_every_way_of_training(capped, settings):
    assert_mirrored(CensoredQuantileRegressor, capped, head="free", **settings)


@pytest.mark.parametrize(
    "settings", [{}, {"scale": "network"}, {"scale": 0.5}, {"shape": "sinh-arcsinh"}], ids=str
)
def test_tobit(capped, settings):
    right, left = assert_mirrored(TobitRegressor, capped, **settings)
    if settings.get("scale") != "network":
        assert right.scale_ == pytest.approx(left.scale_, abs=1e-6)


def test_coefficients(capped):
    right, left = assert_mirrored(CensoredQuantileRegressor, capped, head="free")
    assert np.allclose(right.coef_, -left.coef_[::-1], atol=1e-6)
    assert np.allclose(right.intercept_, -left.intercept_[::-1], atol=1e-6)


def test_a_start_at_ones_is_at_ones_on_both_sides(capped):
    """Ones are meant in the units of y, as in the paper: the start itself is then not mirrored."""
    for side in ("right", "left"):
        model = CensoredQuantileRegressor(
            side=side, head="free", initialiser="ones", standardise=False, learning_rate=1e-9, max_epochs=1
        )
        model.fit(capped.X, capped.y)
        assert np.allclose(model.coef_, 1, atol=1e-6)
        assert np.allclose(model.intercept_, 0, atol=1e-6)


def test_from_ones_both_sides_reach_the_same_optimum(capped):
    settings = {"head": "free", "initialiser": "ones", "loss": "published", "max_epochs": 4000}
    right = CensoredQuantileRegressor(quantiles=LEVELS, **settings)
    left = CensoredQuantileRegressor(side="left", quantiles=MIRRORED, **settings)
    right.fit(capped.X, capped.y, censored=capped.censored)
    left.fit(capped.X, -capped.y, censored=capped.censored)
    scores = [
        right.score(capped.X, capped.y, censored=capped.censored),
        left.score(capped.X, -capped.y, censored=capped.censored),
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
