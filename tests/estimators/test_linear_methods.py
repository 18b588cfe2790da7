"""The exact linear methods: their linear programme, their formulas, and what they recover."""

import numpy as np
import pytest
from scipy.optimize import linprog

from unmet import LinearCensoredQuantiles
from unmet.censoring import kaplan_meier
from unmet.estimators.linear._simplex import first_basis, solve

METHODS = ("portnoy", "peng-huang", "powell", "wang-wang")


def draw(rows=400, columns=1, seed=0):
    """Linear latent values whose scale grows with the first column, behind independent thresholds."""
    random = np.random.default_rng(seed)
    X = random.uniform(0, 2, size=(rows, columns))
    latent = 1 + X @ np.linspace(2, 1, columns) + (0.5 + 0.5 * X[:, 0]) * random.normal(size=rows)
    threshold = 2.5 + X @ np.linspace(2, 1, columns) + 1.5 * random.normal(size=rows)
    return X, np.minimum(latent, threshold), threshold, latent > threshold, latent


@pytest.mark.parametrize("seed", range(4))
def test_the_linear_programme_ends_where_highs_does(seed):
    random = np.random.default_rng(seed)
    rows, columns = 60, 4
    X = np.column_stack([np.ones(rows), random.normal(size=(rows, columns - 1))])
    y = random.normal(size=rows)
    upper = random.exponential(size=(5, rows)) * (random.uniform(size=(5, rows)) > 0.2)
    level = random.uniform(0.05, 0.95, size=5)
    target = (1 - level)[:, None] * (upper @ X)
    found = solve(X, y, upper, target, np.tile(first_basis(X), (5, 1)))
    assert found.bounded.all()
    for u, t, b, basis, share in zip(upper, target, found.coefficients, found.basis, found.shares):
        ours = b @ t + u @ np.maximum(y - X @ b, 0)
        exact = linprog(-y, A_eq=X.T, b_eq=t, bounds=np.column_stack([np.zeros(rows), u]))
        assert ours == pytest.approx(-exact.fun, rel=1e-9)
        assert share == pytest.approx(exact.x[basis], abs=1e-7)


def test_a_programme_without_a_solution_says_so():
    X = np.column_stack([np.ones(5), np.arange(5.0)])
    y = np.array([0.0, 1.3, 0.2, 2.1, 0.4])
    found = solve(X, y, np.ones((1, 5)), 1.2 * X.sum(axis=0)[None], first_basis(X)[None])
    assert not found.bounded.any()


def test_without_columns_portnoy_is_kaplan_and_meiers_estimate():
    X, y, _, censored, _ = draw(200)
    truth = kaplan_meier(y, censored)
    levels = np.arange(5, 90) / 100 + 0.0003
    grid = np.arange(1, 2000) / 2000 + 1e-7  # fine enough to pass rows one by one
    model = LinearCensoredQuantiles(grid=grid, quantiles=levels)
    model.fit(np.zeros_like(X), y, censored=censored)
    assert [truth(value) for value in model.intercept_] == pytest.approx(levels, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_uncensored_rows_give_plain_quantile_regression(method):
    X, _, _, _, latent = draw(150, 2, seed=3)
    levels = (0.1, 0.5, 0.9)
    model = LinearCensoredQuantiles(method=method, quantiles=levels, random_state=0).fit(X, latent)
    table = np.column_stack([np.ones(150), X])
    for number, level in enumerate(levels):
        target = (1 - level) * table.sum(axis=0)
        bounds = np.column_stack([np.zeros(150), np.ones(150)])
        exact = linprog(-latent, A_eq=table.T, b_eq=target, bounds=bounds)
        b = np.append(model.intercept_[number], model.coef_[number])
        ours = b @ target + np.maximum(latent - table @ b, 0).sum()
        slack = 1.01 if method == "peng-huang" else 1 + 1e-9  # its hazards approximate an integral
        assert -exact.fun - 1e-9 <= ours <= -exact.fun * slack


@pytest.mark.parametrize("method", METHODS)
def test_the_truth_is_recovered(method):
    """Mean over draws: each coefficient within three standard errors and 0.05 of the truth."""
    levels, scores = (0.25, 0.5, 0.7), np.array([-0.6744897501960817, 0.0, 0.5244005127080407])
    found = []
    for seed in range(25):
        X, y, threshold, censored, _ = draw(400, seed=seed)
        how = {"threshold": threshold} if method == "powell" else {"censored": censored}
        model = LinearCensoredQuantiles(method=method, quantiles=levels, random_state=0, n_restarts=3)
        model.fit(X, y, **how)
        found.append(np.column_stack([model.intercept_, model.coef_]))
    truth = np.column_stack([1 + 0.5 * scores, 2 + 0.5 * scores])
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) < 3 * error + 0.03).all()
    if method == "portnoy":  # and a model that knows nothing of the flags is far off
        gaps = []
        for seed in range(12):
            X, y, *_ = draw(400, seed=seed)
            naive = LinearCensoredQuantiles(quantiles=(0.7,)).fit(X, y)
            gaps.append((naive.predict(X) - truth[2, 0] - X[:, 0] * truth[2, 1]).mean())
        assert np.mean(gaps) < -0.2


@pytest.mark.parametrize("method", METHODS)
def test_left_censoring_is_the_mirror_image(method):
    X, y, threshold, censored, _ = draw(120, 2, seed=1)
    right = LinearCensoredQuantiles(method=method, quantiles=(0.1, 0.5, 0.75), random_state=0, n_bootstrap=7)
    left = LinearCensoredQuantiles(
        method=method, side="left", quantiles=(0.25, 0.5, 0.9), random_state=0, n_bootstrap=7
    )
    right.fit(X, y, threshold=threshold, censored=censored)
    left.fit(X, -y, threshold=-threshold, censored=censored)
    assert np.allclose(left.coef_, -right.coef_[::-1], rtol=0, atol=1e-10)
    assert np.allclose(left.intercept_, -right.intercept_[::-1], rtol=0, atol=1e-10)
    assert np.allclose(left.bootstrap_, -right.bootstrap_[:, ::-1], rtol=0, atol=1e-10, equal_nan=True)
    assert np.allclose(left.predict_quantiles(X), -right.predict_quantiles(X)[:, ::-1])


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_units_do_not_matter(method, scale):
    X, y, threshold, _, _ = draw(120, 2, seed=2)
    plain = LinearCensoredQuantiles(method=method, quantiles=(0.25, 0.5), random_state=0)
    other = LinearCensoredQuantiles(method=method, quantiles=(0.25, 0.5), random_state=0)
    plain.fit(X, y, threshold=threshold)
    moved_X = X * [1e-6, 1e5] + [3.0, -2.0]
    other.fit(moved_X, scale * y + 7 * scale, threshold=scale * threshold + 7 * scale)
    expected = scale * plain.predict_quantiles(X) + 7 * scale
    assert np.allclose(other.predict_quantiles(moved_X), expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("method", ["portnoy", "peng-huang"])
def test_intervals_hold_what_they_promise(method):
    """80% intervals for the median's slope over 60 draws of 200 rows: between 68% and 92% hold it."""
    hits = 0
    for seed in range(60):
        X, y, _, censored, _ = draw(200, seed=100 + seed)
        model = LinearCensoredQuantiles(
            method=method,
            quantiles=(0.5,),
            grid=np.arange(1, 10) / 20,
            n_bootstrap=60,
            random_state=seed,
        )
        found = model.fit(X, y, censored=censored).summary(coverage=0.8)
        hits += found.lower[0, 1] <= 2 <= found.upper[0, 1]
    assert 41 <= hits <= 55


def test_peng_huang_ends_while_rows_are_left_above():
    """20 columns, 150 rows: fits at the last level stay near the data, which others leave by far."""
    X, y, _, censored, _ = draw(150, columns=20, seed=3)
    model = LinearCensoredQuantiles(method="peng-huang", quantiles=(0.25,)).fit(X, y, censored=censored)
    fitted = model.predict_quantiles(X, model.levels_[-1:])[:, 0]
    above = (y > fitted + 1e-9) & ~censored
    assert 0.25 < model.levels_[-1] < 0.95
    assert above.any()
    assert np.abs(fitted - y.mean()).max() < 1.5 * np.ptp(y)
