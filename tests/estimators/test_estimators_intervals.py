"""Interval censoring, a floor and a cap at once, a side per row: every estimator answers or says why not."""

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.model_selection import cross_val_score

from unmet import CensoredQuantileRegressor, LinearCensoredQuantiles, TobitRegressor, fit_many, load
from unmet.losses import doubly_censored_tilted_loss

INF = np.inf
LEVELS = (0.1, 0.5, 0.9)


@pytest.fixture(scope="module")
def rows():
    """Linear Gaussian rows, their true quantiles, and random intervals around them."""
    random = np.random.default_rng(3)
    X = random.normal(size=(400, 2))
    middle = 1 + X @ [1.0, -0.5]
    latent = middle + random.normal(size=400)
    truth = middle[:, None] + stats.norm.ppf(LEVELS)
    width = random.uniform(0.5, 5.0, size=400)
    lower = latent - width * random.uniform(size=400)
    return X, latent, truth, lower, lower + width


def quick(kind, **settings):
    return kind(quantiles=LEVELS, random_state=0, max_epochs=600, **settings)


@pytest.mark.parametrize("kind", [CensoredQuantileRegressor, TobitRegressor])
def test_bounds_on_one_side_give_the_same_bits_as_flags(kind, capped):
    model = kind(max_epochs=15, random_state=0)
    upper = np.where(capped.censored, INF, capped.y)
    flags = model.fit(capped.X, capped.y, censored=capped.censored).predict_quantiles(capped.X)
    bounds = model.fit(capped.X, lower=capped.y, upper=upper).predict_quantiles(capped.X)
    assert bounds.tobytes() == flags.tobytes()
    # open below: the side follows from the bounds, whatever `side` says
    left = model.fit(capped.X, lower=-upper, upper=-capped.y)
    told = kind(max_epochs=15, random_state=0, side="left")
    told.fit(capped.X, -capped.y, censored=capped.censored)
    assert left.predict_quantiles(capped.X).tobytes() == told.predict_quantiles(capped.X).tobytes()


@pytest.mark.parametrize(
    "kind", [pytest.param(CensoredQuantileRegressor, marks=pytest.mark.slow), TobitRegressor]
)
def test_intervals_are_better_than_their_middles_and_flags_on_both_sides_than_none(kind, rows):
    X, latent, truth, lower, upper = rows

    def error(model):
        return np.abs(model.predict_quantiles(X) - truth).mean()

    model = quick(kind)
    oracle = error(model.fit(X, latent))
    found = error(model.fit(X, lower=lower, upper=upper))
    middles = error(model.fit(X, (lower + upper) / 2))
    assert found < 0.6 * middles
    assert found < 2.5 * oracle
    seen = np.clip(latent, 0.0, 2.5)
    bounds = {"lower": np.where(seen == 0, -INF, seen), "upper": np.where(seen == 2.5, INF, seen)}
    unaware, aware = error(model.fit(X, seen)), error(model.fit(X, **bounds))
    known = error(model.set_params(side="both").fit(X, seen, threshold=(0.0, 2.5)))
    assert max(aware, known) < 0.5 * unaware


@pytest.mark.parametrize(
    "model",
    [
        CensoredQuantileRegressor(max_epochs=15, random_state=0),
        CensoredQuantileRegressor(head="free", max_epochs=15, random_state=0, patience=5),
        TobitRegressor(max_epochs=15, random_state=0, shape="sinh-arcsinh"),
    ],
    ids=["location-scale", "free", "tobit"],
)
def test_contract(model, capped, tmp_path):
    X = capped.X
    lower = np.where(np.arange(60) % 3 == 0, -INF, capped.y)
    upper = np.where(capped.censored & np.isfinite(lower), INF, capped.y)
    upper[np.arange(60) % 5 == 1] = capped.y[np.arange(60) % 5 == 1] + 0.5
    assert model.fit(X, lower=lower, upper=upper) is model
    quantiles = model.predict_quantiles(X)
    assert np.isfinite(quantiles).all()
    assert np.isfinite(model.score(X, lower=lower, upper=upper))
    order = np.random.default_rng(0).permutation(60)
    shuffled = model.fit(X[order], lower=lower[order], upper=upper[order])
    assert shuffled.predict_quantiles(X).tobytes() == quantiles.tobytes()
    (many,) = fit_many(model, [{"X": X, "lower": lower, "upper": upper}])
    assert many.predict_quantiles(X).tobytes() == quantiles.tobytes()
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict_quantiles(X).tobytes() == quantiles.tobytes()
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(model, X, cv=3, params={"lower": lower, "upper": upper})
    assert np.isfinite(scores).all()


def test_negated_bounds_give_the_mirror_image_of_a_tobit_model(rows):
    X, _, _, lower, upper = rows
    model = quick(TobitRegressor)
    there = model.fit(X, lower=lower, upper=upper).predict_quantiles(X)
    back = model.fit(X, lower=-upper, upper=-lower).predict_quantiles(X)
    assert np.allclose(there, -back[:, ::-1], atol=0.01)


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")  # two rows lie between the limits at .3
def test_doubly_censored_powell_is_lowest(rows):
    """One column: a minimum fits two rows exactly, so that all pairs of rows can be tried."""
    X, latent = rows[0][:60, :1], rows[1][:60]
    y = np.clip(latent, 0.2, 1.8)
    for level in (0.3, 0.5, 0.75):
        model = LinearCensoredQuantiles(method="powell", side="both", quantiles=(level,), random_state=0)
        model.fit(X, y, threshold=(0.2, 1.8))

        def loss(intercepts, slopes, level=level):
            fitted = intercepts[:, None] + slopes[:, None] * X[:, 0]
            return doubly_censored_tilted_loss(y, fitted, level, 0.2, 1.8).sum(axis=1)

        i, j = np.triu_indices(60, 1)
        slopes = (y[i] - y[j]) / (X[i, 0] - X[j, 0])
        best = loss(y[i] - slopes * X[i, 0], slopes).min()
        assert loss(model.intercept_, model.coef_[:, 0])[0] == pytest.approx(best, rel=1e-6)


def test_methods_without_an_answer_refuse_intervals(capped):
    bounds = {"lower": capped.y - 1, "upper": capped.y + 1}
    for method in ("portnoy", "peng-huang", "wang-wang", "powell"):
        with pytest.raises(ValueError, match="TobitRegressor"):
            LinearCensoredQuantiles(method=method).fit(capped.X, **bounds)
    for method in ("portnoy", "peng-huang", "wang-wang"):
        model = LinearCensoredQuantiles(method=method, side="both")
        with pytest.raises(ValueError, match="powell"):
            model.fit(capped.X, np.clip(capped.y, 0, 1), threshold=(0.0, 1.0))
    with pytest.raises(ValueError, match="published"):
        CensoredQuantileRegressor(loss="published", max_epochs=2).fit(capped.X, **bounds)
    with pytest.raises(
        ValueError, match=r"joint=False is not for rows known by lower= and upper= alone.*joint=True"
    ):
        CensoredQuantileRegressor(joint=False, head="free", max_epochs=2).fit(capped.X, **bounds)
    flags = np.where(capped.censored, INF, capped.y)
    one = LinearCensoredQuantiles(quantiles=(0.1, 0.3)).fit(capped.X, lower=capped.y, upper=flags)
    two = LinearCensoredQuantiles(quantiles=(0.1, 0.3)).fit(capped.X, capped.y, censored=capped.censored)
    assert np.array_equal(one.coef_, two.coef_)


def test_bad_rows_are_named(capped):
    model = TobitRegressor(max_epochs=2)
    with pytest.raises(ValueError, match="X has 60 rows but lower has 59"):
        model.fit(capped.X, lower=capped.y[:59], upper=capped.y[:59] + 1)
    with pytest.raises(ValueError, match="requires y"):
        model.fit(capped.X)
