"""What users of scikit-learn meet: warnings about thresholds, pipelines, sparse columns, completed values."""

import numpy as np
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unmet import (
    CensoredGaussianProcess,
    CensoredQuantileForest,
    CensoredQuantileRegressor,
    Conformal,
    LinearCensoredQuantiles,
    TobitRegressor,
    load,
)

LINEAR = LinearCensoredQuantiles(quantiles=(0.1, 0.3, 0.5), random_state=0)


def test_thresholds_that_no_row_reaches_are_told(capped):
    with pytest.warns(UserWarning, match="same units"):
        LINEAR.fit(capped.X, capped.y, threshold=1000 * np.abs(capped.threshold) + 100)


def test_a_score_without_thresholds_is_told(capped):
    model = LINEAR.fit(capped.X, capped.y, censored=capped.censored)
    with pytest.warns(UserWarning, match="enable_metadata_routing"):
        model.score(capped.X, capped.y)
    with pytest.warns(UserWarning, match="enable_metadata_routing"):
        cross_val_score(LINEAR, capped.X, capped.y, cv=2, params={"censored": capped.censored})
    with sklearn.config_context(enable_metadata_routing=True):
        cross_val_score(LINEAR, capped.X, capped.y, cv=2, params={"censored": capped.censored})


def test_completing_without_thresholds_is_told(capped):
    process = CensoredGaussianProcess(inducing=8, random_state=0)
    for model in (LINEAR, process):
        model.fit(capped.X, capped.y, threshold=capped.threshold)
        with pytest.warns(UserWarning, match="complete got no threshold .* returns y as it is") as told:
            assert model.complete(capped.X, capped.y) == pytest.approx(capped.y)
        assert told[0].filename == __file__
    two = np.column_stack([capped.y, capped.y])
    process.fit(capped.X, two, threshold=np.column_stack([capped.threshold, capped.threshold]))
    with pytest.warns(UserWarning, match="complete got no threshold"):
        process.complete(capped.X, two)
    with pytest.warns(UserWarning, match="score got no threshold"):
        process.score(capped.X, two)


def test_warnings_point_at_the_line_of_the_user(capped):
    """Also where another method, or another estimator, asks the forest."""
    forest = CensoredQuantileForest(n_estimators=5, random_state=0)
    middle = np.median(capped.y)
    y = np.minimum(capped.y, middle)
    forest.fit(capped.X, y, threshold=middle)
    for ask in (
        lambda: forest.predict_quantiles(capped.X, (0.99,)),
        lambda: forest.predict(capped.X, coverage=0.98),
        lambda: forest.score(capped.X, y, threshold=middle),
        lambda: Conformal(forest, random_state=0).fit(capped.X, y, threshold=middle),
    ):
        with pytest.warns(UserWarning, match="are not identified") as told:
            ask()
        assert {one.filename for one in told} == {__file__}


def test_an_unknown_argument_names_no_class_of_ours(capped):
    for model in (LINEAR, TobitRegressor(), CensoredQuantileRegressor()):
        with pytest.raises(TypeError, match=r"^fit\(\) got an unexpected keyword argument 'thresholds'"):
            model.fit(capped.X, capped.y, thresholds=capped.threshold)


def test_an_interval_beyond_the_fitted_levels_names_the_widest(capped):
    levels = (0.059, 0.5, 0.941)  # 1 − 0.059 is a little more than 0.941
    model = CensoredQuantileRegressor(quantiles=levels, head="free", max_epochs=2, random_state=0)
    model.fit(capped.X, capped.y)
    with pytest.raises(ValueError, match=r"at most 0\.882, not 0\.99: .* include 0\.005 and 0\.995"):
        model.predict_interval(capped.X, coverage=0.99)
    assert (model.predict_interval(capped.X, 0.882) == model.predict_quantiles(capped.X)[:, [0, 2]]).all()
    model.set_params(quantiles=(0.1, 0.3)).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match=r"both sides of the median"):
        model.predict_interval(capped.X, coverage=0.5)


def test_quantiles_and_intervals_of_a_pipeline(capped):
    """`predict` of a pipeline passes its arguments on, with metadata routing and without."""
    levels = (0.3, 0.5, 0.7)
    plain = LinearCensoredQuantiles(quantiles=levels).fit(capped.X, capped.y, censored=capped.censored)
    pipe = make_pipeline(StandardScaler(), LinearCensoredQuantiles(quantiles=levels))
    pipe.fit(capped.X, capped.y, linearcensoredquantiles__censored=capped.censored)
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            found = pipe.predict(capped.X, quantiles=levels)
            assert found == pytest.approx(plain.predict_quantiles(capped.X, levels), abs=1e-8)
            assert pipe.predict(capped.X) == pytest.approx(found[:, 1], abs=1e-8)
            ends = pipe.predict(capped.X, coverage=0.4)
            assert ends == pytest.approx(found[:, [0, 2]], abs=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        CensoredQuantileRegressor(quantiles=(0.3,), max_epochs=30, random_state=0),
        LinearCensoredQuantiles(quantiles=(0.3,)),
        TobitRegressor(quantiles=(0.3,), random_state=0),
    ],
)
def test_predict_is_the_only_quantile_if_there_is_one(capped, model):
    model.fit(capped.X, capped.y, censored=capped.censored)
    assert np.array_equal(model.predict(capped.X), model.predict_quantiles(capped.X, (0.3,))[:, 0])


def test_a_saved_last_step_serves_in_a_pipeline(capped, tmp_path):
    pipe = make_pipeline(StandardScaler(), LinearCensoredQuantiles(quantiles=(0.3, 0.5)))
    pipe.fit(capped.X, capped.y, linearcensoredquantiles__censored=capped.censored)
    pipe[-1].save(tmp_path / "model")
    again = make_pipeline(StandardScaler().fit(capped.X), load(tmp_path / "model"))
    assert again.predict(capped.X).tobytes() == pipe.predict(capped.X).tobytes()


def test_predict_takes_quantiles_or_coverage(capped):
    model = LINEAR.fit(capped.X, capped.y, censored=capped.censored)
    with pytest.raises(ValueError, match="quantiles or coverage"):
        model.predict(capped.X, quantiles=(0.5,), coverage=0.5)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_columns_give_the_same_model(capped, form):
    X = np.where(np.abs(capped.X) < 0.3, 0.0, capped.X)
    for model in (LINEAR, CensoredQuantileRegressor(head="free", max_epochs=20, random_state=0)):
        dense = model.fit(X, capped.y, censored=capped.censored).predict_quantiles(X)
        found = model.fit(form(X), capped.y, censored=capped.censored).predict_quantiles(form(X))
        assert found.tobytes() == dense.tobytes()


def test_completed_values_are_conditional_means(capped):
    """A Gaussian model: beyond the bound c the mean is μ + σ φ(z)/(1 − Φ(z)); between bounds likewise."""
    model = TobitRegressor(random_state=0).fit(capped.X, capped.y, censored=capped.censored)
    middle, scale = model.predict(capped.X), model.scale_
    found = model.complete(capped.X, capped.y, censored=capped.censored)
    assert np.array_equal(found[~capped.censored], capped.y[~capped.censored])
    z = (capped.y - middle) / scale
    expected = middle + scale * stats.norm.pdf(z) / stats.norm.sf(z)
    assert found[capped.censored] == pytest.approx(expected[capped.censored], abs=0.02)
    between = model.complete(capped.X, lower=capped.y, upper=capped.y + 1)
    law = stats.truncnorm(z, z + 1 / scale, middle, scale)
    assert between == pytest.approx(law.mean(), abs=0.02)
    draws = model.complete(capped.X, capped.y, censored=capped.censored, n_draws=500, random_state=0)
    assert draws.shape == (60, 500)
    assert (draws >= capped.y[:, None] - 1e-12).all()
    assert draws.mean(axis=1) == pytest.approx(found, abs=0.2)
    again = model.complete(capped.X, capped.y, censored=capped.censored, n_draws=500, random_state=0)
    assert np.array_equal(again, draws)


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_samples_follow_the_predicted_quantiles(capped):
    for model in (LINEAR, CensoredQuantileForest(n_estimators=20, random_state=0)):
        model.fit(capped.X, capped.y, censored=capped.censored)
        draws = model.sample(capped.X, n_draws=4000, random_state=1)
        below = (draws <= model.predict_quantiles(capped.X, (0.3,)) + 1e-9).mean(axis=1)
        assert below.mean() == pytest.approx(0.3, abs=0.04)
    with pytest.raises(ValueError, match="n_draws"):
        model.sample(capped.X, n_draws=0)
