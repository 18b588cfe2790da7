"""The estimators among scikit-learn's own tools: its checks, pipelines, searches, data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from unmet import CensoredQuantileRegressor, TobitRegressor

UNTRAINED_CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
]


def failures(estimator):
    with np.errstate(all="ignore"):
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 40
    return {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "skipped")}


@pytest.mark.filterwarnings("default")
def test_check_estimator():
    """The head that compiles fastest; the slow test has the defaults, and Tobit."""
    assert failures(CensoredQuantileRegressor(head="free", max_epochs=20)) == {}


@pytest.mark.parametrize("kind", [CensoredQuantileRegressor, TobitRegressor])
@pytest.mark.parametrize("check", UNTRAINED_CHECKS, ids=lambda check: check.__name__)
def test_checks_without_training(kind, check):
    """What could differ between the two classes: their own constructors."""
    check(kind.__name__, kind())


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", [CensoredQuantileRegressor, TobitRegressor])
def test_check_estimator_as_constructed(kind):
    assert failures(kind()) == {}


class Recorder(CensoredQuantileRegressor):
    """Keeps what `fit` and `score` were given, for all copies of it."""

    fits: list = []  # noqa: RUF012
    scores: list = []  # noqa: RUF012

    def fit(self, X, y, threshold=None, censored=None, validation=None, sample_weight=None):
        type(self).fits.append((X, y, threshold, censored, validation, sample_weight))
        return super().fit(X, y, threshold, censored, validation, sample_weight)

    def score(self, X, y, threshold=None, censored=None, sample_weight=None):
        type(self).scores.append((X, y, threshold, censored, sample_weight))
        return super().score(X, y, threshold, censored, sample_weight)


@pytest.fixture
def recorder():
    Recorder.fits, Recorder.scores = [], []
    return Recorder(head="free", max_epochs=3, random_state=0)


@pytest.fixture(scope="module")
def marked(make):
    """Data whose first column is the number of the row, and whose threshold tells that number too."""
    data = make(90)
    X = np.column_stack([np.arange(90.0), data.X[:, 0]])
    threshold = 1000.0 + np.arange(90)
    y = np.where(data.censored, threshold, data.y)
    return X, y, threshold, data.censored


def numbers(X):
    return np.rint(X[:, 0]).astype(int)


@pytest.mark.filterwarnings("ignore:score got no threshold")
@pytest.mark.parametrize("routing", [False, True])
def test_a_search_splits_thresholds_flags_and_validation_with_the_rows(recorder, marked, routing):
    X, y, threshold, censored = marked
    validation = np.arange(90) % 5 == 0
    folds = KFold(3, shuffle=True, random_state=1)
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(recorder, {"l2": [0.0, 0.1]}, cv=folds, refit=True)
        search.fit(X, y, threshold=threshold, censored=censored, validation=validation)
    assert len(recorder.fits) == 2 * 3 + 1
    for inputs, target, limits, flags, held, _ in recorder.fits:
        rows = numbers(inputs)
        assert np.array_equal(target, y[rows])
        assert np.array_equal(limits, threshold[rows])
        assert np.array_equal(flags, censored[rows])
        assert np.array_equal(held, validation[rows])
    assert len(recorder.scores) == 2 * 3
    for (inputs, target, limits, flags, _), (_, test) in zip(recorder.scores, list(folds.split(X)) * 2):
        rows = numbers(inputs)
        assert np.array_equal(rows, test)
        assert np.array_equal(target, y[rows])
        if routing:
            assert np.array_equal(limits, threshold[rows])
            assert np.array_equal(flags, censored[rows])
        else:  # scikit-learn then hands nothing to `score`, as its documentation says
            assert limits is None
            assert flags is None


@pytest.mark.filterwarnings("ignore:score got no threshold")
@pytest.mark.parametrize("routing", [False, True])
def test_a_search_over_a_pipeline_splits_thresholds_with_the_rows(recorder, marked, routing):
    X, y, threshold, censored = marked
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(StandardScaler(), recorder)
        search = GridSearchCV(pipeline, {"recorder__l2": [0.0, 0.1]}, cv=3, refit=False)
        prefix = "" if routing else "recorder__"
        search.fit(X, y, **{prefix + "threshold": threshold, prefix + "censored": censored})
    assert len(recorder.fits) == 6
    seen = []
    for inputs, target, limits, flags, _, _ in recorder.fits:
        rows = (limits - 1000).astype(int)
        seen.append(rows)
        assert len(inputs) == len(rows) == 60
        # The scaler changes units, not the order: the first column still tells the rows apart.
        assert np.array_equal(np.argsort(inputs[:, 0]), np.argsort(rows))
        assert np.array_equal(target, y[rows])
        assert np.array_equal(flags, censored[rows])
    assert {tuple(rows) for rows in seen} == {tuple(train) for train, _ in KFold(3).split(X)}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_cross_validation_equals_fitting_and_scoring_by_hand(capped):
    model = CensoredQuantileRegressor(head="free", max_epochs=20, random_state=3)
    folds = KFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        params = {"threshold": capped.threshold, "censored": capped.censored}
        found = cross_val_score(model, capped.X, capped.y, cv=folds, params=params)
    for score, (train, test) in zip(found, folds.split(capped.X), strict=True):
        one = clone(model).fit(
            capped.X[train],
            capped.y[train],
            threshold=capped.threshold[train],
            censored=capped.censored[train],
        )
        own = one.score(
            capped.X[test], capped.y[test], threshold=capped.threshold[test], censored=capped.censored[test]
        )
        assert score == own


def test_sample_weight_is_routed_when_asked_for(recorder, marked):
    X, y, threshold, _ = marked
    weight = 1.0 + np.arange(90)
    with sklearn.config_context(enable_metadata_routing=True):
        model = recorder.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        cross_validate(model, X, y, params={"threshold": threshold, "sample_weight": weight}, cv=3)
    assert len(recorder.fits) == len(recorder.scores) == 3
    for inputs, *_, seen in [*recorder.fits, *recorder.scores]:
        assert np.array_equal(seen, weight[numbers(inputs)])


def test_a_row_of_weight_two_counts_twice_and_one_of_weight_zero_not_at_all(capped):
    model = CensoredQuantileRegressor(head="free", max_epochs=50, random_state=0)
    weight = np.ones(60)
    weight[:10], weight[10:20] = 2, 0
    weighted = clone(model).fit(capped.X, capped.y, threshold=capped.threshold, sample_weight=weight)
    rows = np.repeat(np.arange(60), weight.astype(int))
    repeated = clone(model).fit(capped.X[rows], capped.y[rows], threshold=capped.threshold[rows])
    plain = clone(model).fit(capped.X, capped.y, threshold=capped.threshold)
    assert np.array_equal(weighted.predict_quantiles(capped.X), repeated.predict_quantiles(capped.X))
    assert not np.allclose(weighted.predict_quantiles(capped.X), plain.predict_quantiles(capped.X))
    data = (capped.y, capped.threshold)
    assert weighted.score(capped.X, data[0], data[1], sample_weight=weight) == pytest.approx(
        weighted.score(capped.X[rows], data[0][rows], data[1][rows]), rel=1e-12
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_give_the_same_model_and_keep_column_names(capped, frame):
    model = CensoredQuantileRegressor(head="free", max_epochs=20, random_state=0)
    plain = clone(model).fit(capped.X, capped.y, threshold=capped.threshold, censored=capped.censored)
    table = frame({"rain": capped.X[:, 0], "wind": capped.X[:, 1]})
    series = pd.Series if frame is pd.DataFrame else pl.Series
    named = clone(model).fit(
        table, series(capped.y), threshold=series(capped.threshold), censored=series(capped.censored)
    )
    assert named.feature_names_in_.tolist() == ["rain", "wind"]
    assert np.array_equal(named.predict_quantiles(table), plain.predict_quantiles(capped.X))
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names"):
        named.predict(table[["wind", "rain"]])
    with pytest.warns(UserWarning, match="feature names"):
        named.predict(capped.X)
    named.fit(capped.X, capped.y)
    assert not hasattr(named, "feature_names_in_")


def test_more_columns_than_fitted_are_refused(capped):
    model = CensoredQuantileRegressor(head="free", max_epochs=2, random_state=0).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.ones((4, 3)))


def test_predict_before_fit_says_so(capped):
    for method in ("predict", "predict_quantiles", "predict_interval"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(TobitRegressor(), method)(capped.X)
