"""Conformal with folds: who sees which rows, coverage of latent values, files, refusals."""

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from unmet import CensoredQuantileForest, Conformal, LinearCensoredQuantiles, TobitRegressor, load
from unmet.estimators.conformal import _conformal
from unmet.estimators.conformal._ladder import GRID, common_levels
from unmet.losses import tilted_loss
from unmet.runs import load_model, save_model

TOBIT = TobitRegressor(max_epochs=100, random_state=0)


def simulate(rows, seed):
    """Columns, latent values whose spread grows, and cuts that come earlier where latent values are high."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(rows, 1))
    latent = 1 + X[:, 0] + (0.5 + 0.5 * X[:, 0]) * random.normal(size=rows)
    return X, latent, random.exponential(4.0, size=rows) * np.exp(0.5 - X[:, 0])


def told_of(latent, cut, how):
    told = {"threshold": cut} if how == "threshold" else {"censored": latent > cut}
    return {"y": np.minimum(latent, cut), **told}


class Spy(TobitRegressor):
    """Writes down which rows it learnt, and which it is asked for."""

    learnt: ClassVar[list[set[float]]] = []
    asked: ClassVar[list[tuple[set[float], set[float]]]] = []

    def fit(self, X: Any, *args: Any, **told: Any) -> Any:
        self.mine_ = set(X[:, 0])
        self.learnt.append(self.mine_)
        return super().fit(X, *args, **told)

    def predict_quantiles(self, X: Any, quantiles: Any = None) -> Any:
        self.asked.append((self.mine_, set(X[:, 0])))
        return super().predict_quantiles(X, quantiles)


def test_no_row_calibrates_what_it_was_learnt_from(monkeypatch):
    X, latent, cut = simulate(103, 1)
    chances = []
    find = _conformal.find_chance

    def watched(kind, X, seen, share, seed):
        chance, mine = find(kind, X, seen, share, seed), set(X[:, 0])

        def found(X, values):
            chances.append((mine, set(X[:, 0])))
            return chance(X, values)

        return found

    monkeypatch.setattr(_conformal, "find_chance", watched)
    Spy.learnt.clear()
    Spy.asked.clear()
    model = Conformal(Spy(max_epochs=5, random_state=0), folds=4, random_state=0)
    model.fit(X, **told_of(latent, cut, "threshold"))
    every = set(X[:, 0])
    assert sorted(map(len, Spy.learnt)) == [77, 77, 77, 78, 103]
    for asked in (Spy.asked, chances):
        assert all(not mine & rows and mine | rows == every for mine, rows in asked)
        assert set().union(*(rows for _, rows in asked)) == every
        assert len({frozenset(mine) for mine, _ in asked}) == 4
    assert model.estimator_.mine_ == every


def test_the_estimator_is_that_of_all_rows():
    X, latent, cut = simulate(200, 2)
    told = told_of(latent, cut, "threshold")
    model = Conformal(TOBIT, folds=3, random_state=0).fit(X, **told)
    alone = clone(TOBIT).set_params(quantiles=GRID).fit(X, **told)
    assert np.array_equal(model.estimator_.predict_quantiles(X), alone.predict_quantiles(X))


@pytest.mark.filterwarnings("ignore:quantiles.*not identified", "ignore:.*of the intervals are open")
def test_an_estimator_that_remembers_its_rows_still_covers():
    """Calibrated by rows that it knows, this forest's 90% intervals would cover one value in 300."""
    new, truth, _ = simulate(2000, 100)
    inner = CensoredQuantileForest(n_estimators=20, min_samples_leaf=1, max_features=1.0, random_state=0)
    covered = []
    for seed in range(3):
        X, latent, cut = simulate(500, seed)
        model = Conformal(inner, censoring="kaplan-meier", folds=5, random_state=seed)
        low, high = model.fit(X, **told_of(latent, cut + 3, "threshold")).predict_interval(new).T
        assert np.isfinite(high).mean() > 0.9
        covered.append(np.mean((low <= truth) & (truth <= high)))
    assert 0.87 < np.mean(covered) < 0.95


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
@pytest.mark.parametrize("how", ["threshold", "censored"])
def test_bounds_and_intervals_hold(how):
    new, truth, _ = simulate(5000, 100)
    lower, inside = [], []
    for seed in range(4):
        X, latent, cut = simulate(600, 10 + seed)
        model = Conformal(TOBIT, folds=5, random_state=seed).fit(X, **told_of(latent, cut, how))
        lower.append((truth >= model.predict_lower(new)).mean())
        low, high = model.predict_interval(new).T
        inside.append(((low <= truth) & (truth <= high)).mean())
    assert 0.88 < np.mean(lower) < 0.93
    assert 0.88 < np.mean(inside) < 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_the_loss_is_below_that_of_the_split():
    """The forest of all rows is closer to the latent values than that of half of them."""

    def draw(rows, seed):
        random = np.random.default_rng(seed)
        X = random.uniform(size=(rows, 3))
        latent = np.sin(4 * X[:, 0]) + X[:, 1] + (0.3 + 0.5 * X[:, 2]) * random.normal(size=rows)
        return X, latent, 0.2 + 0.5 * X[:, 1] + random.exponential(1.5, size=rows)

    levels = np.arange(1, 10) / 10
    new, truth, _ = draw(4000, 100)
    inner = CensoredQuantileForest(n_estimators=50, min_samples_leaf=8, random_state=0)
    ratios = []
    for seed in range(4):
        X, latent, cut = draw(400, seed)
        losses = []
        for folds in (4, None):
            model = Conformal(inner, censoring="kaplan-meier", folds=folds, random_state=seed)
            quantiles = model.fit(X, **told_of(latent, cut, "threshold")).predict_quantiles(new, levels)
            losses.append(tilted_loss(truth[:, None], quantiles, levels).mean())
        ratios.append(losses[0] / losses[1])
    assert max(ratios) < 1
    assert np.mean(ratios) < 0.99


@pytest.mark.parametrize("side", ["right", "left"])
def test_quantiles_are_calibrated_on_both_sides(side):
    """A Tobit model with a wrong scale: its quantiles do not hold, those of the conformal layer do."""
    sign = 1 if side == "right" else -1
    new, truth, _ = (sign * part for part in simulate(20_000, 6))
    inner = TobitRegressor(scale=2.0, side=side, max_epochs=200, random_state=0)
    levels = np.arange(1, 10) / 10
    held = []
    for seed in range(4):
        X, latent, cut = (sign * part for part in simulate(2000, 50 + seed))
        y = sign * np.minimum(sign * latent, sign * cut)
        model = Conformal(inner, censoring="kaplan-meier", folds=3, random_state=0)
        model.fit(X, y, censored=y == cut)
        held.append((truth[:, None] <= model.predict_quantiles(new, levels)).mean(axis=0))
    np.testing.assert_allclose(np.mean(held, axis=0), levels, atol=0.03)
    raw = (truth[:, None] <= model.estimator_.predict_quantiles(new, levels)).mean(axis=0)
    assert abs(raw - levels).max() > 0.1


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
def test_left_is_the_mirror_image_with_folds():
    X, latent, cut = simulate(400, 2)
    y = np.minimum(latent, cut)
    right = Conformal(TOBIT, folds=3, random_state=3).fit(X, y, threshold=cut)
    left = Conformal(clone(TOBIT).set_params(side="left"), folds=3, random_state=3)
    left.fit(X, -y, threshold=-cut)
    ends = right.predict_interval(X)
    np.testing.assert_allclose(left.predict_interval(X), -ends[:, ::-1], atol=1e-3)


@pytest.mark.filterwarnings("ignore:quantiles.*not identified")
def test_only_levels_that_all_copies_have_are_used():
    """Without one of the folds, censored rows leave no answer above 80%; with all rows they do."""
    X, latent, _ = simulate(150, 3)
    inner = LinearCensoredQuantiles(quantiles=(0.1, 0.3, 0.5), random_state=0)
    model = Conformal(inner, censoring="kaplan-meier", folds=3, random_state=0)
    model.fit(X, **told_of(latent, np.full(150, 1.9), "censored"))
    last = model.bounds_.levels[-1]
    assert 0.5 < last < common_levels([model.estimator_])[-1]
    assert np.array_equal(model.predict_quantiles(X, (0.99,)), model.estimator_.predict_quantiles(X, (last,)))


def test_counts_get_whole_bounds_that_hold_with_folds():
    random = np.random.default_rng(5)
    X = random.uniform(size=(800, 1))
    latent, cap = random.poisson(2 + 6 * X[:, 0]), random.poisson(8, size=800) + 1
    model = Conformal(TOBIT, counts=True, folds=4, random_state=0)
    model.fit(X, np.minimum(latent, cap), threshold=cap)
    new = random.uniform(size=(4000, 1))
    truth = random.poisson(2 + 6 * new[:, 0])
    bound, (low, high) = model.predict_lower(new), model.predict_interval(new).T
    assert np.array_equal(bound, np.round(bound))
    assert 0.88 < (truth >= bound).mean() < 0.96
    assert ((truth >= low) & (truth <= high)).mean() > 0.88


def test_bounds_hold_for_rows_drawn_with_the_weights_of_folds():
    """One scale for two kinds of rows: wide ones are rare among the rows, and nine in ten by weight."""

    def draw(rows, wide, seed):
        random = np.random.default_rng(seed)
        X = random.normal(size=(rows, 1))
        spread = np.where(random.uniform(size=rows) < wide, 2.0, 0.5)
        return X, X[:, 0] + spread * random.normal(size=rows), random.exponential(6.0, size=rows) - 1, spread

    new, truth, _, _ = draw(20_000, 0.9, 0)
    held = {"weighted": [], "not": []}
    for seed in range(1, 4):
        X, latent, cut, spread = draw(1000, 0.3, seed)
        model = Conformal(TOBIT, censoring="kaplan-meier", folds=4, random_state=seed)
        for name, weight in (("weighted", np.where(spread > 1, 0.9 / 0.3, 0.1 / 0.7)), ("not", None)):
            model.fit(X, **told_of(latent, cut, "threshold"), sample_weight=weight)
            held[name].append((truth >= model.predict_lower(new)).mean())
    assert 0.88 < np.mean(held["weighted"]) < 0.93
    assert np.mean(held["not"]) < 0.84


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
def test_a_saved_model_answers_with_the_same_bytes(tmp_path):
    X, latent, cut = simulate(200, 9)
    inner = clone(TOBIT).set_params(positive=True)
    told = told_of(np.maximum(latent, 0.0), cut, "threshold")
    model = Conformal(inner, folds=np.int64(3), random_state=1).fit(X, **told)
    again = clone(model).fit(X, **told)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.folds == 3
    assert model.predict_interval(X).min() == 0
    for ask in ("predict_lower", "predict_interval", "predict_quantiles"):
        answer = getattr(model, ask)(X).tobytes()
        assert getattr(loaded, ask)(X).tobytes() == answer
        assert getattr(again, ask)(X).tobytes() == answer


@pytest.mark.filterwarnings("ignore:.*of the intervals are open")
def test_models_saved_before_there_were_folds_load(tmp_path):
    X, latent, cut = simulate(100, 9)
    model = Conformal(TOBIT, censoring="kaplan-meier", random_state=1)
    model.fit(X, **told_of(latent, cut, "threshold")).save(tmp_path / "model")
    config, arrays = load_model(tmp_path / "model")
    assert config["parameters"].pop("folds") is None
    save_model(tmp_path / "old", config, arrays)
    old = load(tmp_path / "old")
    assert old.folds is None
    assert np.array_equal(old.predict_lower(X), model.predict_lower(X))


def test_refusals_of_folds(capped):
    for folds in (1, 2.5, True, "five"):
        with pytest.raises(ValueError, match="folds must be a whole number of at least 2"):
            Conformal(TOBIT, folds=folds).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match=r"calibration_fraction is for folds=None.*leave it out"):
        Conformal(TOBIT, folds=5, calibration_fraction=0.3).fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="at least 5 rows, one for each of its folds, got 3 samples"):
        Conformal(TOBIT, folds=5).fit(capped.X[:3], capped.y[:3])


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_check_estimator_with_folds():
    inner = TobitRegressor(max_epochs=5, random_state=0)
    model = Conformal(inner, censoring="kaplan-meier", folds=3, random_state=0)
    results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {r["check_name"] for r in results if r["status"] not in ("passed", "skipped")}
    # A row of weight two lies in one fold, where two equal rows may lie in two.
    assert failed == {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
