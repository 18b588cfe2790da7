"""Standard errors and marginal effects of Tobit models: by numbers, by weights, saved, refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from unmet import TobitRegressor, fit_many, load
from unmet.runs import ModelFileError, load_model, save_model


@pytest.fixture(scope="module")
def fitted(make):
    data = make(60)
    frame = pd.DataFrame({"rain": data.X[:, 0], "wind": data.X[:, 1]})
    return frame, data, TobitRegressor(random_state=0).fit(frame, data.y, threshold=data.threshold)


def test_summary_holds_and_shows_the_numbers(fitted, tmp_path):
    frame, data, model = fitted
    found = model.summary(coverage=0.9)
    assert found.names == ("intercept", "rain", "wind", "log(scale)")
    assert np.allclose(model.predict(frame), model.intercept_ + frame.to_numpy() @ model.coef_)
    assert np.allclose(found.upper - found.lower, 2 * norm.ppf(0.95) * found.standard_errors)
    assert np.allclose(found.p_values, 2 * norm.sf(np.abs(found.coefficients / found.standard_errors)))
    exact = int((~data.censored).sum())
    for word in ("rain", f"{exact} exact", f"{60 - exact} open above", "90% interval", "assumes"):
        assert word in str(found)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert str(loaded.summary(0.9)) == str(found)
    assert np.array_equal(loaded.likelihood_.covariance, model.likelihood_.covariance)


def test_a_row_of_weight_two_counts_twice(capped):
    weight = np.ones(60)
    weight[:10] = 2
    rows = np.repeat(np.arange(60), weight.astype(int))
    model = TobitRegressor(random_state=0)
    one = model.fit(capped.X, capped.y, threshold=capped.threshold, sample_weight=weight).summary()
    two = model.fit(capped.X[rows], capped.y[rows], threshold=capped.threshold[rows]).summary()
    assert np.allclose(one.standard_errors, two.standard_errors, rtol=1e-6)


@pytest.mark.parametrize(("side", "threshold"), [("right", 1.0), ("left", -0.5), ("both", (-0.5, 1.5))])
def test_marginal_effects_are_finite_differences(make, side, threshold):
    """The mean of what is observed, by quadrature, one small step to either side of X."""
    data = make(60)
    X = data.X
    floor, cap = {"right": (-np.inf, 1.0), "left": (-0.5, np.inf), "both": (-0.5, 1.5)}[side]
    model = TobitRegressor(side=side, random_state=0)
    model.fit(
        pd.DataFrame(X, columns=["rain", "wind"]), np.clip(data.latent, floor, cap), threshold=threshold
    )
    z = norm.ppf((np.arange(20_000) + 0.5) / 20_000)

    def observed(shift):
        location = model.intercept_ + (X + shift) @ model.coef_
        return np.mean([np.clip(m + model.scale_ * z, floor, cap).mean() for m in location])

    def uncensored(shift):
        location = model.intercept_ + (X + shift) @ model.coef_
        ends = norm.cdf((cap - location) / model.scale_) - norm.cdf((floor - location) / model.scale_)
        return ends.mean()

    found = model.marginal_effects(pd.DataFrame(X, columns=["rain", "wind"]), threshold=threshold)
    assert np.array_equal(found.latent, model.coef_)
    for number, step in enumerate(1e-3 * np.eye(2)):
        by_hand = (observed(step) - observed(-step)) / 2e-3
        assert found.observed[number] == pytest.approx(by_hand, rel=1e-2)
        by_hand = (uncensored(step) - uncensored(-step)) / 2e-3
        assert found.uncensored[number] == pytest.approx(by_hand, rel=1e-4)
    assert "rain" in str(found)


def test_errors_of_effects_are_those_of_draws(fitted):
    """Draw coefficients from their normal distribution; the spread of the effects is the delta method's."""
    frame, _, model = fitted
    X = frame.to_numpy()
    found = model.marginal_effects(frame, threshold=1.0)
    center = np.array([model.intercept_, *model.coef_, np.log(model.scale_)])
    draws = np.random.default_rng(0).multivariate_normal(center, 0.01 * model.likelihood_.covariance, 4000)
    u = (1.0 - draws[:, :1] - draws[:, 1:3] @ X.T) / np.exp(draws[:, 3:])
    observed = draws[:, 1:3] * norm.cdf(u).mean(axis=1)[:, None]
    uncensored = -draws[:, 1:3] * (norm.pdf(u).mean(axis=1) / np.exp(draws[:, 3]))[:, None]
    assert 10 * observed.std(axis=0) == pytest.approx(found.observed_errors, rel=0.05)
    assert 10 * uncensored.std(axis=0) == pytest.approx(found.uncensored_errors, rel=0.05)


def test_effects_are_on_the_side_of_the_bounds(capped, tmp_path):
    y = np.maximum(capped.latent, 0.5)
    left = TobitRegressor(side="left", random_state=0).fit(capped.X, y, threshold=0.5)
    told = left.marginal_effects(capped.X, threshold=0.5)
    model = TobitRegressor(random_state=0)
    model.fit(capped.X, lower=np.where(capped.latent < 0.5, -np.inf, y), upper=y)
    model.save(tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        found = one.marginal_effects(capped.X, threshold=0.5)
        assert found.observed == pytest.approx(told.observed, rel=1e-3)
        assert found.observed_errors == pytest.approx(told.observed_errors, rel=1e-3)


def test_effects_of_bounds_on_both_sides_need_a_floor_and_a_cap(capped):
    latent, X = capped.latent, capped.X
    y = np.clip(latent, 0.0, 2.0)
    both = TobitRegressor(side="both", random_state=0).fit(X, y, threshold=(0.0, 2.0))
    model = TobitRegressor(random_state=0)
    model.fit(X, lower=np.where(latent < 0, -np.inf, y), upper=np.where(latent > 2, np.inf, y))
    found = model.marginal_effects(X, threshold=(0.0, 2.0))
    assert found.observed == pytest.approx(both.marginal_effects(X, threshold=(0.0, 2.0)).observed, rel=1e-3)
    for wrong in (2.0, y):
        with pytest.raises(ValueError, match=r"pair \(floor, cap\).*both sides"):
            model.marginal_effects(X, threshold=wrong)
    # Exact bounds leave the side to the parameter.
    exact = TobitRegressor(side="left", random_state=0).fit(X, lower=latent, upper=latent)
    plain = TobitRegressor(side="left", random_state=0).fit(X, latent)
    told = plain.marginal_effects(X, threshold=0.5).observed
    assert exact.marginal_effects(X, threshold=0.5).observed == pytest.approx(told, rel=1e-3)


def test_a_copied_column_has_no_error_of_its_own(capped):
    X = np.column_stack([capped.X, capped.X[:, 0]])
    found = TobitRegressor(random_state=0).fit(X, capped.y, threshold=capped.threshold).summary()
    assert np.isnan(found.standard_errors).tolist() == [False, True, False, True, False]


def every_error(X, data):
    """Standard errors of all parameters, and those of the three effects of every column."""
    model = TobitRegressor(random_state=0).fit(X, data.y, threshold=data.threshold)
    effects = model.marginal_effects(X, threshold=1.0)
    told = effects.latent_errors, effects.observed_errors, effects.uncensored_errors
    return model.summary().standard_errors, np.array(told)


@pytest.mark.parametrize("extra", ["constant", "copy", "group"])
def test_a_redundant_column_leaves_the_other_errors_as_they_are(capped, extra):
    group = np.eye(3)[np.arange(60) % 3]
    X = np.column_stack([capped.X, group[:, :2]])
    more = {"constant": np.full(60, 7.0), "copy": 2 * X[:, 1], "group": group[:, 2]}[extra]
    alone, effects = every_error(X, capped)
    beside, beside_effects = every_error(np.column_stack([X, more]), capped)
    lost = {"constant": [0], "copy": [2], "group": [0, 3, 4]}[extra]  # these share what the column tells
    assert np.flatnonzero(np.isnan(beside)).tolist() == [*lost, 5]
    kept = np.setdiff1d(np.arange(5), lost)
    assert beside[kept] == pytest.approx(alone[kept], rel=1e-4)
    assert beside[-1] == pytest.approx(alone[-1], rel=1e-4)
    kept = kept[kept > 0] - 1
    assert beside_effects[:, kept] == pytest.approx(effects[:, kept], rel=1e-3)
    assert np.isnan(beside_effects[:, 4]).all()


def test_an_effect_needs_rows_that_keep_the_relation_of_the_columns(capped):
    X = np.column_stack([capped.X, np.ones(60)])
    model = TobitRegressor(random_state=0).fit(X, capped.y, threshold=capped.threshold)
    found = model.marginal_effects(X, threshold=1.0)
    assert np.isnan(found.observed_errors).tolist() == [False, False, True]
    assert str(found).count("–)") == 3
    assert "nan" not in str(found)
    assert np.isnan(model.marginal_effects(X + [0, 0, 1], threshold=1.0).observed_errors).all()


def test_an_offset_changes_no_error_of_a_slope(capped):
    alone, effects = every_error(capped.X, capped)
    shifted, shifted_effects = every_error(capped.X + [1e6, 0], capped)
    assert shifted[1:] == pytest.approx(alone[1:], rel=1e-4)
    assert shifted[0] == pytest.approx(1e6 * alone[1], rel=1e-4)
    assert shifted_effects == pytest.approx(effects, rel=1e-3)


def test_errors_are_saved_with_what_is_not_determined(capped, tmp_path):
    X = np.column_stack([capped.X, np.ones(60)])
    model = TobitRegressor(random_state=0).fit(X, capped.y, threshold=capped.threshold)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert str(loaded.summary()) == str(model.summary())
    assert str(loaded.marginal_effects(X, 1.0)) == str(model.marginal_effects(X, 1.0))
    config, arrays = load_model(tmp_path / "model")
    save_model(tmp_path / "short", config, {**arrays, "flat": arrays["flat"][1:]})
    with pytest.raises(ModelFileError, match="covariance"):
        load(tmp_path / "short").summary()
    # A file of an earlier version: the covariance in the units of X, zero under a mask.
    for name in ("center", "scale", "inverse", "flat"):
        del arrays[name]
    del config["likelihood"]["intercept"]
    undetermined = np.isnan(model.likelihood_.covariance)
    arrays["covariance"] = np.where(undetermined, 0.0, model.likelihood_.covariance)
    save_model(tmp_path / "old", config, {**arrays, "undetermined": undetermined})
    assert str(load(tmp_path / "old").summary()) == str(model.summary())


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"l2": 0.1}, "l2"), ({"scale": "network"}, "scale"), ({"shape": "sinh-arcsinh"}, "shape")],
)
def test_models_without_standard_errors_say_what_they_need(capped, settings, named):
    model = TobitRegressor(max_epochs=5, random_state=0, **settings).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match=named):
        model.summary()


def test_fit_many_keeps_no_likelihood(capped):
    (model,) = fit_many(TobitRegressor(max_epochs=5, random_state=0), [{"X": capped.X, "y": capped.y}])
    with pytest.raises(ValueError, match="fit itself"):
        model.summary()
    with pytest.raises(ValueError, match="coverage"):
        TobitRegressor(max_epochs=5).fit(capped.X, capped.y).summary(coverage=2)
