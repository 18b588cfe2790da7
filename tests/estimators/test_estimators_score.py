"""`score` prefers the model that is right about latent values; R² on observed values does not."""

import numpy as np
import pytest

from unmet import CensoredQuantileRegressor, metrics
from unmet.losses import censored_tilted_loss


@pytest.fixture(scope="module")
def halves():
    """Training and held-out rows: demand behind a cap that binds where demand is high."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 2))
    latent = 3 + X @ [2, 1] + random.normal(size=1000)
    threshold = 3 + 0.5 * random.normal(size=1000)
    y = np.minimum(latent, threshold)
    return [(X[half], y[half], threshold[half], latent[half]) for half in (slice(0, 500), slice(500, 1000))]


@pytest.mark.parametrize("how", ["threshold", "censored", "both"])
@pytest.mark.parametrize("head", ["location-scale", "free"])
def test_score_ranks_the_aware_model_first_and_r2_the_wrong_way_round(halves, how, head):
    (X, y, threshold, _), (X_new, y_new, threshold_new, latent_new) = halves
    model = CensoredQuantileRegressor(head=head, max_epochs=500, random_state=0)
    known, known_new = {}, {}
    if how != "censored":
        known["threshold"], known_new["threshold"] = threshold, threshold_new
    if how != "threshold":
        known["censored"], known_new["censored"] = y == threshold, y_new == threshold_new

    model.fit(X, y)
    unaware = model.score(X_new, y_new, **known_new), model.predict(X_new), model.predict_quantiles(X_new)
    model.fit(X, y, **known)
    aware = model.score(X_new, y_new, **known_new), model.predict(X_new), model.predict_quantiles(X_new)

    def latent_loss(quantiles):
        return metrics.tilted_loss(latent_new, quantiles, model.quantiles)

    assert latent_loss(aware[2]) < 0.9 * latent_loss(unaware[2])
    assert metrics.mae(aware[1], latent_new) < metrics.mae(unaware[1], latent_new)
    assert aware[0] > unaware[0]
    assert metrics.r2(aware[1], y_new) < metrics.r2(unaware[1], y_new)


@pytest.mark.filterwarnings("ignore:score got no threshold")
def test_score_is_minus_the_mean_censored_tilted_loss(capped):
    for side, sign in (("right", 1), ("left", -1)):
        model = CensoredQuantileRegressor(head="free", side=side, max_epochs=50, random_state=0)
        y, threshold = sign * capped.y, sign * capped.threshold
        model.fit(capped.X, y, threshold=threshold)
        quantiles = model.predict_quantiles(capped.X)
        held = (
            np.minimum(quantiles, capped.threshold[:, None])
            if sign == 1
            else np.maximum(quantiles, -capped.threshold[:, None])
        )
        thetas = np.array(model.quantiles)
        residual = y[:, None] - held
        by_hand = np.maximum(thetas * residual, (thetas - 1) * residual)
        assert model.score(capped.X, y, threshold=threshold) == pytest.approx(-by_hand.mean(), rel=1e-12)
        exact = censored_tilted_loss(y[:, None], quantiles, thetas, sign * np.inf, side=side)
        assert model.score(capped.X, y) == pytest.approx(-exact.mean(), rel=1e-12)
