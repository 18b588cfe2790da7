"""Exact maximum likelihood, the yardstick of what censoring must cost."""

import numpy as np
import pytest

from unmet.papers._exact import cost_of_censoring, fit_normal


@pytest.mark.parametrize("varying", [False, True])
def test_the_truth_is_found_from_censored_rows(varying: bool) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(4_000, 3))
    scale = np.abs(1 + X[:, 2]) if varying else np.full(len(X), 1.5)
    latent = 1 + X @ [1.0, -0.5, 0.25] + scale * random.normal(size=len(X))
    y = np.maximum(latent, 0)
    found = fit_normal(X, y, y <= 0, varying)
    truth = [1, 1, -0.5, 0.25, *([1, 1] if varying else [1.5])]
    np.testing.assert_allclose(np.abs(found.parameters), np.abs(truth), atol=0.05)
    assert np.sign(found.parameters[:4]).tolist() == [1, 1, -1, 1]


def test_a_row_of_data_has_a_ratio_for_every_noise() -> None:
    cost = cost_of_censoring(range(100, 102))
    assert set(cost) == {"gaussian", "heteroskedastic", "mixture"}
    assert all(0.3 < ratio < 4 for ratio in cost.values())


@pytest.mark.slow
def test_censoring_costs_most_where_the_noise_varies() -> None:
    cost = cost_of_censoring(range(100, 120))
    assert cost["heteroskedastic"] > 1.2 > cost["gaussian"] > 0.9
