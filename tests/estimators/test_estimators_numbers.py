"""Units, constants, extremes: what fits must survive."""

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, TobitRegressor

FREE = CensoredQuantileRegressor(head="free", max_epochs=100, random_state=0)


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("known", ["threshold", "flags"])
def test_predictions_follow_the_units_of_y(capped, factor, known):
    for base in (FREE, TobitRegressor(max_epochs=100, random_state=0)):

        def fitted(y, threshold, base=base):
            how = {"threshold": threshold} if known == "threshold" else {"censored": capped.censored}
            return clone(base).fit(capped.X, y, **how).predict_quantiles(capped.X)

        plain = fitted(capped.y, capped.threshold)
        spread = capped.y.std()
        scaled = fitted(factor * capped.y, factor * capped.threshold) / factor
        assert np.abs(scaled - plain).max() < 1e-5 * spread
        moved = fitted(capped.y + 100.0, capped.threshold + 100.0) - 100.0
        assert np.abs(moved - plain).max() < 1e-5 * spread


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
def test_predictions_follow_the_units_of_x(capped, factor):
    plain = clone(FREE).fit(capped.X, capped.y, threshold=capped.threshold)
    other = clone(FREE).fit(factor * (capped.X + 3), capped.y, threshold=capped.threshold)
    gap = other.predict_quantiles(factor * (capped.X + 3)) - plain.predict_quantiles(capped.X)
    assert np.abs(gap).max() < 1e-5 * capped.y.std()


@pytest.mark.parametrize("value", [0.0, 3.3, -1e12, 1e-12])
@pytest.mark.parametrize("head", ["free", "location-scale"])
def test_a_constant_target_is_predicted_exactly(capped, value, head):
    y = np.full(60, value)
    model = clone(FREE).set_params(head=head).fit(capped.X, y)
    assert (model.predict_quantiles(capped.X) == value).all()
    assert (model.predict(10 * capped.X) == value).all()
    model.fit(capped.X, y, threshold=value + 5.0)
    assert (model.predict_quantiles(capped.X) == value).all()


def test_constant_columns_change_nothing_that_matters(capped):
    X = np.column_stack([capped.X, np.full(60, 7.7), np.zeros(60)])
    model = clone(FREE).set_params(max_epochs=500).fit(X, capped.y, threshold=capped.threshold)
    assert np.isfinite(model.predict_quantiles(X)).all()
    plain = clone(FREE).set_params(max_epochs=500).fit(capped.X, capped.y, threshold=capped.threshold)
    assert np.allclose(model.predict_quantiles(X), plain.predict_quantiles(capped.X), atol=1e-3)


def test_only_constant_columns_give_the_quantiles_of_y():
    random = np.random.default_rng(0)
    y = random.normal(size=60)
    model = clone(FREE).set_params(max_epochs=2000, quantiles=(0.25, 0.5, 0.75)).fit(np.ones((60, 2)), y)
    found = model.predict_quantiles(np.ones((1, 2)))[0]
    # Any value between the two neighbouring order statistics minimises the loss.
    for level, value in zip(model.quantiles, found, strict=True):
        below, upto = np.mean(y < value - 1e-4), np.mean(y <= value + 1e-4)
        assert below <= level <= upto


def test_one_row_is_predicted_and_no_rows_are_refused(capped):
    model = clone(FREE).fit([[1.0, 2.0]], [3.0])
    assert (model.predict_quantiles([[1.0, 2.0], [5.0, 5.0]]) == 3.0).all()
    with pytest.raises(ValueError, match=r"0 sample|no rows"):
        clone(FREE).fit(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match=r"validation|sample"):
        clone(FREE).set_params(patience=3).fit([[1.0, 2.0]], [3.0])
    model = clone(FREE).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(np.empty((0, 2)))


def test_two_rows_are_enough_to_stop_early():
    model = clone(FREE).set_params(patience=3).fit([[1.0], [2.0]], [3.0, 5.0])
    assert np.isfinite(model.predict_quantiles([[1.0], [2.0]])).all()


def test_no_flag_and_no_finite_threshold_is_the_plain_loss_to_the_bit(capped):
    for base in (FREE, clone(FREE).set_params(head="location-scale")):
        plain = clone(base).fit(capped.X, capped.y)
        none = np.zeros(60, bool)
        for known in (
            {"threshold": np.inf},
            {"threshold": np.full(60, np.inf)},
            {"censored": none},
            {"threshold": np.inf, "censored": none},
        ):
            other = clone(base).fit(capped.X, capped.y, **known)
            assert other.fitted_.members[0].weights.tobytes() == plain.fitted_.members[0].weights.tobytes()
        published = clone(base).set_params(loss="published").fit(capped.X, capped.y, threshold=np.inf)
        assert published.fitted_.members[0].weights.tobytes() == plain.fitted_.members[0].weights.tobytes()


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("known", ["threshold", "censored", "both"])
@pytest.mark.parametrize(
    "base", [FREE, clone(FREE).set_params(head="location-scale"), TobitRegressor(max_epochs=100)], ids=str
)
def test_all_rows_censored_warns_and_stays_finite(capped, base, known, side):
    how = {}
    if known != "censored":
        how["threshold"] = capped.y
    if known != "threshold":
        how["censored"] = np.ones(60, bool)
    beyond = "above" if side == "right" else "below"
    with pytest.warns(UserWarning, match=f"every row is censored: the data say nothing {beyond}") as told:
        model = clone(base).set_params(side=side, random_state=0).fit(capped.X, capped.y, **how)
    assert ("pass known thresholds" in str(told[0].message)) == (known == "censored")
    assert np.isfinite(model.predict_quantiles(capped.X)).all()


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e149])
def test_enormous_and_tiny_numbers_stay_finite(capped, size):
    for X, y in ((size * capped.X, capped.y), (capped.X, size * capped.y)):
        model = clone(FREE).fit(X, y)
        assert np.isfinite(model.predict_quantiles(X)).all()


def test_numbers_whose_squares_overflow_are_refused(capped):
    with pytest.raises(ValueError, match=r"X has values beyond 1e\+150"):
        clone(FREE).fit(1e300 * capped.X, capped.y)
    with pytest.raises(ValueError, match=r"y has values beyond 1e\+150"):
        clone(FREE).fit(capped.X, -1e300 * capped.y)


def test_a_far_outlier_in_new_data_stays_finite_and_in_order(capped):
    far = np.array([[1e300, -1e300], [1e12, 1e12], [-1e300, 0.0]])
    for head in ("monotone", "location-scale"):
        model = clone(FREE).set_params(head=head).fit(capped.X, capped.y, threshold=capped.threshold)
        quantiles = model.predict_quantiles(far)
        assert np.isfinite(quantiles).all()
        assert (np.diff(quantiles, axis=1) >= 0).all()


def test_close_times_are_told_apart():
    """Seconds since 1970 do not fit into float32; standardised in float64 they need not."""
    hours = np.arange(64.0)
    X = (1.6e9 + 3600 * hours)[:, None]
    model = clone(FREE).set_params(max_epochs=2000, quantiles=(0.5,)).fit(X, hours)
    assert np.abs(model.predict(X) - hours).max() < 0.05


def test_order_of_rows_and_subsets_change_no_bit(capped):
    order = np.random.default_rng(0).permutation(60)
    model = clone(FREE).fit(capped.X, capped.y, threshold=capped.threshold)
    other = clone(FREE).fit(capped.X[order], capped.y[order], threshold=capped.threshold[order])
    assert model.predict_quantiles(capped.X).tobytes() == other.predict_quantiles(capped.X).tobytes()
    X = np.random.default_rng(0).normal(size=(1300, 2))
    whole = model.predict_quantiles(X)
    assert np.array_equal(model.predict_quantiles(X[700:]), whole[700:])
    assert np.array_equal(model.predict_quantiles(X[5:6]), whole[5:6])


def test_inputs_are_not_changed(capped):
    X, y, threshold = capped.X.copy(), capped.y.copy(), capped.threshold.copy()
    clone(FREE).set_params(side="left").fit(X, -y, threshold=-threshold).predict(X)
    for array in (X, y, threshold):
        array.flags.writeable = False
    clone(FREE).fit(X, y, threshold=threshold).predict(X)
    assert np.array_equal(X, capped.X)
    assert np.array_equal(y, capped.y)
    assert np.array_equal(threshold, capped.threshold)


def test_divergence_is_an_error_not_nonsense(capped):
    wild = clone(FREE).set_params(learning_rate=1e38, clip_norm=None, schedule="constant")
    with pytest.raises(ValueError, match=r"diverged.*learning_rate"):
        wild.fit(capped.X, capped.y)
