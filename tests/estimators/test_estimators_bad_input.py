"""Bad input: an error that names the argument and says what is wrong, for every argument."""

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, LinearCensoredQuantiles, TobitRegressor
from unmet.networks import LocationScale

PARAMETERS = [
    ("quantiles", 0.5),
    ("quantiles", ()),
    ("quantiles", (0.0, 0.5)),
    ("quantiles", (0.5, 1.0)),
    ("quantiles", (0.5, 0.1)),
    ("quantiles", (0.5, 0.5)),
    ("quantiles", (0.5, np.nan)),
    ("quantiles", ("a", "b")),
    ("side", "up"),
    ("side", None),
    ("network", "transformer"),
    ("network", 3),
    ("head", "quantile"),
    ("head", None),
    ("loss", "huber"),
    ("smoothing", -0.1),
    ("smoothing", np.nan),
    ("learning_rate", 0),
    ("learning_rate", "fast"),
    ("learning_rate", np.inf),
    ("schedule", "linear"),
    ("max_epochs", 0),
    ("max_epochs", 2.5),
    ("max_epochs", True),
    ("patience", 0),
    ("patience", -3),
    ("validation_fraction", 0.0),
    ("validation_fraction", 1.0),
    ("batch_size", 0),
    ("batch_size", "large"),
    ("l2", -1),
    ("l2", np.nan),
    ("clip_norm", 0),
    ("n_restarts", 0),
    ("n_restarts", 1.5),
    ("initialiser", "zeros"),
    ("dropout", -0.1),
    ("dropout", 1.0),
    ("activation", "sine"),
    ("sequence", (2, 1)),  # without an LSTM
    ("hidden", ("x",)),  # without an MLP
    ("hidden", (10**15,)),
    ("units", 0),  # without an LSTM
    ("units", 10**15),
    ("max_epochs", 10**15),
    ("n_restarts", 10**15),
    ("progress", "yes"),
    ("standardise", "no"),
    ("fit_intercept", 0),
    ("joint", None),
    ("random_state", "today"),
    ("random_state", -1),
]
MLP = [("hidden", 0), ("hidden", (8, 0)), ("hidden", (2.5,)), ("hidden", "64")]
LSTM = [
    ("units", 0),
    ("units", 1.5),
    ("sequence", (0, 1)),
    ("sequence", (3, 1)),
    ("sequence", 2),
    ("sequence", "ab"),
]


def refused(capped, name, value, kind=CensoredQuantileRegressor, **others):
    model = kind(max_epochs=2, **others).set_params(**{name: value})
    with pytest.raises(ValueError, match=name):
        model.fit(capped.X, capped.y)
    assert not hasattr(model, "fitted_")


@pytest.mark.parametrize(("name", "value"), PARAMETERS, ids=str)
def test_a_bad_parameter_is_named(capped, name, value):
    refused(capped, name, value, head="free") if name != "head" else refused(capped, name, value)


@pytest.mark.parametrize(("name", "value"), MLP, ids=str)
def test_a_bad_parameter_of_an_mlp_is_named(capped, name, value):
    refused(capped, name, value, network="mlp")


@pytest.mark.parametrize(("name", "value"), LSTM, ids=str)
def test_a_bad_parameter_of_an_lstm_is_named(capped, name, value):
    refused(capped, name, value, network="lstm")


@pytest.mark.parametrize(
    ("name", "value"), [("scale", "wide"), ("scale", 0.0), ("scale", None), ("shape", "round")], ids=str
)
def test_a_bad_parameter_of_tobit_is_named(capped, name, value):
    refused(capped, name, value, TobitRegressor)


def test_one_network_per_quantile_needs_free_quantiles(capped):
    for head in ("monotone", "location-scale"):
        refused(capped, "joint", False, head=head)


@pytest.mark.parametrize(
    "settings",
    [
        {"scale": "wavy"},
        {"scale_ridge": -1},
        {"shape_ridge": np.nan},
        {"likelihood": -0.1},
        {"grid": (0.1, 0.5)},
        {"scale_hidden": (10**15,)},
    ],
    ids=str,
)
def test_a_bad_setting_of_the_location_scale_head_is_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        LocationScale(**settings)


def data_cases():
    """(arguments of fit that differ from sound ones, what the error must name)."""
    long, nan = np.ones(61), np.full(60, np.nan)
    return [
        ({"X": np.ones(60)}, "2D array"),
        ({"X": np.ones((60, 2, 2))}, "dim 3"),
        ({"X": np.ones((60, 0))}, "0 feature"),
        ({"X": np.full((60, 2), np.nan)}, "X contains NaN"),
        ({"X": np.full((60, 2), np.inf)}, "X contains infinity"),
        ({"X": np.full((60, 2), "a")}, "could not convert|X"),
        ({"X": np.ones((59, 2))}, "inconsistent|rows"),
        ({"X": np.ones((60, 2)) * 1j}, "[Cc]omplex"),
        ({"y": long}, "inconsistent|rows"),
        ({"y": np.ones((60, 2))}, "y should be a 1d array"),
        ({"y": nan}, "y contains NaN|y must be finite"),
        ({"y": np.full(60, -np.inf)}, "y contains infinity|y must be finite"),
        ({"y": np.full(60, "a")}, "could not convert|y"),
        ({"y": None}, "y cannot be None|requires y"),
        ({"threshold": long * 1e9}, "threshold"),
        ({"threshold": nan}, "threshold"),
        ({"threshold": np.full(60, -np.inf)}, "threshold"),
        ({"threshold": -1e9}, "threshold contradicts y"),
        ({"threshold": "high"}, "threshold"),
        ({"threshold": np.ones((60, 1)) * 1e9}, "threshold"),
        ({"censored": np.zeros(61, bool)}, "censored"),
        ({"censored": np.full(60, 2)}, "censored"),
        ({"censored": nan}, "censored"),
        ({"censored": True}, "censored"),
        ({"censored": np.full(60, "no")}, "censored"),
        ({"validation": np.zeros(61, bool)}, "validation"),
        ({"validation": np.zeros(60)}, "validation"),
        ({"validation": np.arange(5)}, "validation"),
        ({"validation": np.zeros(60, bool)}, "validation must leave some rows"),
        ({"validation": np.ones(60, bool)}, "validation must leave some rows"),
        ({"sample_weight": np.ones(61)}, "sample_weight"),
        ({"sample_weight": nan}, "sample_weight"),
        ({"sample_weight": -np.ones(60)}, "sample_weight"),
        ({"sample_weight": np.zeros(60)}, "sample_weight"),
        ({"sample_weight": np.ones((60, 1))}, "sample_weight"),
        ({"sample_weight": "much"}, "sample_weight|could not convert"),
    ]


@pytest.mark.parametrize("number", range(len(data_cases())))
@pytest.mark.filterwarnings("default")
def test_bad_data_are_refused_by_name(capped, number):
    changed, named = data_cases()[number]
    data = {"X": capped.X, "y": capped.y, **changed}
    for model in (CensoredQuantileRegressor(max_epochs=2, head="free"), TobitRegressor(max_epochs=2)):
        with pytest.raises(ValueError, match=named):
            model.fit(**data)


def test_bad_questions_to_a_fitted_model(capped):
    model = CensoredQuantileRegressor(max_epochs=2, head="free", random_state=0).fit(capped.X, capped.y)
    for wanted in ((0.01,), (0.5, 0.99), (0.5, 0.2), (), 0.5, (0.0,)):
        with pytest.raises(ValueError, match="quantiles"):
            model.predict_quantiles(capped.X, quantiles=wanted)
    for coverage in (0, 1, -0.5, np.nan):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_interval(capped.X, coverage=coverage)
    with pytest.raises(ValueError, match=r"coverage must be at most 0\.9"):
        model.predict_interval(capped.X, coverage=0.95)  # wider than what was fitted
    for bad, named in (({"threshold": np.ones(3)}, "threshold"), ({"censored": np.ones(3)}, "censored")):
        with pytest.raises(ValueError, match=named):
            model.score(capped.X, capped.y, **bad)
    with pytest.raises(ValueError, match="sample_weight"):
        model.score(capped.X, capped.y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="X has 60 rows but y has 30"):
        model.score(capped.X, capped.y[:30])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((2, 2), np.nan))


def test_one_quantile_that_is_not_the_median(capped):
    model = CensoredQuantileRegressor(quantiles=(0.9,), head="free", max_epochs=20, random_state=0)
    model.fit(capped.X, capped.y)
    assert np.array_equal(model.predict(capped.X), model.predict_quantiles(capped.X)[:, 0])
    with pytest.raises(ValueError, match="quantiles"):
        model.predict_quantiles(capped.X, quantiles=(0.5,))


def test_the_median_needs_levels_around_it(capped):
    model = CensoredQuantileRegressor(quantiles=(0.8, 0.9), head="free", max_epochs=2, random_state=0)
    model.fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="quantiles"):
        model.predict(capped.X)


def test_an_argument_that_would_be_ignored_is_refused(capped):
    def custom(columns, outputs, key):
        raise AssertionError("never built")

    for settings in ({"dropout": 0.5}, {"activation": "tanh"}):
        model = CensoredQuantileRegressor(network=custom, max_epochs=2, **settings)
        with pytest.raises(ValueError, match=next(iter(settings))):
            model.fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="activation"):
        CensoredQuantileRegressor(network="linear", activation="tanh", max_epochs=2).fit(capped.X, capped.y)


def test_whole_numbers_of_numpy_are_whole_numbers(capped):
    plain = CensoredQuantileRegressor(max_epochs=3, batch_size=16, head="free", random_state=7)
    numpy = CensoredQuantileRegressor(
        max_epochs=np.int64(3), batch_size=np.int64(16), head="free", random_state=np.int64(7)
    )
    whole = CensoredQuantileRegressor(max_epochs=3, head="free", random_state=7)
    expected = plain.fit(capped.X, capped.y).predict_quantiles(capped.X)
    assert np.array_equal(numpy.fit(capped.X, capped.y).predict_quantiles(capped.X), expected)
    assert not np.array_equal(whole.fit(capped.X, capped.y).predict_quantiles(capped.X), expected)


def test_init_only_stores():
    model = CensoredQuantileRegressor(quantiles="nonsense", side=3)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("kind", [CensoredQuantileRegressor, TobitRegressor, LinearCensoredQuantiles])
@pytest.mark.parametrize("name", ["X", "y", "threshold", "censored", "sample_weight", "validation"])
def test_a_masked_array_is_refused(capped, kind, name):
    rows = len(capped.y)
    sound = {
        "X": capped.X,
        "y": capped.y,
        "threshold": np.full(rows, np.inf),
        "censored": np.zeros(rows, bool),
        "sample_weight": np.ones(rows),
        "validation": np.arange(rows) < 9,
    }
    if kind is LinearCensoredQuantiles:
        if name == "validation":
            pytest.skip("takes no validation rows")
        del sound["validation"]
    masked = {**sound, name: np.ma.masked_array(sound[name], mask=np.zeros(np.shape(sound[name]), bool))}
    with pytest.raises(ValueError, match=f"^{name} is a masked array"):
        kind().fit(**masked)


def test_predict_refuses_a_masked_array(capped):
    model = LinearCensoredQuantiles(quantiles=(0.5,), grid=(0.5,), method="powell", n_restarts=0)
    model.fit(capped.X, capped.y, threshold=np.full(len(capped.y), np.inf))
    with pytest.raises(ValueError, match=r"^X is a masked array"):
        model.predict(np.ma.masked_array(capped.X))
