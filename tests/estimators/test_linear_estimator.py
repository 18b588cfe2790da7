"""LinearCensoredQuantiles as an estimator: contract, files, errors, summary, scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from unmet import LinearCensoredQuantiles, fit_many, load
from unmet.runs import ModelFileError, load_model, save_model

METHODS = ("portnoy", "peng-huang", "powell", "wang-wang")


def build(method, **settings):
    return LinearCensoredQuantiles(
        method=method, **{"quantiles": (0.1, 0.3, 0.5), "random_state": 0, "n_restarts": 3, **settings}
    )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", METHODS)
def test_check_estimator(method):
    results = check_estimator(build(method, quantiles=(0.05, 0.5, 0.95)), on_skip=None, on_fail=None)
    assert len(results) > 40
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("method", METHODS)
def test_contract(method, side, capped, tmp_path):
    sign = 1 if side == "right" else -1
    how = {"threshold": sign * capped.threshold, "censored": capped.censored}
    X, y = capped.X, sign * capped.y
    levels = (0.1, 0.3, 0.5) if side == "right" else (0.5, 0.7, 0.9)
    model = build(method, side=side, quantiles=levels, n_bootstrap=5)
    before = model.get_params()
    assert model.fit(X, y, **how) is model
    assert model.get_params() == before
    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (60, 3)
    assert np.isfinite(quantiles).all()
    assert np.allclose(quantiles, model.intercept_ + X @ model.coef_.T)
    assert np.array_equal(model.predict(X), quantiles[:, levels.index(0.5)])
    assert model.predict_quantiles(X, (0.5,)).shape == (60, 1)
    assert model.bootstrap_.shape == (5, 3, 3)
    assert np.isfinite(model.score(X, y, **how))

    again = clone(model).fit(X, y, **how)
    assert again.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert again.bootstrap_.tobytes() == model.bootstrap_.tobytes()
    order = np.random.default_rng(1).permutation(60)
    how = {name: values[order] for name, values in how.items()}
    assert clone(model).fit(X[order], y[order], **how).predict_quantiles(X).tobytes() == quantiles.tobytes()

    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_quantiles(X).tobytes() == quantiles.tobytes()
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, LinearCensoredQuantiles)
    assert loaded.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert str(loaded.summary()) == str(model.summary())
    assert repr(loaded) == repr(model)


def test_interval_and_levels_in_between(capped):
    model = build("portnoy").fit(capped.X, capped.y, censored=capped.censored)
    assert len(model.levels_) > 50
    interval = model.predict_interval(capped.X, coverage=0.2)
    assert np.array_equal(interval, model.predict_quantiles(capped.X, (0.4, 0.6)))
    near = model.predict_quantiles(capped.X, (0.3, 0.305, 0.31))
    assert np.allclose(near[:, 1], near[:, [0, 2]].mean(axis=1))


def test_draws_do_not_depend_on_the_number_of_processes(make):
    data = make(300)
    one = build("portnoy", n_bootstrap=250).fit(data.X, data.y, censored=data.censored)
    two = build("portnoy", n_bootstrap=250, n_jobs=2).fit(data.X, data.y, censored=data.censored)
    assert one.bootstrap_.tobytes() == two.bootstrap_.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_two_counts_twice_and_one_of_weight_zero_not_at_all(method, capped):
    weight = np.ones(60)
    weight[:10], weight[10:20] = 2, 0
    model = build(method)
    weighted = clone(model).fit(capped.X, capped.y, threshold=capped.threshold, sample_weight=weight)
    rows = np.repeat(np.arange(60), weight.astype(int))
    repeated = clone(model).fit(capped.X[rows], capped.y[rows], threshold=capped.threshold[rows])
    plain = clone(model).fit(capped.X, capped.y, threshold=capped.threshold)
    assert np.allclose(weighted.predict_quantiles(capped.X), repeated.predict_quantiles(capped.X), atol=1e-9)
    assert not np.allclose(weighted.predict_quantiles(capped.X), plain.predict_quantiles(capped.X))


@pytest.mark.parametrize("method", METHODS)
def test_awkward_columns(method, capped):
    """A constant column, a copy and a sum of others change no prediction; one value of y is that value."""
    X = np.column_stack([capped.X, np.full(60, 3.0), capped.X[:, 0], capped.X.sum(axis=1)])
    plain = build(method).fit(capped.X, capped.y, threshold=capped.threshold)
    other = build(method).fit(X, capped.y, threshold=capped.threshold)
    if method != "wang-wang":  # it smooths over the columns that are kept
        assert np.allclose(plain.predict_quantiles(capped.X), other.predict_quantiles(X), atol=1e-7)
    assert np.isfinite(other.predict_quantiles(X)).all()
    constant = build(method).fit(capped.X, np.full(60, 2.5))
    assert constant.predict_quantiles(capped.X) == pytest.approx(2.5)
    through = build(method, fit_intercept=False).fit(capped.X, capped.y, threshold=capped.threshold)
    assert (through.intercept_ == 0).all()


def test_ties_end(capped):
    """Counts with many equal values and flags: every step still ends."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(300, 2)).astype(float)
    y = random.poisson(2 + X[:, 0]).astype(float)
    censored = random.uniform(size=300) < 0.3
    for method in ("portnoy", "peng-huang", "wang-wang"):
        model = build(method).fit(X, y, censored=censored)
        assert np.isfinite(model.predict_quantiles(X)).all()
    model = build("powell").fit(X, np.minimum(y, 4.0), threshold=4.0)
    assert np.isfinite(model.predict_quantiles(X)).all()


def test_levels_beyond_the_data_are_named_and_refused(make):
    data = make(100)
    highest = np.quantile(data.y, 0.6)
    y, censored = np.minimum(data.y, highest), data.censored | (data.y > highest)
    model = build("portnoy", quantiles=(0.1, 0.99), n_bootstrap=3)
    with pytest.warns(UserWarning, match="not identified"):
        model.fit(data.X, y, censored=censored)
    assert model.levels_[-1] < 0.99
    assert np.isnan(model.coef_[1]).all()
    assert np.isfinite(model.coef_[0]).all()
    assert np.isfinite(model.predict(data.X)).all()
    assert "not identified" in str(model.summary())
    with pytest.raises(ValueError, match="not identified"):
        model.predict_quantiles(data.X)
    with pytest.raises(ValueError, match="fitted range"):
        model.predict_quantiles(data.X, (0.001,))


@pytest.mark.parametrize(
    ("settings", "how", "named"),
    [
        ({"method": "tobit"}, {}, "method"),
        ({"quantiles": (0.5, 0.2)}, {}, "quantiles"),
        ({"grid": (0.0, 0.5)}, {}, "grid"),
        ({"n_bootstrap": -1}, {}, "n_bootstrap"),
        ({"n_jobs": 0}, {}, "n_jobs"),
        ({"bandwidth": 0.5}, {}, "bandwidth"),
        ({"method": "wang-wang", "bandwidth": 0}, {}, "bandwidth"),
        ({"method": "powell"}, {"censored": np.arange(60) < 20}, "threshold"),
        ({}, {"censored": np.ones(60, bool)}, "every row is censored"),
        ({}, {"censored": np.arange(60) > 1}, "do not determine"),
        ({}, {"censored": np.zeros(59, bool)}, "censored"),
        ({}, {"threshold": np.full(60, np.nan)}, "threshold"),
        ({}, {"sample_weight": np.zeros(60)}, "sample_weight"),
    ],
)
def test_errors_name_the_argument(settings, how, named, capped):
    with pytest.raises(ValueError, match=named):
        LinearCensoredQuantiles(**settings).fit(capped.X, capped.y, **how)


def test_fit_many_says_that_it_is_for_networks(capped):
    with pytest.raises(ValueError, match="one problem at a time"):
        fit_many(build("portnoy"), [{"X": capped.X, "y": capped.y}])


def test_wang_wang_refuses_many_continuous_columns(make):
    data = make(80, 4)
    with pytest.raises(ValueError, match="at most 3 continuous columns"):
        build("wang-wang").fit(data.X, data.y, censored=data.censored)
    X = data.X.copy()
    X[:, 0] = X[:, 0] > 0
    build("wang-wang", bandwidth=3.0).fit(X, data.y, censored=data.censored)


def test_summary_tells_numbers_and_assumptions(capped):
    frame = pd.DataFrame(capped.X, columns=["rain", "wind"])
    model = build("peng-huang", n_bootstrap=30).fit(frame, capped.y, censored=capped.censored)
    found = model.summary(coverage=0.9)
    assert found.columns == ("intercept", "rain", "wind")
    assert np.array_equal(found.coefficients, np.column_stack([model.intercept_, model.coef_]))
    assert (found.standard_errors > 0).all()
    assert (found.lower < found.upper).all()
    for word in ("Peng–Huang", "rain", "90% interval", "assumes", "30 draws", "60 rows"):
        assert word in str(found)
    bare = build("powell").fit(frame, capped.y, threshold=capped.threshold).summary()
    assert "n_bootstrap" in str(bare)
    assert np.isnan(bare.standard_errors).all()


@pytest.mark.filterwarnings("ignore:score got no threshold")
@pytest.mark.parametrize("routing", [False, True])
def test_searches_and_pipelines_carry_the_flags(capped, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline = make_pipeline(StandardScaler(), build("portnoy"))
        prefix = "" if routing else "linearcensoredquantiles__"
        name = "linearcensoredquantiles__fit_intercept"
        search = GridSearchCV(pipeline, {name: [True, False]}, cv=3)
        search.fit(capped.X, capped.y, **{f"{prefix}censored": capped.censored})
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        if routing:
            scores = cross_val_score(
                build("powell"), capped.X, capped.y, cv=3, params={"threshold": capped.threshold}
            )
            assert np.isfinite(scores).all()


@pytest.mark.parametrize("side", ["right", "left"])
def test_columns_that_depend_on_others_have_no_error(capped, side, tmp_path):
    X = np.column_stack([capped.X, np.full(60, 3.0), capped.X[:, 0]])
    y = capped.y if side == "right" else -capped.y
    model = build("portnoy", side=side, quantiles=(0.5,), n_bootstrap=20)
    found = model.fit(X, y, censored=capped.censored).summary()
    for numbers in (found.standard_errors, found.lower, found.upper):
        assert np.isnan(numbers).tolist() == [[False, False, False, True, True]]
    alone = model.fit(X[:, :2], y, censored=capped.censored).summary()
    assert "depends on others" not in str(alone)
    assert "–" not in str(alone)
    model.fit(X, y, censored=capped.censored).save(tmp_path / "model")
    assert str(load(tmp_path / "model").summary()) == str(found)
    assert str(found).count("  –\n") == 2
    assert "depends on others" in str(found)


def test_a_quantile_that_no_column_moves_has_error_zero():
    """Half of the values are zero, and so is the low quantile in every draw: nothing is missing there."""
    random = np.random.default_rng(0)
    y = np.where(random.uniform(size=60) < 0.5, 0.0, np.minimum(1.5, 1 + random.uniform(size=60)))
    model = build("powell", quantiles=(0.1,), n_bootstrap=10)
    found = model.fit(random.normal(size=(60, 1)), y, threshold=1.5).summary()
    assert found.standard_errors == pytest.approx(np.zeros((1, 2)), abs=1e-6)


def test_edited_files_are_refused(capped, tmp_path):
    model = build("portnoy").fit(capped.X, capped.y, censored=capped.censored)
    model.save(tmp_path / "model")
    config, arrays = load_model(tmp_path / "model")
    for name, values in (("slopes", arrays["slopes"][:, :1]), ("levels", arrays["levels"][::-1])):
        save_model(tmp_path / "edited", config, {**arrays, name: values})
        with pytest.raises(ModelFileError, match="do not describe"):
            load(tmp_path / "edited").predict(capped.X)


@pytest.mark.parametrize("side", ["right", "left"])
def test_confidence_intervals_of_quantiles(side):
    """The interval holds the true median about as often as it says, and wants draws."""
    random = np.random.default_rng(3)
    at, held = np.array([[0.2], [0.8]]), []
    for _ in range(30):
        x = random.uniform(size=150)
        latent = 1 + 2 * x + random.normal(size=150)
        limit = 2.5 + random.normal(size=150) if side == "right" else 1.5 + random.normal(size=150)
        y = np.minimum(latent, limit) if side == "right" else np.maximum(latent, limit)
        model = LinearCensoredQuantiles(
            method="powell", quantiles=(0.5,), side=side, n_bootstrap=60, n_restarts=1, random_state=0
        )
        found = model.fit(x[:, None], y, threshold=limit).confidence_interval(at, coverage=0.9)
        assert found.shape == (2, 1, 2)
        truth = 1 + 2 * at[:, 0]
        held.append((found[:, 0, 0] <= truth) & (truth <= found[:, 0, 1]))
    assert 0.75 <= np.mean(held) <= 0.99
    model.set_params(n_bootstrap=0).fit(x[:, None], y, threshold=limit)
    with pytest.raises(ValueError, match="n_bootstrap=200"):
        model.confidence_interval(at)
