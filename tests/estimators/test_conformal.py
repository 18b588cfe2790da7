"""Conformal bounds: contract, hand values, coverage of latent values, refusals."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from unmet import CensoredQuantileForest, Conformal, LinearCensoredQuantiles, TobitRegressor, load
from unmet.censoring import observe
from unmet.estimators.conformal._ladder import GRID
from unmet.estimators.conformal._misses import holding_levels

MODEL = LinearCensoredQuantiles(quantiles=(0.1, 0.3, 0.5), random_state=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_check_estimator():
    model = Conformal(TobitRegressor(max_epochs=5, random_state=0), censoring="kaplan-meier", random_state=0)
    results = check_estimator(model, on_skip=None, on_fail=None)
    assert len(results) > 40
    failed = {r["check_name"] for r in results if r["status"] not in ("passed", "skipped")}
    # A row of weight two lies in one part, where two equal rows may lie in both.
    assert failed == {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}


def simulate(rows, seed):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(rows, 1))
    latent = 1 + X[:, 0] + (0.5 + 0.5 * X[:, 0]) * random.normal(size=rows)
    cut = random.exponential(4.0, size=rows)
    return X, latent, cut


def mean_cut(X):
    return 4.0 * np.exp(0.5 - X[:, 0])


def true_chance(X, values):
    return np.exp(-np.maximum(values, 0) / mean_cut(X))


def simulate_dependent(rows, seed):
    """Cuts that come earlier where latent values are high."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(rows, 1))
    latent = 1 + X[:, 0] + (0.5 + 0.5 * X[:, 0]) * random.normal(size=rows)
    return X, latent, random.exponential(1.0, size=rows) * mean_cut(X)


@pytest.mark.filterwarnings("ignore:quantiles above.*not identified", "ignore:.*of the intervals are open")
@pytest.mark.parametrize("how", ["threshold", "censored"])
@pytest.mark.parametrize("settings", [{}, {"cutoff": 1.5}, {"censoring": "kaplan-meier"}], ids=str)
def test_contract(how, settings, tmp_path):
    X, latent, cut = simulate(400, 1)
    y, flags = np.minimum(latent, cut), latent > cut
    told = {"threshold": cut} if how == "threshold" else {"censored": flags}
    model = Conformal(MODEL, random_state=3, **settings)
    before = model.get_params()
    assert model.fit(X, y, **told) is model
    assert model.get_params() == before
    bound, ends = model.predict_lower(X), model.predict_interval(X)
    assert np.isfinite(bound).all()
    assert (ends[:, 0] <= bound).all()
    assert (ends[:, 0] < ends[:, 1]).all()
    assert 0.85 < (latent >= bound).mean() < 0.99
    if "cutoff" in settings:
        assert bound.max() <= 1.5
    assert model.predict(X).shape == (400,)
    assert model.predict_quantiles(X).shape == (400, 3)
    assert np.isfinite(model.score(X, y, **told))
    again = clone(model).fit(X, y, **told)
    assert again.predict_lower(X).tobytes() == bound.tobytes()
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, Conformal)
    assert loaded.predict_lower(X).tobytes() == bound.tobytes()
    assert loaded.predict_interval(X).tobytes() == ends.tobytes()
    assert repr(loaded) == repr(model)


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_left_is_the_mirror_image():
    X, latent, cut = simulate(400, 2)
    y = np.minimum(latent, cut)
    right = Conformal(MODEL, random_state=3).fit(X, y, threshold=cut)
    other = LinearCensoredQuantiles(quantiles=(0.5, 0.7, 0.9), side="left", random_state=0)
    left = Conformal(other, random_state=3).fit(X, -y, threshold=-cut)
    # Quantiles pass through rows exactly, so that rounding may decide about one row: one rung.
    assert abs(left.bounds_.lower_end - right.bounds_.lower_end) <= 1
    assert abs(left.bounds_.upper_end - right.bounds_.upper_end) <= 1
    apart = left.predict_interval(X) + right.predict_interval(X)[:, ::-1]
    assert np.abs(apart).mean() < 0.1
    with pytest.raises(ValueError, match="predict_interval"):
        left.predict_lower(X)


def test_an_end_that_censoring_hides_is_infinite():
    X, latent, _ = simulate(400, 4)
    model = Conformal(TobitRegressor(max_epochs=50, random_state=0), random_state=0)
    model.fit(X, np.minimum(latent, 1.0), threshold=1.0)
    with pytest.warns(UserWarning, match=r"\d+% of the intervals are open at one end.*use predict_lower"):
        high = model.predict_interval(X)[:, 1]
    assert np.isinf(high[high > 1.0]).all()  # nothing was ever seen there
    assert np.isinf(high).mean() > 0.5
    model.fit(X, latent)
    assert np.isfinite(model.predict_interval(X)).all()


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
@pytest.mark.parametrize(("most", "flags"), [(2.2, True), (2.2, False), (5.0, True)])
def test_intervals_hold_where_caps_lie_below_their_upper_ends(most: float, flags: bool):
    random = np.random.default_rng(11)

    def draw(rows: int) -> tuple[np.ndarray, np.ndarray]:
        X = random.normal(size=(rows, 2))
        return X, 1 + 0.4 * X[:, 0] - 0.4 * X[:, 1] + 0.8 * random.gumbel(size=rows)

    covered = []
    for seed in range(4):
        X, latent = draw(700)
        cap = random.uniform(-1.5, most, size=700)
        told = {"censored": latent > cap} if flags else {"threshold": cap}
        model = Conformal(TobitRegressor(max_epochs=200, random_state=0), random_state=seed)
        model.fit(X, np.minimum(latent, cap), **told)
        test, hidden = draw(2000)
        low, high = model.predict_interval(test).T
        assert not ((high > most) & np.isfinite(high)).any()
        if flags:  # nothing was seen above the last value, so no lower end can lie there
            assert max(low.max(), model.predict_lower(test).max()) <= most
        covered.append(np.mean((low <= hidden) & (hidden <= high)))
    assert np.mean(covered) > 0.875  # 0.78 where ends beyond all caps were taken for seen


@pytest.mark.filterwarnings("ignore:quantiles above.*not identified")
def test_counts_get_whole_bounds_that_hold():
    random = np.random.default_rng(5)
    X = random.uniform(size=(1000, 1))
    latent = random.poisson(2 + 6 * X[:, 0])
    cap = random.poisson(8, size=1000) + 1
    model = Conformal(MODEL, counts=True, random_state=0)
    model.fit(X, np.minimum(latent, cap), threshold=cap)
    bound = model.predict_lower(X)
    assert np.array_equal(bound, np.round(bound))
    assert (latent >= bound).mean() > 0.88
    ends = model.predict_interval(X)
    assert ((latent >= ends[:, 0]) & (latent <= ends[:, 1])).mean() > 0.88
    with pytest.raises(ValueError, match="whole numbers"):
        model.fit(X, latent + 0.5)


@pytest.mark.parametrize("side", ["right", "left"])
def test_quantiles_are_calibrated(side):
    """A Tobit model with a wrong scale: its quantiles do not hold, those of the conformal layer do."""
    sign = 1 if side == "right" else -1
    X, latent, cut = (sign * part for part in simulate(6000, 5))
    new, truth, _ = (sign * part for part in simulate(6000, 6))
    y = np.minimum(latent, cut) if side == "right" else np.maximum(latent, cut)
    inner = TobitRegressor(scale=2.0, side=side, max_epochs=300, random_state=0)
    model = Conformal(inner, censoring="kaplan-meier", random_state=0).fit(X, y, censored=y == cut)
    levels = np.arange(1, 10) / 10
    held = (truth[:, None] <= model.predict_quantiles(new, levels)).mean(axis=0)
    np.testing.assert_allclose(held, levels, atol=0.03)
    raw = (truth[:, None] <= model.estimator_.predict_quantiles(new, levels)).mean(axis=0)
    assert abs(raw - levels).max() > 0.1
    draws = model.sample(new, n_draws=1, random_state=0)[:, 0]
    assert np.quantile(draws, levels) == pytest.approx(np.quantile(truth, levels), abs=0.1)


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_steps_of_a_distribution_that_holds_stay_where_they_are():
    """Counts and a forest: a value at a step has all levels of it, so that no level need move."""
    random = np.random.default_rng(7)
    X = random.uniform(size=(2000, 1))
    latent, cut = random.poisson(1 + X[:, 0]), random.poisson(4, size=2000)
    inner = CensoredQuantileForest(n_estimators=30, min_samples_leaf=40, random_state=0)
    model = Conformal(inner, censoring="kaplan-meier", random_state=0)
    model.fit(X, np.minimum(latent, cut).astype(float), censored=latent > cut)
    moved = np.interp((0.1, 0.2, 0.3, 0.5, 0.7), GRID, model.bounds_.inner) - (0.1, 0.2, 0.3, 0.5, 0.7)
    assert np.abs(moved).max() < 0.08


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:quantiles above.*not identified")
def test_mean_coverage_over_draws():
    """1,000 calibration rows, 100 draws: 90% with true chances, a little less with estimates."""
    found = {"true": [], "estimated": [], "flags": []}
    bounds = {name: [] for name in found}
    oracle = []
    for draw in range(100):
        X, latent, cut = simulate_dependent(1500, 30_000 + draw)
        new, truth, _ = simulate_dependent(2000, 40_000 + draw)
        y, flags = np.minimum(latent, cut), latent > cut
        share = {"calibration_fraction": 2 / 3, "random_state": draw}
        for name, model, told in (
            ("true", Conformal(MODEL, censoring=true_chance, **share), {"threshold": cut}),
            ("estimated", Conformal(MODEL, **share), {"threshold": cut}),
            ("flags", Conformal(MODEL, **share), {"censored": flags}),
        ):
            lower = model.fit(X, y, **told).predict_lower(new)
            found[name].append((truth >= lower).mean())
            bounds[name].append(lower.mean())
        oracle.append((1 + new[:, 0] - 1.2816 * (0.5 + 0.5 * new[:, 0])).mean())
    means = {name: float(np.mean(values)) for name, values in found.items()}
    print(means, {name: float(np.mean(values)) for name, values in bounds.items()}, np.mean(oracle))
    # A bound that holds and is useful lies near the true 10% quantile.
    assert all(abs(np.mean(values) - np.mean(oracle)) < 0.1 for values in bounds.values())
    assert 0.897 <= means["true"] <= 0.93
    assert 0.885 <= means["estimated"] <= 0.93
    assert 0.885 <= means["flags"] <= 0.93


@pytest.mark.parametrize("how", ["threshold", "censored"])
@pytest.mark.parametrize(("censoring", "folds"), [("forest", None), ("kaplan-meier", None), ("forest", 3)])
def test_only_the_ratio_of_weights_counts_and_rows_of_no_weight_do_not(how, censoring, folds):
    X, latent, cut = simulate(400, 8)
    told = {"y": np.minimum(latent, cut)}
    told[how] = cut if how == "threshold" else latent > cut
    inner = TobitRegressor(max_epochs=50, random_state=0)
    model = Conformal(inner, censoring=censoring, folds=folds, random_state=0)

    def bounds(rows=slice(None), **weights):
        fitted = clone(model).fit(X[rows], **{key: part[rows] for key, part in told.items()}, **weights)
        return fitted.bounds_, fitted.predict_lower(X).tobytes()

    assert bounds(sample_weight=np.full(400, 4.0)) == bounds()
    kept = np.arange(400) % 4 != 0
    assert bounds(sample_weight=kept * 0.5) == bounds(kept)
    uneven = bounds(sample_weight=1 + 9.0 * (latent > 2))
    assert uneven != bounds()


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
@pytest.mark.parametrize("how", ["threshold", "censored"])
def test_bounds_hold_for_rows_drawn_with_the_weights(how):
    """One scale for two kinds of rows: wide ones are rare among the rows, and nine in ten by weight."""

    def draw(rows, wide, seed):
        random = np.random.default_rng(seed)
        X = random.normal(size=(rows, 1))
        spread = np.where(random.uniform(size=rows) < wide, 2.0, 0.5)
        return X, X[:, 0] + spread * random.normal(size=rows), random.exponential(6.0, size=rows) - 1, spread

    new, truth, _, _ = draw(20_000, 0.9, 0)
    held = {"weighted": [], "not": [], "quantiles": []}
    for seed in range(1, 6):
        X, latent, cut, spread = draw(1500, 0.3, seed)
        weight = np.where(spread > 1, 0.9 / 0.3, 0.1 / 0.7)
        told = {"threshold": cut} if how == "threshold" else {"censored": latent > cut}
        inner = TobitRegressor(max_epochs=200, random_state=0)
        model = Conformal(inner, censoring="kaplan-meier", random_state=seed)
        for name, given in (("weighted", weight), ("not", None)):
            model.fit(X, np.minimum(latent, cut), sample_weight=given, **told)
            held[name].append((truth >= model.predict_lower(new)).mean())
            if given is not None:
                held["quantiles"].append((truth <= model.predict_quantiles(new, (0.2,))[:, 0]).mean())
    assert 0.885 < np.mean(held["weighted"]) < 0.93
    assert np.mean(held["not"]) < 0.84
    assert np.mean(held["quantiles"]) == pytest.approx(0.2, abs=0.03)


def test_refusals_name_the_argument(capped):
    for settings, named in (
        ({"coverage": 1.5}, "coverage"),
        ({"cutoff": "soon"}, "cutoff"),
        ({"censoring": "guess"}, "censoring"),
        ({"calibration_fraction": 0}, "calibration_fraction"),
        ({"estimator": 3}, "estimator"),
    ):
        with pytest.raises(ValueError, match=named):
            Conformal(**{"estimator": MODEL, **settings}).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="same side"):
        Conformal(MODEL).fit(capped.X, lower=capped.y - 1, upper=capped.y + 1)
    model = Conformal(TobitRegressor(max_epochs=5), random_state=0).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(capped.X, coverage=0.5)


@pytest.mark.parametrize("power", [1.0, 1.6])
def test_levels_that_hold_are_left_and_others_are_moved_whole(power):
    """Of curves whose levels hold, as noise shows them, each is left; of others, all are moved."""
    levels = tuple(np.arange(1, 100) / 100)
    moved = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        place, limit = random.uniform(size=400) ** power, random.uniform(0.2, 1.2, size=400)
        seen = observe(np.minimum(place, limit), censored=place > limit)
        curves = np.broadcast_to(levels, (400, 99))
        found = np.array(holding_levels(curves, levels, seen, np.ones(400), (0.2, 0.4, 0.6)))
        moved.append(found - [0.2, 0.4, 0.6])
    off = np.mean(moved, axis=0)
    if power == 1.0:
        assert np.mean(np.all(np.array(moved) == 0, axis=1)) > 0.4
        assert np.abs(off).max() < 0.01
    else:
        assert off == pytest.approx(np.array([0.2, 0.4, 0.6]) ** power - [0.2, 0.4, 0.6], abs=0.02)
