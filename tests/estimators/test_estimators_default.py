"""The default on tables of many shapes: what follows from the data, and that it does what it is for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unmet import CensoredQuantileRegressor, fit_many, load
from unmet.datasets import make_synthetic
from unmet.estimators._programs import find_l2, find_normal_ridge, program_spec, suit_few_rows
from unmet.estimators._screen import scale_columns
from unmet.training._objective import distance_from_normal

LEVELS = (0.05, 0.5, 0.95)


def table(spread, rows=300, columns=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    latent = X[:, 0] - X[:, 1] + spread(X) * random.normal(size=rows)
    cap = 1 + random.normal(size=rows)
    return X, np.minimum(latent, cap), cap


def chosen(spread, **options):
    X, y, cap = table(spread, **options)
    found = scale_columns(X.T, y, (y >= cap).astype(float), np.ones(len(y)))
    return set(np.flatnonzero(found))


def test_only_columns_that_move_the_scale_enter_it():
    seeds = range(20)
    even = [chosen(lambda X: np.ones(len(X)), seed=seed) for seed in seeds]
    line = [chosen(lambda X: np.abs(1 + 0.7 * X[:, 2]), seed=seed) for seed in seeds]
    parabola = [chosen(lambda X: 0.2 + np.abs(X[:, 3]), seed=seed) for seed in seeds]
    assert sum(map(bool, even)) <= 3
    assert sum(2 in found for found in line) >= 19
    assert sum(3 in found for found in parabola) >= 17
    assert np.mean([len(found) for found in line + parabola]) < 1.5


def test_the_fit_of_the_screen_reads_censored_rows_as_bounds():
    # Caps that rise with a column hide more rows where it is low; the scale is constant all the same.
    random = np.random.default_rng(1)
    found = 0
    for _ in range(20):
        X = random.normal(size=(2, 400))
        latent = X[0] + random.normal(size=400)
        cap = 0.5 + X[1]
        hidden = latent > cap
        found += scale_columns(X, np.minimum(latent, cap), hidden.astype(float), np.ones(400)).any()
    assert found <= 4


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_screen_keeps_out_columns_of_skewed_noise(share):
    """No column moves the scale; without the correction for skewness about 13 of 40 data sets have one."""
    random, wrong = np.random.default_rng(3), 0
    for _ in range(40):
        columns = random.normal(size=(5, 300))
        y = columns[0] + np.exp(random.normal(size=300))
        cap = np.quantile(y, 1 - share)
        seen = np.minimum(y, cap)
        wrong += scale_columns(columns, (seen - seen.mean()) / seen.std(), y > cap, np.ones(300)).any()
    assert wrong <= 6


@pytest.mark.parametrize(
    ("noise", "wanted"), [("heteroskedastic", {2}), ("skewed-heteroskedastic", {2}), ("skewed-left", set())]
)
def test_a_column_that_moves_the_location_alone_does_not_enter(noise, wanted):
    # x1 decides how many rows are censored: a normal law for those, or one scale for all rows, lets it in.
    found = []
    for seed in range(20):
        data = make_synthetic(noise, n=700, seed=seed)
        columns = (data.X - data.X.mean(0)) / np.where(data.X.std(0) == 0, 1, data.X.std(0))
        y = (data.y - data.y.mean()) / data.y.std()
        found.append(set(np.flatnonzero(scale_columns(columns.T, -y, data.censored, np.ones(700)))))
    assert found.count(wanted) >= 18


@pytest.mark.parametrize("hidden", [np.ones(50, bool), np.arange(50) > 0])
def test_the_screen_stands_rows_of_which_all_are_censored(hidden):
    random = np.random.default_rng(0)
    assert not scale_columns(random.normal(size=(3, 50)), random.normal(size=50), hidden, np.ones(50)).any()


def test_the_screen_stands_a_perfect_line():
    columns = np.random.default_rng(0).normal(size=(2, 100))
    scale_columns(columns, columns[0], columns[1] > 1, np.ones(100))


def test_with_plenty_of_rows_every_column_enters():
    assert chosen(lambda X: np.ones(len(X)), rows=2000, columns=2) == {0, 1}


@pytest.mark.parametrize("column", [np.zeros(50), np.full(50, 1.0)])
def test_columns_without_variation_do_not_enter(column):
    y = np.random.default_rng(0).normal(size=50)
    assert not scale_columns(column[None], y, np.zeros(50), np.ones(50)).any()


def test_outliers_do_not_stretch_the_quantiles():
    X, y, cap = table(lambda X: np.ones(len(X)), columns=2)
    wild = y.copy()
    wild[::20] -= 40.0
    model = CensoredQuantileRegressor(quantiles=LEVELS, random_state=0)
    clean, moved = (m.predict_quantiles(X) for m in fit_many(model, [problem(X, v, cap) for v in (y, wild)]))
    assert np.abs(moved - clean).mean(axis=0).max() < 0.5


def problem(X, y, cap):
    return {"X": X, "y": y, "threshold": cap}


MLP = CensoredQuantileRegressor(quantiles=LEVELS, network="mlp", hidden=(8,), random_state=0)


def test_an_mlp_is_five_networks_stopped_on_rows_of_their_own(tmp_path):
    X, y, cap = table(lambda X: np.ones(len(X)), rows=101)
    fitted, again = fit_many(MLP, [problem(X, y, cap)] * 2)
    single = CensoredQuantileRegressor(**MLP.get_params()).fit(X, y, threshold=cap)
    assert len(single.history_) == 5
    assert all(len(history["validation_loss"]) == single.n_iter_ == 200 for history in single.history_)
    quantiles = single.predict_quantiles(X)
    for other in (fitted, again):
        np.testing.assert_array_equal(other.predict_quantiles(X), quantiles)
    single.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_quantiles(X), quantiles)
    assert (np.diff(quantiles, axis=1) > 0).all()
    between = single.predict_quantiles(X, quantiles=(0.5, 0.52, 0.95))
    np.testing.assert_array_equal(between[:, [0, 2]], quantiles[:, 1:])


def test_an_mlp_as_it_comes_does_not_fit_noise():
    X, y, cap = table(lambda X: np.ones(len(X)), rows=101)
    X_new, *_ = table(lambda X: np.ones(len(X)), rows=500, seed=9)
    truth = X_new[:, 0] - X_new[:, 1]
    as_it_comes, to_the_end = (
        np.abs(model.fit(X, y, threshold=cap).predict(X_new) - truth).mean()
        for model in (MLP, CensoredQuantileRegressor(**{**MLP.get_params(), "patience": None, "l2": 0.0}))
    )
    assert as_it_comes < 0.6 * to_the_end


@pytest.mark.parametrize("settings", [{"max_epochs": 7}, {"patience": 3}, {"head": "free", "max_epochs": 7}])
def test_explicit_training_is_one_network(settings):
    X, y, cap = table(lambda X: np.ones(len(X)), rows=101)
    model = CensoredQuantileRegressor(**{**MLP.get_params(), **settings}).fit(X, y, threshold=cap)
    assert isinstance(model.history_, dict)
    assert ("validation_loss" in model.history_) == ("patience" in settings)


def test_layers_of_an_mlp_follow_from_its_rows_and_are_saved(tmp_path):
    X, y, cap = table(lambda X: np.ones(len(X)), rows=101)
    model = CensoredQuantileRegressor(quantiles=LEVELS, network="mlp", random_state=0)
    model.fit(X, y, threshold=cap)
    assert len(model.history_) == 7
    assert model.fitted_.members[0].spec.network.hidden == (32, 32, 32)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_quantiles(X), model.predict_quantiles(X))


def test_few_rows_change_only_what_is_automatic():
    def suited(rows=2000, folds=5, **settings):
        model = CensoredQuantileRegressor(network="mlp", **settings)
        found, networks = suit_few_rows(model._settings(), rows, folds)
        return found.network.hidden, found.learning_rate, find_l2(found, 3, rows), networks

    assert suited() == ((32, 32, 32), 0.05, 0.0015, 7)
    assert suited(rows=300) == ((32, 32, 32), 0.05, 0.003, 7)
    assert suited(learning_rate=0.1, l2=0.0) == ((32, 32, 32), 0.1, 0.0, 7)
    assert suited(hidden=(64, 64)) == suited(rows=4097) == ((64, 64), 0.02, 0.001, 5)
    assert suited(folds=1) == ((64, 64), 0.02, 0.001, 1)


@pytest.mark.parametrize("name", ["l2", "patience", "hidden"])
def test_only_auto_is_a_word(name):
    with pytest.raises(ValueError, match=name):
        CensoredQuantileRegressor(**{name: "best"}).fit(np.ones((4, 1)), np.arange(4.0))


def test_the_shape_is_drawn_to_the_normal_one_less_by_more_rows():
    settings = CensoredQuantileRegressor()._settings()
    assert find_normal_ridge(settings, 100) == 10 * find_normal_ridge(settings, 1000)
    assert find_normal_ridge(CensoredQuantileRegressor(head="free")._settings(), 100) == 0


def test_a_shape_near_the_normal_one_is_drawn_in_and_a_far_one_is_not():
    def slope(skew):
        return float(jax.grad(distance_from_normal)(jnp.array([skew, 0.0]))[0])

    assert float(distance_from_normal(jnp.zeros(2))) == slope(0) == 0
    assert slope(0.05) / 0.05 > 50 * slope(1.0) / 1.0
    assert slope(-0.3) == -slope(0.3)


@pytest.mark.parametrize(
    ("rows", "steps"), [(4_096, 2000), (10_000, 3000), (100_000, 2000), (10**6, 4890), (10**7, 10_000)]
)
def test_steps_of_the_default_follow_from_the_rows(rows, steps):
    settings = CensoredQuantileRegressor()._settings()
    levels = settings.head.grid
    spec, epochs = program_spec(settings, "quantile", False, 20, rows, 0, levels, 1)
    assert steps <= epochs * spec.batches < steps + 2 * spec.batches
