"""Bayesian censored quantiles of data that hardly tell, overflow, or have bounds that nearly meet."""

import warnings

import numpy as np
import pytest

from unmet import BayesianCensoredQuantiles
from unmet.estimators.bayes._diagnostics import split_rhat
from unmet.estimators.bayes._hamiltonian import sample
from unmet.estimators.bayes._laplace import between


@pytest.mark.parametrize("width", [1e-9, 1e-15, 3e-16])
def test_narrow_intervals_are_as_good_as_values(width):
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 1))
    y = 1 + X[:, 0] + random.normal(size=100)
    given = {"method": "augmented", "quantiles": (0.3, 0.6), "n_draws": 500, "random_state": 0}
    upper = np.where(np.arange(100) < 50, y + width * np.maximum(np.abs(y), 1), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        narrow = BayesianCensoredQuantiles(**given).fit(X, lower=y, upper=upper)
    exact = BayesianCensoredQuantiles(**given).fit(X, y)
    np.testing.assert_allclose(narrow.coef_, exact.coef_, atol=0.05)


def test_bounds_close_together_keep_their_digits():
    low, theta = np.array([-3.0, -1e-9, 0.5]), np.array(0.3)
    value, first, second = between(low, low + 2.0**-40, theta)
    density = np.log(theta * (1 - theta)) - np.maximum(theta * low, (theta - 1) * low)
    np.testing.assert_allclose(value, density - 40 * np.log(2), rtol=1e-8)
    np.testing.assert_allclose(first, -second, rtol=1e-8)


def test_what_hardly_tells_gives_no_warnings_of_arithmetic():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    model = BayesianCensoredQuantiles(method="augmented", n_chains=2, n_draws=300, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, random.normal(size=60), censored=np.arange(60) > 0)
    assert {warning.category for warning in caught} == {UserWarning}
    assert np.isfinite(model.samples_).all()


def test_values_that_overflow_are_refused():
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match=r"y holds values beyond .* larger units"):
        BayesianCensoredQuantiles(method="augmented").fit(X, X[:, 0] * 1e200)


def test_a_chain_leaves_a_start_without_a_density():
    def density(at):
        return np.where(np.abs(at[..., 0]) < 5, -0.5 * np.square(at[..., 0]), np.nan)

    middle, covariance = np.array([[5.2]]), np.array([[[0.25]]])
    found = sample(density, np.negative, middle, covariance, chains=4, draws=500, seed=0)
    assert np.abs(found.mean(axis=(0, 1))) < 0.3
    assert split_rhat(found).max() < 1.1
