"""Data frames with categories: the same model as columns of 0 and 1, saved with it, and clear errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from unmet import (
    CensoredQuantileBooster,
    CensoredQuantileForest,
    CensoredQuantileRegressor,
    Conformal,
    LinearCensoredQuantiles,
    TobitRegressor,
    load,
)
from unmet.estimators.trees._lightgbm import _plain

CITIES = np.array(["Oslo", "Bonn", "Lyon"])
MODELS = {
    "network": CensoredQuantileRegressor(max_epochs=20, random_state=0),
    "tobit": TobitRegressor(max_epochs=20, random_state=0),
    "linear": LinearCensoredQuantiles(quantiles=(0.1, 0.3)),
    "forest": CensoredQuantileForest(n_estimators=10, random_state=0),
}


@pytest.fixture(scope="module")
def cities(make):
    """A second column of categories that move y: Bonn by 0, Lyon by 2, Oslo by −2."""
    data = make()
    which = np.random.default_rng(5).integers(0, 3, len(data.y))
    y = data.y + np.array([-2.0, 0.0, 2.0])[which]
    frame = pd.DataFrame({"x": data.X[:, 0], "city": CITIES[which]})
    return frame, y, data.censored


def with_columns(frame, first):
    """Return the frame as numbers, without the categories before `first` in the order of letters."""
    shown = [(frame["city"] == city).to_numpy(float) for city in sorted(CITIES)[first:]]
    return np.column_stack([frame["x"].to_numpy(), *shown])


@pytest.mark.parametrize("kind", ["text", "category", "polars"])
@pytest.mark.parametrize("name", MODELS)
def test_categories_are_columns_of_zero_and_one(cities, name, kind, tmp_path):
    frame, y, censored = cities
    as_numbers = with_columns(frame, 1 if name in ("tobit", "linear") else 0)
    expected = MODELS[name].fit(as_numbers, y, censored=censored).predict_quantiles(as_numbers, (0.1, 0.3))
    given = {
        "text": frame,
        "category": frame.astype({"city": "category"}),
        "polars": pl.from_pandas(frame),
    }[kind]
    model = MODELS[name].fit(given, y, censored=censored)
    assert model.n_features_in_ == 2
    assert list(model.feature_names_in_) == ["x", "city"]
    model.save(tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        assert one.predict_quantiles(given, (0.1, 0.3)).tobytes() == expected.tobytes()
        assert np.array_equal(one.predict_quantiles(given[:1], (0.1, 0.3)), expected[:1])
    again = MODELS[name].fit(as_numbers, y, censored=censored)  # nothing is left of the categories
    assert again.predict_quantiles(as_numbers, (0.1, 0.3)).tobytes() == expected.tobytes()


def test_coefficients_are_named_after_categories(cities):
    frame, y, censored = cities
    model = MODELS["tobit"].fit(frame, y, censored=censored)
    assert model.coef_[1] > 0 > model.coef_[2]  # beside Bonn, the first
    assert "city = Oslo" in str(model.summary())


def test_the_booster_splits_groups_of_categories(make, tmp_path):
    """Letters of two groups that no single threshold between them separates."""
    random = np.random.default_rng(0)
    letters = np.array(list("abcdefghij"))[random.integers(0, 10, 400)]
    high = np.isin(letters, list("adgj"))
    y = 3.0 * high + random.normal(size=400)
    frame = pd.DataFrame({"noise": random.normal(size=400), "letter": letters})
    settings = {"n_estimators": 40, "num_leaves": 2, "learning_rate": 0.1, "random_state": 0}
    model = CensoredQuantileBooster(**settings).fit(frame, y, threshold=4.0 + (y > 4) * (y - 4))
    model.save(tmp_path / "model")
    found = load(tmp_path / "model").predict(frame)
    assert np.array_equal(found, model.predict(frame))
    assert found[high] == pytest.approx(3, abs=0.8)
    assert found[~high] == pytest.approx(0, abs=0.8)


def test_a_split_of_categories_as_a_chain():
    leaf = {side: {"leaf_value": number} for side, number in (("left_child", 1.0), ("right_child", 2.0))}
    low = {"split_feature": 0, "decision_type": "<=", "threshold": 0.5, **leaf}
    root = {
        "split_feature": 1,
        "decision_type": "==",
        "threshold": "0||2||3||5",
        "left_child": low,
        "right_child": {"leaf_value": 3.0},
    }
    trees = _plain(root)
    X = np.array([[x, code] for x in (0.0, 1.0) for code in range(8)])
    found = trees.value[trees.leaves(X)[:, 0]]
    inside = np.isin(X[:, 1], (0, 2, 3, 5))
    assert np.array_equal(found, np.where(inside, np.where(X[:, 0] <= 0.5, 1.0, 2.0), 3.0))


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_a_conformal_model_takes_categories(cities, tmp_path):
    frame, y, censored = cities
    inner = CensoredQuantileForest(n_estimators=10, random_state=0)
    model = Conformal(inner, censoring="kaplan-meier", random_state=0)
    model.fit(frame, y, censored=censored).save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_lower(frame), model.predict_lower(frame))


def test_what_is_not_known_is_refused(cities):
    frame, y, censored = cities
    model = MODELS["linear"].fit(frame, y, censored=censored)
    with pytest.raises(ValueError, match=r"'city' of X holds 'Rome'.*handle_unknown='ignore'"):
        model.predict_quantiles(frame.replace("Oslo", "Rome"))
    with pytest.raises(ValueError, match="saw categories in 'city': pass a data frame"):
        model.predict_quantiles(frame.to_numpy())
    with pytest.raises(ValueError, match="'city' of X has missing categories"):
        model.fit(frame.replace("Oslo", None), y, censored=censored)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(frame.assign(x=np.nan), y, censored=censored)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_quantiles(frame.rename(columns={"city": "town"}))


def test_the_recipe_that_ignores_unknown_categories(cities):
    """A pipeline with scikit-learn's encoder, which gives sparse columns."""
    frame, y, censored = cities
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough", sparse_threshold=1.0
    )
    pipe = make_pipeline(encoder, CensoredQuantileForest(n_estimators=10, random_state=0))
    pipe.fit(frame, y, censoredquantileforest__censored=censored)
    assert np.isfinite(pipe.predict(frame.replace("Oslo", "Rome"))).all()


def test_columns_named_by_numbers(cities):
    frame, y, censored = cities
    model = TobitRegressor(max_epochs=20, random_state=0)
    expected = model.fit(frame, y, censored=censored).predict(frame)
    numbered = frame.rename(columns={"x": 0, "city": 1})
    assert model.fit(numbered, y, censored=censored).predict(numbered).tobytes() == expected.tobytes()
