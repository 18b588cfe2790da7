"""How deep a forest grows by itself: weak, strong and no signal, its score by hand, files."""

import numpy as np
import pytest

from unmet import CensoredQuantileForest, load, metrics
from unmet.censoring import kaplan_meier
from unmet.estimators.trees._depth import out_of_bag_score
from unmet.estimators.trees._neighbours import grow
from unmet.runs import ModelFileError, load_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore:quantiles.*not identified")


def forest(leaf="auto", **settings):
    return CensoredQuantileForest(
        **{"min_samples_leaf": leaf, "n_estimators": 60, "random_state": 0, **settings}
    )


def draw(strength, rows=600, seed=920, shape=np.sin):
    """Return rows with one useful column of three, 40% censored, depending on another column; and truth."""
    random = np.random.default_rng(seed)
    X = random.uniform(-3, 3, (rows, 3))
    middle = strength * shape(X[:, 0])
    latent = middle + random.normal(size=rows)
    cap = 0.5 + 0.2 * X[:, 1] + random.normal(size=rows) * np.std(latent)
    return X, np.minimum(latent, cap), latent > cap, middle


def error(leaf, *drawn):
    X, y, censored, middle = drawn
    return metrics.mae(forest(leaf).fit(X, y, censored=censored).predict(X), middle)


@pytest.mark.parametrize("seed", [920, 921, 922])
def test_weak_signals_get_large_leaves_and_smaller_errors(seed):
    assert error("auto", *draw(0.2, seed=seed)) < 0.8 * error(8, *draw(0.2, seed=seed))


@pytest.mark.parametrize("seed", [920, 921, 922])
def test_strong_signals_keep_small_leaves(seed):
    X, y, censored, middle = draw(5.0, seed=seed, shape=lambda x: np.sin(3 * x))
    assert forest().fit(X, y, censored=censored).min_samples_leaf_ <= 16
    assert error("auto", X, y, censored, middle) < 1.02 * error(8, X, y, censored, middle)


def test_without_a_signal_the_forest_is_kaplan_meier(tmp_path):
    X, y, censored, _ = draw(0.0, seed=923)
    model = forest().fit(X, y, censored=censored)
    assert model.min_samples_leaf_ == len(y)
    law, levels = kaplan_meier(y, censored), (0.1, 0.3, 0.5)
    expected = [[law.level(level) for level in levels]] * 2
    assert model.predict_quantiles(X[:2], levels).tolist() == expected
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.min_samples_leaf_ == len(y)
    assert loaded.predict_quantiles(X[:2], levels).tolist() == expected


def test_the_choice_is_a_number_that_gives_the_same_forest(tmp_path):
    X, y, censored, _ = draw(1.0)
    model = forest().fit(X, y, censored=censored)
    leaf = model.min_samples_leaf_
    assert 8 <= leaf < len(y)
    given = forest(leaf).fit(X, y, censored=censored)
    assert given.min_samples_leaf_ == leaf
    assert given.predict_quantiles(X).tobytes() == model.predict_quantiles(X).tobytes()
    # threads, the side, units of y and the order of rows do not matter
    assert forest(n_jobs=2).fit(X, y, censored=censored).min_samples_leaf_ == leaf
    assert forest(side="left").fit(X, -y, censored=censored).min_samples_leaf_ == leaf
    assert forest().fit(X, np.exp(y), censored=censored).min_samples_leaf_ == leaf
    assert forest().fit(X[::-1], y[::-1], censored=censored[::-1]).min_samples_leaf_ == leaf

    model.save(tmp_path / "model")
    assert load(tmp_path / "model").min_samples_leaf_ == leaf
    config, arrays = load_model(tmp_path / "model")
    save_model(tmp_path / "edited", {**config, "leaf": 0}, arrays)
    with pytest.raises(ModelFileError, match="leaf"):
        load(tmp_path / "edited").predict(X)


def test_weights_count_in_the_choice():
    """Two strong halves, one of which is noise in the other column: the heavy half decides."""
    X, y, censored, _ = draw(5.0, seed=924, shape=lambda x: np.sin(3 * x))
    noise = np.random.default_rng(0).permutation(len(y))
    both = np.concatenate([X, X + 10]), np.concatenate([y, y[noise]])
    flags = np.concatenate([censored, censored[noise]])
    heavy = np.repeat([1.0, 1e-3], len(y))
    strong = forest().fit(*both, censored=flags, sample_weight=heavy).min_samples_leaf_
    weak = forest().fit(*both, censored=flags, sample_weight=heavy[::-1]).min_samples_leaf_
    assert strong < weak


def test_the_score_is_the_brier_score_of_rows_left_out():
    """Of a forest without splits: each row is judged by Kaplan–Meier estimates of all others."""
    random = np.random.default_rng(5)
    latent, cap = random.normal(size=(2, 90))
    y, censored = np.minimum(latent, cap + 0.5), latent > cap + 0.5
    found, _, grown = grow(
        np.ones((90, 1)),
        y,
        censored,
        np.ones(90),
        n_estimators=20,
        min_samples_leaf=90,
        max_features=1.0,
        seed=0,
    )
    y, censored = found.y, found.censored
    others = [np.delete(np.arange(90), row) for row in range(90)]
    laws = [kaplan_meier(y[rest], censored[rest]) for rest in others]
    staying = kaplan_meier(y, ~censored)
    times = np.array([time for time in y if 1 - staying(float(np.nextafter(time, -9))) > 0.1])
    survival = np.array([[1 - law(float(time)) for time in times] for law in laws])
    width = np.diff([kaplan_meier(y, censored)(float(time)) for time in times], prepend=0.0)
    expected = metrics.brier_score(y, censored, survival, times) @ width
    assert out_of_bag_score(found, grown) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("leaf", [0, 2.5, "many", None, True])
def test_wrong_leaves_are_refused(leaf):
    with pytest.raises(ValueError, match="min_samples_leaf"):
        forest(leaf).fit(*draw(1.0)[:2])
