"""Fitted monotone and location–scale models: no crossing and finite answers for any input and any level."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet import CensoredQuantileRegressor, TobitRegressor

LEVELS = (0.05, 0.1, 0.3, 0.5, 0.55, 0.9, 0.95)
ANY_LEVELS = (0.05, 0.050001, 0.07, 0.1, 0.2, 0.3, 0.4999, 0.5, 0.501, 0.54, 0.55, 0.7, 0.9, 0.93, 0.95)
ROWS = 14  # one padded shape for all fits, whatever is repeated
MODELS = ("monotone", "location-scale", "tobit")

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1e308, -1e308, 5e-324, 1e-30, 1e12]),
)
targets = st.one_of(st.floats(-100, 100), st.sampled_from([0.0, 1e12, -1e12, 1e-12]))


def fresh(name, **settings):
    common = {"quantiles": LEVELS, "max_epochs": 20, "random_state": 0, **settings}
    return TobitRegressor(**common) if name == "tobit" else CensoredQuantileRegressor(head=name, **common)


@pytest.fixture(scope="module")
def fitted(make):
    data = make(ROWS)
    return {
        (name, side): fresh(name, side=side).fit(
            data.X, data.y if side == "right" else -data.y, censored=data.censored
        )
        for name in MODELS
        for side in ("right", "left")
    }


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", MODELS)
@given(rows=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_no_crossing_for_any_row_and_any_level(fitted, name, side, rows):
    model = fitted[name, side]
    for levels in (LEVELS, ANY_LEVELS):
        quantiles = model.predict_quantiles(np.array(rows), quantiles=levels)
        assert np.isfinite(quantiles).all()
        assert (np.diff(quantiles, axis=1) >= 0).all()


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12)
@given(data=st.data())
def test_no_crossing_whatever_was_fitted(name, data):
    """Data with huge, tiny, constant and repeated values."""
    rows = ROWS
    column = st.one_of(
        st.lists(st.floats(-1e100, 1e100), min_size=rows, max_size=rows),
        st.lists(st.sampled_from([0.0, 1.0, 1e-300]), min_size=rows, max_size=rows),
        st.floats(-1e6, 1e6).map(lambda value: [value] * rows),
    )
    X = np.column_stack([data.draw(column), data.draw(column)])
    y = np.array(data.draw(st.lists(targets, min_size=rows, max_size=rows)))
    censored = np.arange(rows) < data.draw(st.integers(0, rows - 1))
    known = data.draw(st.sampled_from(["threshold", "censored"]))
    how = {"censored": censored} if known == "censored" else {"threshold": np.where(censored, y, np.inf)}
    quantiles = fresh(name).fit(X, y, **how).predict_quantiles(X, quantiles=ANY_LEVELS)
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rest", [(-1.0, -1.0, -8e-90), (1.0, 1.0, 2e-313), (0.0, 1e-200, 3e-200)])
@pytest.mark.parametrize("censored", [0, 1])
def test_quartiles_that_all_but_agree_are_no_unit(name, rest, censored):
    y = np.array([0.0] * (ROWS - 3) + list(rest))
    threshold = np.where(np.arange(ROWS) < censored, y, np.inf)
    X = np.zeros((ROWS, 2))
    quantiles = fresh(name).fit(X, y, threshold=threshold).predict_quantiles(X)
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles) >= 0).all()


def test_levels_between_fitted_ones_lie_between_their_quantiles(fitted, capped):
    for model in fitted.values():
        low, middle, high = model.predict_quantiles(capped.X, quantiles=(0.1, 0.2, 0.3)).T
        assert ((low < middle) & (middle < high)).all()


def test_the_free_head_may_cross_and_is_left_alone():
    """Nothing sorts the quantiles of the free head behind the user's back."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = X[:, 0] + np.abs(X[:, 1]) * random.normal(size=60)
    model = CensoredQuantileRegressor(head="free", quantiles=(0.4, 0.5, 0.6), random_state=0).fit(X, y)
    assert (np.diff(model.predict_quantiles(20 * X), axis=1) < 0).any()
