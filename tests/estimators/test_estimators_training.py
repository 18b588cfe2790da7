"""How training goes: stopping, validation rows, restarts, mini-batches, histories, progress."""

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor
from unmet.losses import tilted_loss

FREE = CensoredQuantileRegressor(head="free", max_epochs=40, random_state=0)


def weights(model):
    return model.fitted_.members[0].weights.tobytes()


@pytest.fixture(scope="module")
def held():
    return np.arange(60) % 4 == 0


def test_same_seed_same_bits_other_seed_other_bits(capped):
    model = clone(FREE).set_params(initialiser="normal")
    first, again = (weights(clone(model).fit(capped.X, capped.y)) for _ in range(2))
    assert first == again
    assert weights(clone(model).set_params(random_state=1).fit(capped.X, capped.y)) != first
    generator = [
        weights(clone(model).set_params(random_state=np.random.RandomState(4)).fit(capped.X, capped.y))
        for _ in range(2)
    ]
    assert generator[0] == generator[1]


def test_early_stopping_keeps_the_best_weights(capped, held):
    model = clone(FREE).set_params(patience=3, learning_rate=0.5, schedule="constant")
    model.fit(capped.X, capped.y, validation=held)
    watched = model.history_["validation_loss"]
    assert model.n_iter_ == len(watched) == len(model.history_["loss"]) < 40
    best = int(np.argmin(watched))
    assert model.n_iter_ - 1 - best == 3  # stopped after three epochs without improvement
    quantiles = model.predict_quantiles(capped.X[held])
    loss = tilted_loss(capped.y[held][:, None], quantiles, np.array(model.quantiles)).mean()
    assert loss / model.fitted_.scaling.y_scale == pytest.approx(watched[best], rel=1e-4)
    assert watched[best] < watched[-1]


def test_validation_without_patience_trains_to_the_end_and_keeps_the_best(capped, held):
    model = clone(FREE).set_params(learning_rate=0.5, schedule="constant")
    model.fit(capped.X, capped.y, validation=held)
    watched = model.history_["validation_loss"]
    assert len(watched) == 40
    quantiles = model.predict_quantiles(capped.X[held])
    loss = tilted_loss(capped.y[held][:, None], quantiles, np.array(model.quantiles)).mean()
    assert loss / model.fitted_.scaling.y_scale == pytest.approx(watched.min(), rel=1e-4)


def test_validation_rows_influence_nothing_but_stopping(capped, held):
    model = clone(FREE).set_params(max_epochs=15)
    plain = clone(model).fit(capped.X, capped.y, validation=held)
    # While the loss on them falls in every epoch, the best epoch is the last, whatever their values.
    assert (np.diff(plain.history_["validation_loss"]) < 0).all()
    y = np.where(held, capped.y + 1e-3, capped.y)
    moved = clone(model).fit(capped.X, y, validation=held)
    assert (np.diff(moved.history_["validation_loss"]) < 0).all()
    assert not np.array_equal(moved.history_["validation_loss"], plain.history_["validation_loss"])
    assert np.array_equal(moved.history_["loss"], plain.history_["loss"])
    assert weights(moved) == weights(plain)
    assert moved.fitted_.scaling.y_center == plain.fitted_.scaling.y_center
    without = clone(model).fit(capped.X[~held], capped.y[~held])
    assert np.allclose(without.predict_quantiles(capped.X), plain.predict_quantiles(capped.X), atol=1e-5)


def test_the_share_held_out_follows_validation_fraction(capped):
    model = clone(FREE).set_params(patience=2, validation_fraction=0.5)
    other = clone(FREE).set_params(patience=2, validation_fraction=0.1)
    assert weights(model.fit(capped.X, capped.y)) != weights(other.fit(capped.X, capped.y))
    assert "validation_loss" in model.history_


def test_restarts_keep_the_lowest_loss(capped):
    base = clone(FREE).set_params(initialiser="normal", max_epochs=5)
    many = clone(base).set_params(n_restarts=6).fit(capped.X, capped.y)
    one = clone(base).fit(capped.X, capped.y)
    assert many.history_["loss"][-1] < one.history_["loss"][-1]  # six draws from far away differ
    few = clone(base).set_params(n_restarts=3).fit(capped.X, capped.y)
    assert many.history_["loss"][-1] <= few.history_["loss"][-1] <= one.history_["loss"][-1]
    stopped = clone(base).set_params(n_restarts=6, patience=2).fit(capped.X, capped.y)
    single = clone(base).set_params(patience=2).fit(capped.X, capped.y)
    assert stopped.history_["validation_loss"].min() <= single.history_["validation_loss"].min()


def test_one_network_per_quantile_has_a_history_each(capped):
    model = clone(FREE).set_params(joint=False, patience=2, learning_rate=0.5, schedule="constant")
    model.fit(capped.X, capped.y)
    assert len(model.history_) == 3
    lengths = [len(history["loss"]) for history in model.history_]
    assert len(set(lengths)) > 1  # each stops on its own
    assert model.n_iter_ == max(lengths)


def test_one_network_per_quantile_is_that_quantile_fitted_alone(capped):
    model = clone(FREE).set_params(joint=False).fit(capped.X, capped.y)
    alone = clone(FREE).set_params(quantiles=(0.05,)).fit(capped.X, capped.y)
    assert np.array_equal(model.predict_quantiles(capped.X)[:, 0], alone.predict(capped.X))


@pytest.mark.parametrize("settings", [{"batch_size": 32}, {"batch_size": 32, "dropout": 0.1}], ids=str)
def test_mini_batches_learn(make, settings):
    data = make(256, 2)
    model = clone(FREE).set_params(max_epochs=50, random_state=0, **settings).fit(data.X, data.latent)
    truth = 1 + data.X @ [1, -0.5]
    assert np.corrcoef(model.predict(data.X), truth)[0, 1] > 0.97
    assert np.abs(model.predict(data.X) - truth).mean() < 0.25
    again = clone(model).fit(data.X, data.latent)
    assert weights(again) == weights(model)


def test_dropout_is_for_training_only(capped):
    model = clone(FREE).set_params(dropout=0.5).fit(capped.X, capped.y)
    assert np.array_equal(model.predict(capped.X), model.predict(capped.X))
    assert weights(model) != weights(clone(FREE).fit(capped.X, capped.y))
    assert weights(model) == weights(clone(FREE).set_params(dropout=0.5).fit(capped.X, capped.y))


@pytest.mark.parametrize(
    "settings",
    [
        {"l2": 0.5},
        {"clip_norm": 0.001},
        {"smoothing": 0.5},
        {"learning_rate": 0.001},
        {"schedule": "constant"},
        {"fit_intercept": False},
        {"standardise": False},
        {"initialiser": "ones"},
        {"max_epochs": 39},
        {"loss": "published"},
    ],
    ids=str,
)
def test_no_parameter_is_ignored(capped, settings):
    known = {"threshold": capped.threshold}
    plain = clone(FREE).fit(capped.X, capped.y, **known).predict_quantiles(capped.X)
    other = clone(FREE).set_params(**settings).fit(capped.X, capped.y, **known).predict_quantiles(capped.X)
    assert np.abs(other - plain).max() > 1e-4


def test_l2_shrinks_slopes_and_leaves_the_intercept(capped):
    strong = clone(FREE).set_params(l2=100.0, max_epochs=1000).fit(capped.X, capped.y)
    assert np.abs(strong.coef_).max() < 0.02
    median = np.median(capped.y)
    assert strong.intercept_[1] == pytest.approx(median, abs=0.1)


def test_without_an_intercept_zero_stays_zero(capped):
    model = clone(FREE).set_params(fit_intercept=False, standardise=False).fit(capped.X, capped.y)
    assert np.abs(model.predict_quantiles(np.zeros((1, 2)))).max() < 1e-6


def test_the_loss_falls(capped):
    model = clone(FREE).fit(capped.X, capped.y, threshold=capped.threshold)
    assert model.history_["loss"][-1] < model.history_["loss"][0]


def test_progress_is_shown_when_asked_for(capped, capfd):
    clone(FREE).set_params(progress=True).fit(capped.X, capped.y)
    shown = "".join(capfd.readouterr())
    assert "fit" in shown
    clone(FREE).set_params(progress=False).fit(capped.X, capped.y)
    assert "".join(capfd.readouterr()) == ""


def test_the_learning_rate_falls_within_an_epoch():
    """A large table takes few passes: a rate that changed only between them would end far from zero."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(20_000, 3)), rng.normal(size=(500, 3))
    y = X @ [1, -2, 0.5] + rng.normal(size=len(X))
    settings = {"quantiles": [0.5], "max_epochs": 2, "batch_size": 64, "learning_rate": 0.02}
    model = CensoredQuantileRegressor(**settings, random_state=0).fit(X, y)
    assert np.abs(model.predict(new).ravel() - new @ [1, -2, 0.5]).mean() < 0.02
