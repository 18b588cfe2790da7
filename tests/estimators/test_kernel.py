"""network="kernel": the features are those of a Gaussian kernel, and fits keep every promise of a network."""

import re

import jax
import numpy as np
import pytest

from unmet import CensoredQuantileRegressor, fit_many, load
from unmet.networks import Kernel
from unmet.networks._kernel import circle, frequencies

LEVELS = (0.25, 0.5)


@pytest.fixture(scope="module")
def curve():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (240, 1))
    latent = np.sin(3 * X[:, 0]) + 0.3 * random.normal(size=240)
    cap = 0.8 + random.normal(size=240)
    return X, np.minimum(latent, cap), cap


@pytest.fixture(scope="module")
def fitted(curve):
    X, y, cap = curve
    return CensoredQuantileRegressor(network="kernel", quantiles=LEVELS, random_state=0).fit(
        X, y, threshold=cap
    )


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_products_of_features_are_the_gaussian_kernel(columns):
    random = np.random.default_rng(1)
    x = random.normal(size=(columns, 30))
    waves = frequencies(128, columns) @ x
    features = np.concatenate([np.cos(waves), np.sin(waves)]) / np.sqrt(128)
    apart = np.square(x[:, :, None] - x[:, None]).sum(axis=0)
    np.testing.assert_allclose(features.T @ features, np.exp(-apart / 2), atol=0.03 * columns**1.5)


def test_frequencies_of_a_column_do_not_depend_on_the_others():
    np.testing.assert_array_equal(frequencies(16, 40)[:, :3], frequencies(16, 3))
    assert np.abs(np.corrcoef(frequencies(128, 16).T) - np.eye(16)).max() < 0.5


def test_cosines_and_sines_are_right_and_do_not_take_a_number_at_a_time():
    angle = np.linspace(-60, 60, 100_001, dtype=np.float32)
    exact = np.cos(angle.astype(np.float64)), np.sin(angle.astype(np.float64))
    for found, right in zip(circle(angle), exact):
        np.testing.assert_allclose(found, right, atol=1e-5)
    (cosine, sine), change = jax.jvp(circle, (angle,), (np.ones_like(angle),))
    np.testing.assert_array_equal(change, (-sine, cosine))
    assert not re.search(r"\b(cos|sin)\b", str(jax.make_jaxpr(jax.grad(lambda x: circle(x)[0]))(1.0)))


def test_a_curve_is_followed_where_a_line_cannot(curve, fitted):
    X, y, cap = curve
    line = CensoredQuantileRegressor(quantiles=LEVELS, random_state=0).fit(X, y, threshold=cap)
    grid = np.linspace(-1.8, 1.8, 60)[:, None]
    truth = np.sin(3 * grid) + 0.3 * np.array([-0.6745, 0.0])
    error = np.abs(fitted.predict_quantiles(grid) - truth).mean()
    assert error < 0.15
    assert error < 0.4 * np.abs(line.predict_quantiles(grid) - truth).mean()


def test_saved_models_and_many_fits_are_the_same_to_the_bit(curve, fitted, tmp_path):
    X, y, cap = curve
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_quantiles(X), fitted.predict_quantiles(X))
    problems = [{"X": X, "y": y, "threshold": cap}, {"X": X[::-1], "y": y[::-1], "threshold": cap[::-1]}]
    model = CensoredQuantileRegressor(network="kernel", quantiles=LEVELS, random_state=0)
    for one in fit_many(model, problems):
        np.testing.assert_array_equal(one.predict_quantiles(X), fitted.predict_quantiles(X))


def test_settings_of_other_networks_are_refused(curve):
    X, y, _ = curve
    with pytest.raises(
        ValueError, match="activation is for network='mlp' and 'lstm'; network='kernel' has none"
    ):
        CensoredQuantileRegressor(network="kernel", activation="tanh").fit(X, y)
    with pytest.raises(AttributeError, match="only for network='linear'"):
        CensoredQuantileRegressor(network="kernel", head="free", max_epochs=2).fit(X, y).coef_


def test_bandwidths_are_one_per_column(fitted):
    assert Kernel.__doc__ is not None
    arrays = fitted._pack()[1]
    assert {name: array.shape for name, array in arrays.items() if "bandwidth" in name} == {
        f"member{number}.body.log_bandwidth": (1,) for number in range(5)
    }
    assert any((array != 0).any() for name, array in arrays.items() if "bandwidth" in name)
