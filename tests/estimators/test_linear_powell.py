"""Powell's search: convex programmes lie above the objective, and it ends where no edge leads lower."""

import numpy as np
import pytest

from unmet import LinearCensoredQuantiles
from unmet.estimators.linear._paths import Problem
from unmet.estimators.linear._powell import _settle, _step, objective, powell
from unmet.estimators.linear._simplex import first_basis


@pytest.fixture
def problem():
    random = np.random.default_rng(0)
    X = np.column_stack([np.ones(200), random.normal(size=(200, 3))])
    latent = 0.5 + 0.1 * (X @ [0.0, 1.0, -1.0, 0.5] + random.normal(size=200))
    floor, cap = random.uniform(0.1, 0.4, 200), random.uniform(0.5, 0.9, 200)
    y = np.clip(latent, floor, cap) + 1e-9 * random.uniform(size=200)
    censored = (latent < floor) | (latent > cap)
    floor, cap = np.where(latent < floor, y, floor), np.where(latent > cap, y, cap)
    return Problem(X, y, floor, cap, censored, (0.2, 0.5, 0.9))


def heights(problem, level, bases):
    found = np.linalg.solve(problem.X[bases], problem.y[bases][..., None])[..., 0]
    return objective(problem, np.ones(200), level, found)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_convex_programmes_lead_down_and_stay(problem, level):
    random = np.random.default_rng(1)
    weight = np.ones(200)
    starts = np.array([first_basis(problem.X * random.exponential(size=(200, 1))) for _ in range(20)])
    settled = _settle(problem, weight, level, starts)
    assert (heights(problem, level, settled) <= heights(problem, level, starts) + 1e-9).all()
    assert heights(problem, level, settled).mean() < 0.9 * heights(problem, level, starts).mean()
    again = _settle(problem, weight, level, settled)
    assert np.allclose(heights(problem, level, again), heights(problem, level, settled))
    assert (
        heights(problem, level, _step(problem, weight, level, settled)) <= heights(problem, level, settled)
    ).all()


def test_the_search_ends_where_no_edge_leads_lower(problem):
    path = powell(problem, np.ones((1, 200)), first_basis(problem.X), n_restarts=2)
    for level, basis in zip(problem.levels, path.bases[0]):
        assert np.array_equal(_step(problem, np.ones(200), level, basis[None])[0], basis)
        lowest = heights(problem, level, basis[None])[0]
        # Exchange each of its rows for each other row.
        for place in range(4):
            others = np.tile(basis, (196, 1))
            others[:, place] = np.setdiff1d(np.arange(200), basis)
            assert heights(problem, level, others).min() > lowest - 1e-9


def test_a_level_beyond_nearly_all_thresholds_is_told():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    latent = X @ np.array([0.3, 0.2, 0.1]) + random.normal(size=400)
    y = np.maximum(latent, -0.5)  # a third of the rows: the 5% quantile lies below the limit in all of them
    model = LinearCensoredQuantiles(method="powell", side="left", quantiles=(0.05, 0.7), random_state=0)
    with pytest.warns(UserWarning, match=r"quantiles \[0.05\] are not identified, because they lie beyond"):
        model.fit(X, y, threshold=-0.5)
    model.set_params(quantiles=(0.6, 0.7)).fit(X, y, threshold=-0.5)
    model.set_params(side="right", quantiles=(0.05, 0.5, 0.95)).fit(X[:12], latent[:12], threshold=99.0)
