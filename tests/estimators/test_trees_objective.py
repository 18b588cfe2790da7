"""The bare objective for boosters: the slope of the loss, weights, both sides."""

import lightgbm
import numpy as np
import pytest

from unmet import censored_objective
from unmet.losses import censored_tilted_loss


def test_the_bare_objective_is_the_slope_of_the_loss_on_both_sides(capped):
    q = np.random.default_rng(0).normal(size=60)
    for side, sign in (("right", 1), ("left", -1)):
        y, threshold = sign * capped.y, sign * capped.threshold
        objective = censored_objective(y, quantile=0.3, threshold=threshold, side=side)
        gradient, bend = objective(q, None)

        def loss(q, y=y, threshold=threshold, side=side):
            return censored_tilted_loss(y, q, 0.3, threshold, side=side)

        assert np.allclose(gradient, (loss(q + 1e-7) - loss(q - 1e-7)) / 2e-7, atol=1e-6)
        assert (bend > 0).all()
    y = np.clip(capped.y, 0.2, 1.8)
    gradient, _ = censored_objective(y, quantile=0.3, threshold=(0.2, 1.8), side="both")(q, None)
    assert gradient.tolist() == np.where((q > 0.2) & (q < 1.8), (q > y) - 0.3, 0.0).tolist()
    data = lightgbm.Dataset(capped.X, label=capped.y)
    objective = censored_objective(capped.y, quantile=0.5, threshold=capped.threshold)
    settings = {"objective": objective, "verbosity": -1, "min_data_in_leaf": 5, "num_threads": 1}
    found = lightgbm.train(settings, data, num_boost_round=20).predict(capped.X)
    assert np.corrcoef(found, capped.latent)[0, 1] > 0.5


@pytest.mark.parametrize("known", ["threshold", "flags"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_bare_objective_counts_weights_as_repeated_rows(known, side, capped):
    random = np.random.default_rng(2)
    weight, q, level = random.integers(1, 4, 60), random.normal(size=60), random.uniform(size=60)
    sign = 1 if side == "right" else -1
    rows = {"y": sign * capped.y, "threshold": sign * capped.threshold}
    if known == "flags":
        rows = {"y": sign * capped.y, "censored": capped.censored, "level": level}
    settings = {"num_leaves": 4, "min_data_in_leaf": 0, "min_data_in_bin": 1}
    settings |= {"verbosity": -1, "num_threads": 1}

    def fit(times, weight):
        repeated = {name: np.repeat(values, times) for name, values in rows.items()}
        objective = censored_objective(**repeated, quantile=0.3, side=side)
        data = lightgbm.Dataset(np.repeat(capped.X.round(1), times, 0), repeated["y"], weight=weight)
        found = lightgbm.train({**settings, "objective": objective}, data, num_boost_round=20)
        slope, bend = objective(np.repeat(q, times), data)
        return found.predict(capped.X.round(1)), slope, bend

    once, slope, bend = fit(1, weight)
    repeated, slopes, bends = fit(weight, None)
    place = np.repeat(np.arange(60), weight)
    np.testing.assert_allclose(slope, np.bincount(place, slopes, 60), atol=1e-12)
    np.testing.assert_allclose(bend, np.bincount(place, bends, 60), atol=1e-12)
    # LightGBM breaks ties between splits by rounding: nearly the same trees
    assert np.abs(once - repeated).mean() < 0.2 * np.abs(once - fit(1, None)[0]).mean()


def test_the_bare_objective_takes_data_without_weights(capped):
    class Unweighted:  # XGBoost answers with no numbers where LightGBM answers None
        def get_weight(self):
            return np.empty(0, np.float32)

    objective = censored_objective(capped.y, quantile=0.3, threshold=capped.threshold)
    for one, other in zip(objective(np.zeros(60), Unweighted()), objective(np.zeros(60))):
        assert one.tobytes() == other.tobytes()
