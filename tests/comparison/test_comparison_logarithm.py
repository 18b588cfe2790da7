"""The hint to take logarithms: for skewed values however they are cut off, and not for normal ones."""

import numpy as np
import pytest
from scipy.stats import norm

from unmet import TobitRegressor, compare
from unmet.censoring import observe
from unmet.comparison import METHODS
from unmet.comparison._cautions import logarithm_caution
from unmet.comparison._logarithm import _likelihoods, wants_logarithm

N = 300


def cut(values, at):
    return observe(np.minimum(values, at), censored=values > at)


def lifetimes(random, X):
    return cut(np.exp(5 + 0.5 * X[:, 0]) * random.weibull(1.3, N), random.exponential(300, N))


def half_hidden(random, X):
    return cut(np.exp(1 + 0.5 * X[:, 0] + 0.8 * random.normal(size=N)), random.uniform(1, 4, N))


def concentrations(random, X):
    values = np.exp(0.6 * X[:, 0] + random.normal(size=N))
    return observe(np.maximum(values, 0.5), threshold=0.5, side="left")


def intervals(random, X):
    values = np.exp(1 + random.normal(size=N))
    return observe(lower=np.where(values < 1, -np.inf, np.floor(values)), upper=np.floor(values) + 1)


def normal(random, X):
    return observe(20 + X[:, 0] + 3 * random.normal(size=N))


def normal_cut(random, X):
    return cut(14 + 2 * X[:, 0] + 2 * random.normal(size=N), random.uniform(10, 18, N))


def counts(random, X):
    return cut(1.0 + random.poisson(15, N), random.integers(8, 25, N).astype(float))


def normal_around_a_skewed_column(random, X):
    return observe(5 + np.exp(X[:, 1]) + random.uniform(-1, 1, N))


def negative(random, X):
    return observe(np.exp(1.5 * random.normal(size=N)) - 1)


def nearly_all_hidden(random, X):
    return observe(np.full(N, 2.0), censored=np.arange(N) > 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [lifetimes, half_hidden, concentrations, intervals])
def test_skewed_values_are_told_however_they_are_cut_off(make, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 2))
    assert wants_logarithm(X, make(random, X))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "make", [normal, normal_cut, counts, normal_around_a_skewed_column, negative, nearly_all_hidden]
)
def test_others_are_not(make, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 2))
    observed = make(random, X)
    if make is normal_around_a_skewed_column:
        X = np.exp(X)
    assert not wants_logarithm(X, observed)


def test_the_likelihood_is_that_of_the_best_normal_law():
    random = np.random.default_rng(5)
    values, at = 3 + 2 * random.normal(size=4_000), 3 + 2 * random.normal(size=4_000)
    low = np.minimum(values, at)
    high = np.where(values > at, np.inf, values)
    found = _likelihoods(np.empty((4_000, 0)), low, high)
    seen = values <= at
    expected = np.where(seen, norm.logpdf(low, 3, 2), norm.logsf(low, 3, 2))
    assert found.sum() >= expected.sum()
    assert found.mean() == pytest.approx(expected.mean(), abs=2e-3)
    wide = _likelihoods(np.empty((4_000, 0)), np.floor(values), np.floor(values) + 1)
    chance = norm.cdf(np.floor(values) + 1, 3, 2) - norm.cdf(np.floor(values), 3, 2)
    assert wide.mean() == pytest.approx(np.log(chance).mean(), abs=2e-3)


def test_the_hint_is_a_note_of_the_comparison():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 2))
    observed = lifetimes(random, X)
    found = compare(X, observed.observed, censored=observed.censored, methods="Kaplan–Meier", folds=2)
    assert found.notes[-1].startswith("Hint: y is positive")
    assert "Try log(y). Its losses are in other units: compare it with this run by log" in found.notes[-1]
    assert found.cautions[0].startswith("Compare log(y) before you decide")


@pytest.mark.parametrize(
    ("kind", "words", "compared"),
    [
        ("flags", "log(y)", "are in other units"),
        ("threshold", "log(y) and the log of its limits", "are in other units"),
        ("bounds", "the log of both bounds", "are log scores too"),
    ],
)
def test_limits_are_named_only_where_there_are_some(kind, words, compared):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 1))
    values = np.exp(1 + 0.8 * random.normal(size=N))
    told = {
        "flags": {"y": np.minimum(values, 5), "censored": values > 5},
        "threshold": {"y": np.minimum(values, 5), "threshold": 5.0},
        "bounds": {"lower": np.floor(10 * values) / 10 + 0.01, "upper": np.floor(10 * values) / 10 + 0.11},
    }[kind]
    found = compare(X, **told, methods="Tobit", folds=2)
    assert f"Try {words}. Its losses {compared}" in found.notes[-1]
    assert found.cautions[0].startswith(f"Take {words} first: y is positive, but")


def test_quantiles_below_zero_are_told_with_both_remedies():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 1))
    y = np.exp(1 + 0.5 * X[:, 0] + 0.8 * random.normal(size=N))
    found = compare(X, y, methods="Tobit", folds=2)
    assert "quantiles below 0 in" in found.cautions[0]
    assert found.cautions[0].endswith("positive=True in the call, the other remedy, raises them to 0.")
    assert found.cautions[0] in str(found)
    assert found.to_dict()["cautions"] == list(found.cautions)
    assert (TobitRegressor().fit(X, y).predict_quantiles(X) < 0).any()
    assert (TobitRegressor(positive=True).fit(X, y).predict_quantiles(X) >= 0).all()
    assert compare(X, np.log(y), methods="Tobit", folds=2).cautions == ()


@pytest.mark.parametrize("method", METHODS[1:], ids=lambda method: method.name)
def test_every_estimator_takes_the_other_remedy(method):
    caution = logarithm_caution(method, np.full((9, 3), -1.0), "log(y)")
    assert "100% of the rows" in caution
    assert "positive=True" in caution
    assert "positive" in method.make((0.5,), "right", 0).get_params()


def test_log_scores_of_y_and_of_its_logarithm_may_be_compared():
    """Kaplan–Meier predicts the same either way; densities would differ by the mean of log(y), here 3."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 1))
    y, cap = np.exp(3 + 0.8 * random.normal(size=N)), np.exp(3 + random.normal(size=N))
    told = {"censored": y > cap, "methods": "Kaplan–Meier", "folds": 2}
    one, other = (
        compare(X, values, **told).lines[0] for values in (np.minimum(y, cap), np.log(np.minimum(y, cap)))
    )
    assert one.log_score == pytest.approx(other.log_score, abs=0.02)
    assert one.d_calibration == pytest.approx(other.d_calibration, abs=0.1)
    assert one.loss > 5 * other.loss
