"""Local linear censored quantiles: the minimum is found, caps are honoured, files and mirrors agree."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from unmet import LocalLinearCensoredQuantiles, load
from unmet.estimators.local import _fit
from unmet.estimators.local._estimator import SPANS
from unmet.estimators.local._fit import local_linear, reached_levels
from unmet.estimators.local._rows import Rows, neighbours


def curve(rows=400, seed=0, columns=1):
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (rows, columns))
    latent = np.sin(2 * X[:, 0]) + 0.3 * random.normal(size=rows)
    cap = 0.6 + random.normal(size=rows)
    return X, latent, cap


def plain(X, y):
    ones = np.ones(len(y))
    return Rows(X, y, np.full(len(y), np.inf), np.zeros(len(y), bool), ones, ones)


def lowest(x, y, weight, level, intercept=None):
    """The lowest weighted loss of a line, by linear programming; through a given intercept, if any."""
    table = np.column_stack([np.ones(len(y)), x]) if intercept is None else x
    size = table.shape[1]
    cost = np.concatenate([np.zeros(2 * size), level * weight, (1 - level) * weight])
    equal = np.hstack([table, -table, np.eye(len(y)), -np.eye(len(y))])
    return linprog(cost, A_eq=equal, b_eq=y - (intercept or 0.0)).fun


@pytest.mark.parametrize("columns", [1, 2])
def test_the_minimum_is_that_of_linear_programming(columns):
    X, latent, _ = curve(120, columns=columns)
    rows, points, levels = plain(X, latent), X[:3], np.array([0.2, 0.5, 0.7])
    found, known = local_linear(rows, points, levels, 0.5, np.ones(120))
    assert known.all()
    ((_, near),) = neighbours(rows, points, 0.5)
    for number in range(3):
        here = near.away[number], latent[near.rows[number]], near.kernel[number]
        for k, level in enumerate(levels):
            assert lowest(*here, level, found[number, k]) < 1.001 * lowest(*here, level)
            assert lowest(*here, level, found[number, k] + 0.5) > 1.002 * lowest(*here, level)


def test_neighbourhoods_hold_their_share():
    X, latent, _ = curve(200)
    ((_, near),) = neighbours(plain(X, latent), X[:5], 0.2)
    assert near.rows.shape == (5, 40)
    apart = np.abs(X[:, 0] - X[:5, :1])
    for number in range(5):
        assert set(near.rows[number]) == set(np.argsort(apart[number])[:40])
    assert (near.kernel > 0).all()
    assert near.kernel.max(axis=1) == pytest.approx(1)


def test_levels_at_caps_are_kaplan_meiers():
    """All rows alike: F̂ at each cap is the textbook product."""
    y = np.array([1.0, 2.0, 3.0, 4.0])
    censored = np.array([False, True, False, False])
    cap = np.array([5.0, 2.0, 3.5, np.inf])
    rows = Rows(np.zeros((4, 1)), y, cap, censored, np.ones(4), np.ones(4))
    np.testing.assert_allclose(reached_levels(rows, 1.0), [1.0, 0.25, 0.625, 1.0])


@pytest.mark.parametrize("how", ["threshold", "censored"])
def test_caps_do_not_bend_the_curve(how):
    X, latent, cap = curve(1500)
    told = {"threshold": cap} if how == "threshold" else {"censored": latent > cap}
    model = LocalLinearCensoredQuantiles(quantiles=(0.25, 0.5), span=0.12)
    model.fit(X, np.minimum(latent, cap), **told)
    grid = np.linspace(-1.8, 1.8, 50)[:, None]
    truth = np.sin(2 * grid) + 0.3 * np.array([-0.6745, 0.0])
    error = np.abs(model.predict_quantiles(grid) - truth).mean()
    blind = clone(model).fit(X, np.minimum(latent, cap))
    assert error < 0.09
    assert error < 0.6 * np.abs(blind.predict_quantiles(grid) - truth).mean()


def test_a_span_is_chosen_and_follows_the_data():
    random = np.random.default_rng(1)
    x = random.uniform(-2, 2, (300, 1))
    wavy = LocalLinearCensoredQuantiles().fit(x, np.sin(6 * x[:, 0]) + 0.1 * random.normal(size=300))
    straight = LocalLinearCensoredQuantiles().fit(x, x[:, 0] + random.normal(size=300))
    assert wavy.span_ in SPANS
    assert wavy.span_ < straight.span_


def test_many_rows_are_fitted_around_few_places(monkeypatch):
    """The lines that are fitted depend on the span, not on the rows or the points."""
    fitted = []

    def counted(rows, points, span):
        fitted.append(len(points))
        return neighbours(rows, points, span)

    X, latent, cap = curve(4000)
    monkeypatch.setattr(_fit, "neighbours", counted)
    model = LocalLinearCensoredQuantiles(quantiles=(0.5,), span=0.3)
    model.fit(X, np.minimum(latent, cap), threshold=cap)
    found = model.predict_quantiles(X)
    assert max(fitted[:1]) <= 1000
    assert max(fitted[1:]) <= 200
    monkeypatch.setattr(_fit, "_MANY", 10_000)
    assert np.abs(found[:50] - model.predict_quantiles(X[:50])).max() < 0.02


def test_many_rows_at_few_values_are_answered_as_few_rows_are(monkeypatch):
    """Lines around five values do not reach halfway to the next: points between have their own."""
    X, latent, cap = curve(1500)
    model = LocalLinearCensoredQuantiles(quantiles=(0.25, 0.5), span=0.27)
    model.fit(np.round(X), np.minimum(latent, cap), threshold=cap)
    points = np.linspace(-2, 2, 17)[:, None]
    found = model.predict_quantiles(points)
    monkeypatch.setattr(_fit, "_MANY", 10_000)
    np.testing.assert_array_equal(found, model.predict_quantiles(points))


@pytest.mark.parametrize("columns", [1, 2])
def test_newtons_steps_find_the_minimum_of_many_rows(columns):
    X, latent, _ = curve(1200, columns=columns)
    rows, points, levels = plain(X, latent), np.zeros((1, columns)), np.array([0.05, 0.5])
    ((_, near),) = neighbours(rows, points, 1.0)
    (lines,), _ = _fit._fit(rows, points, levels, 1.0, np.ones(1200))
    here = near.away[0], latent[near.rows[0]], near.kernel[0]
    for line, level in zip(lines, levels):
        away = here[1] - line[0] - here[0] @ line[1:]
        loss = here[2] @ (away * (level - (away < 0)))
        assert loss < 1.002 * lowest(*here, level)


def test_what_caps_hide_is_a_bound_and_said_to_be_one():
    X, latent, _ = curve(300)
    cap = np.where(X[:, 0] > 0, -2.0, 9.0)
    y = np.minimum(latent, cap)
    model = LocalLinearCensoredQuantiles(quantiles=(0.5,), span=0.2).fit(X, y, threshold=cap)
    with pytest.warns(UserWarning, match="not identified in up to .* lower bounds"):
        found = model.predict_quantiles([[-1.0], [1.2]])
    assert found[1, 0] == -2.0
    assert found[0, 0] == pytest.approx(np.sin(-2), abs=0.15)


def test_left_censoring_is_the_mirror_image_and_order_does_not_matter():
    X, latent, cap = curve(200)
    y = np.minimum(latent, cap)
    model = LocalLinearCensoredQuantiles(quantiles=(0.2, 0.6), span=0.3).fit(X, y, threshold=cap)
    left = LocalLinearCensoredQuantiles(quantiles=(0.4, 0.8), span=0.3, side="left")
    left.fit(X[::-1], -y[::-1], threshold=-cap[::-1])
    np.testing.assert_array_equal(left.predict_quantiles(X), -model.predict_quantiles(X)[:, ::-1])
    one = model.predict_quantiles(X[7:8])
    np.testing.assert_allclose(one, model.predict_quantiles(X)[7:8], rtol=1e-12)


@pytest.mark.parametrize("method", ["powell", "ipcw"])
def test_saved_models_answer_as_before(method, tmp_path):
    X, latent, cap = curve(80)
    model = LocalLinearCensoredQuantiles(method=method, span=0.5)
    model.fit(X, np.minimum(latent, cap), threshold=cap).save(tmp_path / "model")
    back = load(tmp_path / "model")
    np.testing.assert_array_equal(
        back.predict_quantiles(X, (0.3, 0.5)), model.predict_quantiles(X, (0.3, 0.5))
    )
    assert back.span_ == 0.5


def test_what_it_cannot_do_is_said():
    X, latent, cap = curve(60, columns=4)
    y = np.minimum(latent, cap)
    with pytest.warns(UserWarning, match="neighbourhoods are wide in more than 3"):
        LocalLinearCensoredQuantiles(span=0.5).fit(X, y, threshold=cap)
    X = X[:, :1]
    with pytest.raises(ValueError, match="needs the threshold of every row"):
        LocalLinearCensoredQuantiles(method="powell").fit(X, y, censored=latent > cap)
    with pytest.raises(ValueError, match="all open on the same side"):
        LocalLinearCensoredQuantiles().fit(X, lower=np.r_[y[:30], np.full(30, -np.inf)], upper=y + 1)
    with pytest.raises(ValueError, match="span must be a number above 0 and at most 1"):
        LocalLinearCensoredQuantiles(span=2.0).fit(X, y)


@pytest.mark.filterwarnings("default")
def test_check_estimator():
    with np.errstate(all="ignore"):
        results = check_estimator(LocalLinearCensoredQuantiles(span=0.8), on_skip=None, on_fail=None)
    assert len(results) > 40
    wrong = {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "skipped")}
    assert wrong == {}
