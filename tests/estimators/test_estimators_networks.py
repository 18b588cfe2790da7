"""Networks of the user's own, sequences with static columns, shapes that fit the data."""

import equinox as eqx
import jax
import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, TobitRegressor, fit_many, load


def small_network(columns, outputs, key):
    """One hidden layer, written with Equinox's own parts."""
    return eqx.nn.MLP(columns, outputs, width_size=8, depth=1, activation=jax.nn.tanh, key=key)


class Quadratic(eqx.Module):
    """Reads squares as well as the values."""

    linear: eqx.nn.Linear

    def __init__(self, columns, outputs, key):
        self.linear = eqx.nn.Linear(2 * columns, outputs, key=key)

    def __call__(self, x):
        return self.linear(jax.numpy.concatenate([x, x * x]))


OWN = CensoredQuantileRegressor(network=small_network, head="location-scale", max_epochs=40, random_state=0)


@pytest.mark.parametrize("head", ["free", "monotone", "location-scale"])
def test_a_network_of_ones_own(capped, head):
    model = clone(OWN).set_params(head=head).fit(capped.X, capped.y, threshold=capped.threshold)
    quantiles = model.predict_quantiles(capped.X)
    assert np.isfinite(quantiles).all()
    assert np.ptp(quantiles[:, 1]) > 0
    again = clone(model).fit(capped.X, capped.y, threshold=capped.threshold)
    assert again.predict_quantiles(capped.X).tobytes() == quantiles.tobytes()
    other = clone(model).set_params(random_state=1).fit(capped.X, capped.y, threshold=capped.threshold)
    assert not np.array_equal(other.predict_quantiles(capped.X), quantiles)


def test_a_class_can_be_the_network():
    X = np.linspace(-2, 2, 60)[:, None]
    y = X[:, 0] ** 2
    model = CensoredQuantileRegressor(network=Quadratic, head="free", quantiles=(0.5,), random_state=0)
    assert np.abs(model.fit(X, y).predict(X) - y).max() < 0.1


def test_many_fits_of_a_network_of_ones_own(make):
    problems = [{"X": d.X, "y": d.y, "random_state": i} for i, d in ((i, make(50, 2, i)) for i in range(3))]
    for model, problem in zip(fit_many(OWN, problems), problems, strict=True):
        one = clone(OWN).set_params(random_state=problem["random_state"]).fit(problem["X"], problem["y"])
        assert np.array_equal(model.predict_quantiles(problem["X"]), one.predict_quantiles(problem["X"]))


def test_saving_and_loading_a_network_of_ones_own(capped, tmp_path):
    model = clone(OWN).fit(capped.X, capped.y)
    model.save(tmp_path / "own")
    with pytest.raises(ValueError, match="network="):
        load(tmp_path / "own")
    loaded = load(tmp_path / "own", network=small_network)
    assert loaded.predict_quantiles(capped.X).tobytes() == model.predict_quantiles(capped.X).tobytes()
    wrong = load(tmp_path / "own", network=Quadratic)
    with pytest.raises(ValueError, match="do not"):
        wrong.predict(capped.X)
    plain = clone(OWN).set_params(network="linear").fit(capped.X, capped.y)
    plain.save(tmp_path / "plain")
    with pytest.raises(ValueError, match="network= is only"):
        load(tmp_path / "plain", network=small_network)


def test_an_lstm_reads_its_sequence_and_its_static_columns():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5))  # two steps of two features, one static column
    y = X[:, 0] - X[:, 3] + 2 * X[:, 4]
    model = CensoredQuantileRegressor(
        network="lstm",
        units=8,
        sequence=(2, 2),
        head="free",
        quantiles=(0.5,),
        max_epochs=200,
        random_state=0,
    )
    fit = model.fit(X, y).predict(X)
    assert np.abs(fit - y).mean() < 0.25
    for column in (0, 3, 4):
        moved = X.copy()
        moved[:, column] += 0.5
        assert np.abs(model.predict(moved) - fit).mean() > 0.1


def test_an_lstm_without_a_sequence_reads_all_columns_one_by_one(capped):
    settings = {"network": "lstm", "units": 4, "head": "free", "max_epochs": 10, "random_state": 0}
    default = CensoredQuantileRegressor(**settings).fit(capped.X, capped.y)
    given = CensoredQuantileRegressor(**settings, sequence=(2, 1)).fit(capped.X, capped.y)
    assert np.array_equal(default.predict(capped.X), given.predict(capped.X))
    static = CensoredQuantileRegressor(**settings, sequence=(1, 1)).fit(capped.X, capped.y)
    assert not np.array_equal(default.predict(capped.X), static.predict(capped.X))


@pytest.mark.parametrize("network", ["mlp", "lstm"])
def test_the_networks_take_their_sizes_and_activations(capped, network):
    def size(**settings):
        model = TobitRegressor(network=network, max_epochs=2, random_state=0, **settings)
        return model.fit(capped.X, capped.y).fitted_.members[0].weights.size

    if network == "mlp":
        # (columns + 1) · first + (first + 1) · second + (second + 1) · 1, and the scale
        assert size(hidden=(8, 4)) == 3 * 8 + 9 * 4 + 5 + 1
        assert size(hidden=(3,)) == size(hidden=3) == 3 * 3 + 4 + 1
    else:
        # four gates of (features + units + 1), the output, and the scale
        assert size(units=4) == 4 * 4 * (1 + 4 + 1) + 5 + 1
        assert size(units=2, sequence=(1, 1)) == 4 * 2 * (1 + 2 + 1) + (2 + 1 + 1) + 1


def test_an_mlp_bends_where_a_line_cannot():
    X = np.linspace(-2, 2, 60)[:, None]
    y = np.abs(X[:, 0])
    common = {"head": "free", "quantiles": (0.5,), "random_state": 0}
    bent = CensoredQuantileRegressor(network="mlp", hidden=(8,), max_epochs=500, **common).fit(X, y)
    straight = CensoredQuantileRegressor(**common).fit(X, y)
    assert np.abs(bent.predict(X) - y).mean() < 0.2 * np.abs(straight.predict(X) - y).mean()
