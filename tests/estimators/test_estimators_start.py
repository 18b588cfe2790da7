"""Where networks start if values are hidden, and that they stop before they fit noise."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtri

from unmet import CensoredQuantileRegressor
from unmet.censoring import kaplan_meier
from unmet.estimators._start import latent_start


def cut(share, rows=800, seed=0):
    """Normal values of mean 3 and standard deviation 2, of which a share is hidden beyond random caps."""
    random = np.random.default_rng(seed)
    latent, cap = random.normal(3.0, 2.0, size=rows), random.normal(size=rows)
    cap += np.quantile(latent - cap, 1 - share)
    return np.minimum(latent, cap), latent > cap


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_the_start_is_the_maximum_of_the_censored_likelihood(share):
    y, hidden = cut(share)
    weight = np.random.default_rng(1).uniform(0.5, 1.5, size=len(y))

    def loss(parameters):
        z = (y - parameters[0]) * np.exp(-parameters[1])
        return -np.sum(weight * np.where(hidden, log_ndtr(-z), -0.5 * z**2 - parameters[1]))

    found = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    assert latent_start(y, hidden, weight / weight.sum()) == pytest.approx(
        (found.x[0], np.exp(found.x[1])), rel=1e-3
    )


def test_there_is_no_start_where_rows_tell_nothing_of_a_spread():
    y = np.linspace(0, 1, 20)
    weight = np.full(20, 0.05)
    assert latent_start(y, np.ones(20, bool), weight) is None
    assert latent_start(y, np.zeros(20, bool), weight) is None
    assert latent_start(np.full(20, 2.0), np.arange(20) > 10, weight) is None


@pytest.mark.parametrize(("signal", "most"), [(0.0, 2.0), (0.4, 0.8)])
def test_an_mlp_told_by_flags_stops_before_it_fits_noise(signal, most):
    """Portnoy's loss stopped it at random, because its weights follow the model: ratios of 10.8 and 1.8."""
    levels, errors = (0.05, 0.1, 0.2), []
    for seed in range(3):
        random = np.random.default_rng([seed, 7])
        X = random.normal(size=(1500, 8))
        line = signal * (X[:, 0] + X[:, 1])
        latent, cap = line + random.normal(size=1500), np.log(random.uniform(0.3, 1.0, size=1500))
        cap += np.quantile(latent - cap, 0.15)
        y, hidden, train = np.minimum(latent, cap), latent > cap, np.arange(1500) < 1000
        model = CensoredQuantileRegressor(network="mlp", quantiles=levels, random_state=0)
        model.fit(X[train], y[train], censored=hidden[train])
        truth = line[~train, None] + ndtri(levels)
        seen = truth < cap.max()
        marginal = kaplan_meier(y[train], hidden[train])
        alone = np.minimum([marginal.level(level) for level in levels], cap.max())
        found = np.minimum(model.predict_quantiles(X[~train]), cap.max())
        errors.append([np.abs(found - truth)[seen].mean(), np.abs(alone - truth)[seen].mean()])
    ours, without = np.mean(errors, axis=0)
    assert ours < most * without
