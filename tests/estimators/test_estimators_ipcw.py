"""Inverse weights of the chance to be seen: hand values, the measure, consistency, refusals."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, load, metrics
from unmet.censoring import StayingUncensored
from unmet.runs import load_model, save_model


def test_the_chance_to_be_seen_by_hand():
    y, censored = np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, True, False, False])
    found = StayingUncensored(y, censored)
    assert found.before(y).tolist() == [1.0, 1.0, 1.0, 0.5]  # at 2 a value is seen, then one of two is cut
    assert found.at(np.array([2.0])).tolist() == [0.5]
    doubled = StayingUncensored(y, censored, np.array([1.0, 1.0, 1.0, 3.0]))
    assert doubled.at(np.array([2.0])).tolist() == [0.75]


def test_weights_are_those_of_the_measure(capped):
    """At fixed quantiles the weighted training loss of the rows is the IPCW tilted loss."""
    model = CensoredQuantileRegressor(loss="ipcw", head="free", max_epochs=3, random_state=0)
    model.fit(capped.X, capped.y, censored=capped.censored)
    seen = ~capped.censored
    chance = StayingUncensored(capped.y, capped.censored).before(capped.y[seen])
    assert model.ipcw_.rows == seen.sum()
    assert model.ipcw_.largest == pytest.approx(1 / chance.min())
    by_weight = clone(model).set_params(loss="censored")
    by_weight.fit(capped.X[seen], capped.y[seen], sample_weight=1 / chance)
    assert by_weight.predict_quantiles(capped.X).tobytes() == model.predict_quantiles(capped.X).tobytes()
    quantiles = model.predict_quantiles(capped.X)
    assert np.isfinite(metrics.ipcw_tilted_loss(capped.y, capped.censored, quantiles, model.quantiles))


def test_the_account_of_the_weights_survives_saving_and_no_other_fit(capped, tmp_path):
    model = CensoredQuantileRegressor(loss="ipcw", head="free", max_epochs=3, random_state=0)
    model.fit(capped.X, capped.y, censored=capped.censored).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.ipcw_ == model.ipcw_
    loaded.save(tmp_path / "again")
    assert load(tmp_path / "again").ipcw_ == model.ipcw_
    config, arrays = load_model(tmp_path / "model")
    save_model(tmp_path / "bad", {**config, "ipcw": {"rows": 3}}, arrays)
    with pytest.raises(ValueError, match=r"ipcw.*lacks"):
        load(tmp_path / "bad")
    model.set_params(loss="censored").fit(capped.X, capped.y, threshold=capped.threshold)
    assert not hasattr(model, "ipcw_")


def test_left_is_the_mirror_image(capped):
    model = CensoredQuantileRegressor(loss="ipcw", head="free", max_epochs=15, random_state=0)
    right = model.fit(capped.X, capped.y, censored=capped.censored).predict_quantiles(capped.X)
    model.set_params(side="left")
    left = model.fit(capped.X, -capped.y, censored=capped.censored).predict_quantiles(capped.X)
    assert np.array_equal(left, -right[:, ::-1])


def simulate(depends, rows=1500, seed=21):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(rows, 1))
    latent = 1 + X[:, 0] + 0.5 * random.normal(size=rows)
    cut = random.exponential(4.0 * np.exp(-1.5 * X[:, 0]) if depends else 4.0, size=rows) - 1.5
    return X, np.minimum(latent, cut), latent > cut, 1 + X + 0.5 * norm.ppf([0.25, 0.5, 0.75])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*of the uncensored rows had a chance")
def test_weighted_fits_find_latent_quantiles_and_a_model_helps_where_cuts_depend_on_x():
    def error(depends, **settings):
        X, y, flags, truth = simulate(depends)
        levels = (0.25, 0.5, 0.75)
        model = CensoredQuantileRegressor(quantiles=levels, head="free", random_state=0, **settings)
        how = {} if settings.get("loss") is None else {"censored": flags}
        return np.abs(model.fit(X, y, **how).predict_quantiles(X) - truth).mean()

    independent = error(False, loss="ipcw")
    assert independent < 0.06
    assert independent < 0.4 * error(False)
    assert error(True, loss="ipcw", censoring="forest") < 0.9 * error(True, loss="ipcw")


def test_truncation_is_told():
    """Nearly all large values are hidden: the few that are seen would carry weights above 20."""
    random = np.random.default_rng(0)
    latent, cut = random.uniform(size=400), random.exponential(0.15, size=400)
    model = CensoredQuantileRegressor(loss="ipcw", head="free", max_epochs=3, random_state=0)
    with pytest.warns(UserWarning, match="truncated at 20"):
        model.fit(latent[:, None], np.minimum(latent, cut), censored=latent > cut)
    assert model.ipcw_.largest == 20
    assert model.ipcw_.truncated > 0.01


def test_few_uncensored_rows_are_told(make):
    """Three rows of 300 are uncensored: a fit can reproduce them, with intervals of no width."""
    data = make(rows=300)
    model = CensoredQuantileRegressor(loss="ipcw", head="free", max_epochs=3, random_state=0)
    for side, sign in (("right", 1), ("left", -1)):
        model.set_params(side=side)
        with pytest.warns(UserWarning, match=r"only 3 of 300 rows are: .* TobitRegressor or loss='censored'"):
            model.fit(data.X, sign * data.y, censored=~np.isin(np.arange(300), (3, 100, 250)))
    model.fit(data.X[:12], data.y[:12])  # nothing is censored: few rows are no fault of the weights


def test_refusals_name_the_argument(capped):
    model = CensoredQuantileRegressor(loss="ipcw", max_epochs=2)
    with pytest.raises(ValueError, match="ipcw"):
        model.fit(capped.X, lower=capped.y - 1, upper=capped.y + 1)
    with (
        pytest.raises(ValueError, match="every row is censored"),
        pytest.warns(UserWarning, match="every row"),
    ):
        model.fit(capped.X, capped.y, censored=np.ones(60, bool))
    with pytest.raises(ValueError, match="censoring"):
        CensoredQuantileRegressor(censoring="forest").fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="censoring"):
        CensoredQuantileRegressor(loss="ipcw", censoring="guess").fit(capped.X, capped.y)
