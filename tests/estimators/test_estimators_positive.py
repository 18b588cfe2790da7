"""positive=True: no quantile, interval, draw or completed value below zero, and the same model otherwise."""

import numpy as np
import pytest

from unmet import (
    CensoredGaussianProcess,
    CensoredQuantileBooster,
    CensoredQuantileForest,
    CensoredQuantileRegressor,
    Conformal,
    LinearCensoredQuantiles,
    LocalLinearCensoredQuantiles,
    TobitRegressor,
    fit_many,
    load,
)

MODELS = {
    "network": CensoredQuantileRegressor(max_epochs=30, random_state=0),
    "tobit": TobitRegressor(max_epochs=100, random_state=0),
    "linear": LinearCensoredQuantiles(quantiles=(0.05, 0.3, 0.5), random_state=0),
    "local": LocalLinearCensoredQuantiles(quantiles=(0.05, 0.3), span=0.5),
    "booster": CensoredQuantileBooster(n_estimators=5, random_state=0),
    "process": CensoredGaussianProcess(inducing=10, kernel="linear"),
}


@pytest.fixture(scope="module")
def demand(make):
    data = make()
    return data._replace(y=np.maximum(data.y, 0.0), threshold=np.maximum(data.threshold, 0.1))


def fit(model, data, **more):
    flags = data.censored & (data.y > 0)
    return model.set_params(**more).fit(data.X, data.y, censored=flags)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:a quantile is not identified")
def test_nothing_is_below_zero_and_the_rest_stays(demand, name, tmp_path):
    model = fit(MODELS[name], demand)
    free = model.predict_quantiles(demand.X)
    assert free.min() < 0
    model = fit(model, demand, positive=True)
    model.save(tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        assert np.array_equal(one.predict_quantiles(demand.X), np.maximum(free, 0))
    flags = demand.censored & (demand.y > 0)
    assert model.sample(demand.X, n_draws=50, random_state=0).min() == 0
    assert model.complete(demand.X, demand.y, censored=flags, n_draws=5, random_state=0).min() == 0
    fit(model, demand, positive=False)


def test_the_mean_of_a_process_is_that_of_its_draws(demand):
    model = fit(CensoredGaussianProcess(inducing=10, kernel="linear", positive=True), demand)
    mean, draws = model.predict_mean(demand.X), model.sample(demand.X, n_draws=4000, random_state=0)
    assert mean.min() > 0
    assert np.abs(mean - draws.mean(axis=1)).max() < 5 * draws.std(axis=1).max() / np.sqrt(4000)
    two = np.column_stack([demand.y, demand.y - demand.y.max()])
    with pytest.raises(ValueError, match="set positive=False"):
        model.fit(demand.X, two)


def test_a_detection_limit_is_completed_between_zero_and_itself(make):
    data = make()
    y = np.maximum(np.abs(data.latent), 1.0)
    model = TobitRegressor(side="left", positive=True, random_state=0, max_epochs=100)
    found = model.fit(data.X, y, threshold=1.0).complete(data.X, y, threshold=1.0, n_draws=20)
    below = y == 1
    assert below.sum() > 10
    assert found[below].min() >= 0
    assert found[below].max() <= 1
    assert (found[below] == 0).mean() < 0.9


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
def test_intervals_and_bounds_of_a_conformal_model(demand):
    plain = Conformal(TobitRegressor(max_epochs=100, random_state=0), random_state=0)
    sure = Conformal(TobitRegressor(max_epochs=100, random_state=0, positive=True), random_state=0)
    low, floored = (fit(model, demand).predict_lower(demand.X) for model in (plain, sure))
    assert low.min() < 0
    assert np.array_equal(floored, np.maximum(low, 0))
    assert sure.predict_interval(demand.X).min() == 0
    assert sure.predict_quantiles(demand.X).min() == 0


def test_values_below_zero_are_refused(capped):
    model = CensoredQuantileRegressor(positive=True, max_epochs=5)
    with pytest.raises(ValueError, match=r"row \d+ is at most -\d.*: set positive=False"):
        model.fit(capped.X, capped.y, threshold=capped.threshold)
    with pytest.raises(ValueError, match="problem 1: positive=True"):
        fit_many(model, [{"X": capped.X, "y": np.abs(capped.y)}, {"X": capped.X, "y": capped.y}])
    with pytest.raises(ValueError, match="positive must be True or False"):
        CensoredQuantileForest(positive="yes").fit(capped.X, np.abs(capped.y))
