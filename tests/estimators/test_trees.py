"""Forest and booster: scikit-learn's checks, contract, files, hand values, crossings, consistency."""

import pickle
import re
import warnings

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from unmet import (
    CensoredQuantileBooster,
    CensoredQuantileForest,
    censored_objective,
    fit_many,
    load,
    metrics,
)
from unmet.censoring import kaplan_meier, observe, quantiles_of_all
from unmet.estimators.trees._units import units_for_float32, units_for_lightgbm
from unmet.runs import ModelFileError, load_model, save_model

LEVELS = (0.1, 0.3, 0.5)
KINDS = [CensoredQuantileForest, CensoredQuantileBooster]


def build(kind, **settings):
    return kind(**{"quantiles": LEVELS, "n_estimators": 15, "random_state": 0, **settings})


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("kind", KINDS)
def test_check_estimator(kind):
    results = check_estimator(build(kind, n_estimators=4), on_skip=None, on_fail=None)
    assert len(results) > 40
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", ["threshold", "censored"])
def test_contract(kind, side, known, capped, tmp_path):
    sign = 1 if side == "right" else -1
    X, y = capped.X, sign * capped.y
    how = {"threshold": sign * capped.threshold} if known == "threshold" else {"censored": capped.censored}
    levels = LEVELS if side == "right" else (0.5, 0.7, 0.9)
    model = build(kind, side=side, quantiles=levels)
    before = model.get_params()
    assert model.fit(X, y, **how) is model
    assert model.get_params() == before
    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (60, 3)
    assert np.isfinite(quantiles).all()
    assert np.ptp(quantiles[:, 1]) > 0
    assert np.array_equal(model.predict(X), quantiles[:, levels.index(0.5)])
    between = model.predict_quantiles(X, (levels[0], levels[0] + 0.05, levels[2]))
    assert metrics.crossings(between, strict=True) == 0
    assert np.isfinite(model.score(X, y, **how))
    # a row's prediction does not depend on its neighbours
    assert np.array_equal(model.predict_quantiles(X[7:8])[0], quantiles[7])

    order = np.random.default_rng(1).permutation(60)
    shuffled = {name: values[order] for name, values in how.items()}
    again = clone(model).fit(X[order], y[order], **shuffled)
    assert again.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_quantiles(X).tobytes() == quantiles.tobytes()
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, kind)
    assert loaded.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize("kind", KINDS)
def test_edited_files_are_refused(kind, capped, tmp_path):
    build(kind).fit(capped.X, capped.y, threshold=capped.threshold).save(tmp_path / "model")
    config, arrays = load_model(tmp_path / "model")
    loop = arrays["trees.left"].copy()
    loop[arrays["trees.feature"] >= 0] = 0
    wrong = [("trees.left", loop), ("trees.feature", arrays["trees.feature"] + 5)]
    wrong.append(("trees.roots", arrays["trees.roots"][:-1]))
    for name, values in wrong:
        save_model(tmp_path / "edited", config, {**arrays, name: values})
        with pytest.raises(ModelFileError, match="do not describe"):
            load(tmp_path / "edited").predict(capped.X)


def test_a_forest_of_one_leaf_is_kaplan_meier(capped):
    model = build(CensoredQuantileForest, min_samples_leaf=60).fit(
        capped.X, capped.y, censored=capped.censored
    )
    law = kaplan_meier(capped.y, capped.censored)
    levels = (0.1, 0.25, 0.5)
    assert model.predict_quantiles(capped.X[:1], levels)[0].tolist() == [law.level(level) for level in levels]


def test_levels_that_neighbours_do_not_identify_are_told(capped):
    """Every row above the median is censored there: higher levels are not identified anywhere."""
    cap = float(np.median(capped.latent))
    y = np.minimum(capped.latent, cap)
    model = build(CensoredQuantileForest, min_samples_leaf=20).fit(capped.X, y, threshold=cap)
    with pytest.warns(UserWarning, match=r"quantiles from level 0\.9 up are .*largest of their"):
        found = model.predict_quantiles(capped.X, (0.3, 0.9, 0.95))
    assert found[:, 0].max() <= cap
    assert found[:, 1].min() > cap
    # beyond the cap all rows go on alike, as a normal law does
    steps = np.diff(found[:, 1:], axis=1)
    assert np.ptp(steps) < 1e-9
    spread = steps[0, 0] / (ndtri(0.95) - ndtri(0.9))
    assert 0.3 * np.std(capped.latent) < spread < 3 * np.std(capped.latent)
    model = build(CensoredQuantileForest, side="left", min_samples_leaf=20).fit(capped.X, -y, threshold=-cap)
    with pytest.warns(UserWarning, match=r"quantiles from level 0\.1 down are .*lowest of their"):
        mirrored = model.predict_quantiles(capped.X, (0.05, 0.1, 0.7))
    np.testing.assert_allclose(-mirrored[:, ::-1], found)


COLUMNS = {
    "ones": np.ones((1000, 1)),
    "zeros": np.zeros((1000, 2)),
    "rare": (np.arange(1000) % 100 == 0).astype(float)[:, None],
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("known", ["threshold", "censored"])
def test_a_booster_without_splits_is_kaplan_meier(known, side, columns, tmp_path):
    random = np.random.default_rng(1)
    latent, threshold = random.normal(10, 2, (2, 1000))
    y, censored = np.minimum(latent, threshold), latent > threshold
    law = kaplan_meier(y, censored)
    X, sign = COLUMNS[columns], 1 if side == "right" else -1
    how = {"censored": censored} if known == "censored" else {"threshold": sign * threshold}
    model = CensoredQuantileBooster(n_estimators=15, side=side, random_state=0).fit(X, sign * y, **how)
    expected = np.array([law.level(level) for level in (0.05, 0.5, 0.95)])[::sign]
    found = model.predict_quantiles(X[:3])
    np.testing.assert_allclose(found, sign * np.tile(expected, (3, 1)), rtol=1e-12)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict_quantiles(X[:3]).tobytes() == found.tobytes()

    # A row of weight two is two rows.
    weight = random.integers(0, 3, 1000)
    twice = kaplan_meier(np.repeat(y, weight), np.repeat(censored, weight))
    model.fit(X, sign * y, sample_weight=weight, **how)
    expected = np.array([twice.level(level) for level in (0.05, 0.5, 0.95)])[::sign]
    np.testing.assert_allclose(model.predict_quantiles(X[:1])[0], sign * expected, rtol=1e-12)


def test_a_booster_without_splits_tells_of_levels_that_are_hidden():
    y = np.minimum(np.arange(100.0), 30)
    model = CensoredQuantileBooster(quantiles=(0.1, 0.5, 0.95), n_estimators=5, random_state=0)
    with pytest.warns(UserWarning, match=r"quantiles above 0\.3 are not identified, because .* largest"):
        model.fit(np.ones((100, 1)), y, threshold=30.0)
    np.testing.assert_allclose(model.predict_quantiles([[1.0]]), [[9, 30, 30]])
    model.set_params(side="left", quantiles=(0.05, 0.5, 0.9))
    with pytest.warns(UserWarning, match=r"quantiles below 0\.7 are not identified, because .* lowest"):
        model.fit(np.ones((100, 1)), -y, threshold=-30.0)
    np.testing.assert_allclose(model.predict_quantiles([[1.0]]), [[-30, -30, -9]])


UNITS = {
    "tiny": lambda X: 1e-9 * X,
    "far away": lambda X: X + 1e8,
    "farther": lambda X: X + 1e11,
    "tiniest": lambda X: 1e-36 * X,
    "huge": lambda X: 1e40 * X,
    "one column": lambda X: X * [1e-9, 1],
}


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("known", ["threshold", "censored"])
@pytest.mark.parametrize("kind", KINDS)
def test_units_and_offsets_of_columns_do_not_matter(kind, known, units, make, tmp_path):
    data = make(rows=300)
    how = {known: getattr(data, known)}
    usual = build(kind).fit(data.X, data.y, **how).predict(data.X)
    X = UNITS[units](data.X)
    model = build(kind).fit(X, data.y, **how)
    found = model.predict(X)
    if kind is CensoredQuantileForest:
        np.testing.assert_allclose(found, usual)
    else:  # rows are held out by their content
        assert np.corrcoef(found, usual)[0, 1] > 0.9
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tobytes() == found.tobytes()
    assert pickle.loads(pickle.dumps(model)).predict(X).tobytes() == found.tobytes()


def test_units_are_saved_only_where_they_are_needed(capped, tmp_path):
    for kind, factor in ((CensoredQuantileForest, 1e-9), (CensoredQuantileBooster, 1e-36)):
        build(kind).fit(capped.X, capped.y, threshold=capped.threshold).save(tmp_path / "usual")
        assert not any(name.startswith("units") for name in load_model(tmp_path / "usual")[1])
        build(kind).fit(factor * capped.X, capped.y, threshold=capped.threshold).save(tmp_path / "tiny")
        config, arrays = load_model(tmp_path / "tiny")
        for wrong in (np.zeros(2), np.ones(3), np.ones(2, np.float32)):
            save_model(tmp_path / "edited", config, {**arrays, "units.scale": wrong})
            with pytest.raises(ModelFileError, match="fit the columns"):
                load(tmp_path / "edited").predict(capped.X)


def test_columns_that_trees_keep_have_no_units():
    random = np.random.default_rng(0)
    kept = [
        random.normal(size=2000),
        np.exp(3 * random.normal(size=2000)),
        random.integers(0, 2, 2000),
        random.integers(1990, 2025, 2000),
        -73.98 + 0.01 * random.normal(size=2000),  # degrees
        1.7e9 + 3600.0 * random.integers(0, 8760, 2000),  # seconds
        np.full(2000, 0.3),
        0.3 + 1e-16 * random.integers(0, 3, 2000),  # one value, up to rounding
        np.where(np.arange(2000) == 5, 1e300, random.normal(size=2000)),
    ]
    assert units_for_float32(np.column_stack(kept)) is None
    assert units_for_lightgbm(np.column_stack(kept), ()) is None
    codes = 1e-36 * random.integers(0, 2, (2000, 1))
    assert units_for_lightgbm(codes, ()) is not None
    assert units_for_lightgbm(codes, [0]) is None


def test_one_uncensored_row_gives_one_warning_of_ours(capped):
    censored = np.arange(len(capped.y)) != 7
    model = build(CensoredQuantileForest).fit(capped.X, capped.y, censored=censored)
    with pytest.warns(UserWarning, match="not identified") as told:
        found = model.predict_quantiles(capped.X)
    assert [one.category for one in told] == [UserWarning]
    assert np.isfinite(found).all()


def test_the_rows_that_lack_the_median_are_told(capped):
    """Of seven values all but the lowest two are censored: the median is nowhere to be seen."""
    y = np.arange(len(capped.y)) % 7
    model = build(CensoredQuantileForest, min_samples_leaf=60).fit(capped.X, y, censored=y > 1)
    levels = tuple(np.round(np.arange(1, 10) / 10, 1))
    with pytest.warns(UserWarning, match="are not identified") as told:
        model.predict_quantiles(capped.X, levels)
    words = str(told[0].message).split(", because")[0]
    start, end = (
        "quantiles from level 0.",
        " up are not identified in up to 100% of the rows (the median in 100%)",
    )
    assert re.fullmatch(re.escape(start) + r"\d" + re.escape(end), words)
    with pytest.warns(
        UserWarning, match=r"quantiles at level 0\.9 are not identified in 100% of the rows \("
    ):
        model.predict_quantiles(capped.X, (0.1, 0.9))


def test_deciles_hold_where_follow_up_ends_for_all_at_once():
    """A quarter of the rows is censored at the last moment: they tell nothing of the levels above."""
    random = np.random.default_rng(3)
    X = random.uniform(size=(3000, 2))
    latent = X[:, 0] + random.normal(size=3000)
    y, flags = np.minimum(latent, 1.2), latent > 1.2
    levels = np.arange(1, 20) / 20
    model = build(CensoredQuantileForest, n_estimators=30, min_samples_leaf=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(X[:1500], y[:1500], censored=flags[:1500]).predict_quantiles(X[1500:], levels)
    shares = metrics.calibration_shares(metrics.predicted_levels(y[1500:], found, levels), flags[1500:])
    assert np.abs(shares - 0.1).max() < 0.03


@pytest.mark.parametrize("how", ["threshold", "censored"])
def test_trees_that_know_of_the_cap_come_closer_to_the_truth(how):
    random = np.random.default_rng(11)
    X = random.uniform(-2, 2, size=(600, 3))
    middle = 2 * (X[:, 0] > 0) + X[:, 1]
    latent = middle + random.normal(size=600)
    threshold = 2 + random.normal(size=600)
    y, flags = np.minimum(latent, threshold), latent > threshold
    told = {"threshold": threshold} if how == "threshold" else {"censored": flags}
    for kind in KINDS:
        model = kind(quantiles=(0.5,), n_estimators=60, random_state=0)
        aware = metrics.mae(model.fit(X, y, **told).predict(X), middle)
        unaware = metrics.mae(model.fit(X, y).predict(X), middle)
        assert aware < 0.75 * unaware


def between(rows, seed):
    """A step and a slope, seen between a floor and a cap of their own in each row."""
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, size=(rows, 3))
    middle = 2 * (X[:, 0] > 0) + X[:, 1]
    limits = np.column_stack([random.normal(size=rows) - 0.5, 2.5 + random.normal(size=rows)])
    return X, middle, np.clip(middle + random.normal(size=rows), *np.sort(limits).T), np.sort(limits)


def test_a_booster_knows_a_floor_and_a_cap_at_once(tmp_path):
    X, middle, y, limits = between(800, 14)
    levels = (0.1, 0.5, 0.9)
    model = CensoredQuantileBooster(quantiles=levels, side="both", n_estimators=80, random_state=0)
    found = model.fit(X, y, threshold=limits).predict_quantiles(X)
    truth = middle[:, None] + ndtri(levels)
    blind = clone(model).set_params(side="right").fit(X, y)
    assert np.abs(found - truth).mean() < 0.75 * np.abs(blind.predict_quantiles(X) - truth).mean()
    for side, limit in (("right", limits[:, 1]), ("left", limits[:, 0])):
        half = clone(model).set_params(side=side).fit(X, y, threshold=limit).predict_quantiles(X)
        assert np.abs(found - truth).mean() < np.abs(half - truth).mean()
    assert metrics.crossings(found, strict=True) == 0
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict_quantiles(X).tobytes() == found.tobytes()
    pair = clone(model).fit(X, y, threshold=(limits[:, 0], limits[:, 1])).predict_quantiles(X)
    assert pair.tobytes() == found.tobytes()


def test_a_booster_without_floors_is_that_of_caps():
    X, _, y, limits = between(300, 16)
    y, cap = np.minimum(y, limits[:, 1]), limits[:, 1]
    model = CensoredQuantileBooster(n_estimators=60, random_state=0)
    one = model.fit(X, y, threshold=cap).predict_quantiles(X)
    other = clone(model).set_params(side="both").fit(X, y, threshold=(-np.inf, cap)).predict_quantiles(X)
    assert one.tobytes() == other.tobytes()


def test_without_splits_a_booster_between_limits_is_turnbull():
    _, _, y, limits = between(400, 15)
    seen = observe(y, threshold=limits, side="both")
    model = CensoredQuantileBooster(side="both", n_estimators=5, random_state=0)
    found = model.fit(np.ones((400, 1)), y, threshold=limits).predict_quantiles([[1.0]])
    np.testing.assert_allclose(found[0], quantiles_of_all(seen, (0.05, 0.5, 0.95))[0], atol=1e-9)
    y = np.clip(np.arange(100.0), 20, 70)
    with pytest.warns(UserWarning, match=r"below 0\.21 and above 0\.7 are not identified, .* lowest and the"):
        model.fit(np.ones((100, 1)), y, threshold=(20.0, 70.0))
    np.testing.assert_allclose(model.predict_quantiles([[1.0]]), [[20, 49, 70]])


def test_a_booster_that_runs_out_of_rounds_learns_faster():
    random = np.random.default_rng(12)
    X = random.uniform(-2, 2, size=(400, 2))
    middle = 2 * np.sin(2 * X[:, 0])
    threshold = 1 + random.normal(size=400)
    y = np.minimum(middle + 0.3 * random.normal(size=400), threshold)

    def error(**settings):
        model = CensoredQuantileBooster(quantiles=(0.5,), random_state=0, **settings)
        return metrics.mae(model.fit(X, y, threshold=threshold).predict(X), middle)

    slow = {"n_estimators": 20, "learning_rate": 0.02}
    assert error(**slow) < 0.5 * error(**slow, validation_fraction=None)
    # The rate is kept where rounds suffice: 0.02, then 0.08, then 0.32.
    fast = CensoredQuantileBooster(quantiles=(0.5,), random_state=0, n_estimators=20, learning_rate=0.32)
    assert error(**slow) == metrics.mae(fast.fit(X, y, threshold=threshold).predict(X), middle)


def test_a_quantile_below_all_rows_still_moves():
    """Its slope is the same in every row, so that no split helps: the whole level has to move."""
    random = np.random.default_rng(13)
    X = random.uniform(-1, 1, size=(400, 1))
    least = 2 * np.sign(X[:, 0])
    model = CensoredQuantileBooster(quantiles=(0.05, 0.5), random_state=0)
    low, _ = model.fit(X, least + random.exponential(size=400)).predict_quantiles(X).T
    assert np.abs(low - least - 0.05).mean() < 0.2  # a level that stays has 2.3


def test_errors_name_the_argument(capped):
    bounds = {"lower": capped.y - 1, "upper": capped.y + 1}
    for kind in KINDS:
        with pytest.raises(ValueError, match="TobitRegressor"):
            build(kind).fit(capped.X, **bounds)
        with pytest.raises(ValueError, match=r"same side.*TobitRegressor"):
            build(kind).fit(
                capped.X, lower=bounds["lower"], upper=np.where(capped.censored, np.inf, capped.y)
            )
        with pytest.raises(ValueError, match="every row is censored"):
            build(kind).fit(capped.X, capped.y, censored=np.ones(60, bool))
        with pytest.raises(ValueError, match="every row is censored"):
            build(kind).fit(
                capped.X, capped.y, censored=capped.censored, sample_weight=capped.censored.astype(float)
            )
        with pytest.raises(ValueError, match="n_estimators"):
            build(kind, n_estimators=0).fit(capped.X, capped.y)
        with pytest.raises(ValueError, match="one problem at a time"):
            fit_many(build(kind), [{"X": capped.X, "y": capped.y}])
    with pytest.raises(ValueError, match=r"y has values beyond 1e\+150"):
        build(CensoredQuantileBooster).fit(capped.X, 1e200 * capped.y)
    with pytest.raises(ValueError, match="level="):
        censored_objective(capped.y, quantile=0.5, censored=capped.censored)
    with pytest.raises(ValueError, match="level"):
        censored_objective(capped.y, quantile=0.5, threshold=capped.threshold, level=capped.y)
    with pytest.raises(ValueError, match="quantile"):
        censored_objective(capped.y, quantile=1.5)
