"""The filter of shocks: the plain negative binomial where nothing lasts, memory where it does."""

import numpy as np
import pytest
from forecasting_toys import make_toy
from scipy import special

from unmet.forecasting._counts import log_mass
from unmet.forecasting._shocks import Counts, Shocks, _peak, best_shocks, estimate_shocks, follow, smooth


def test_without_memory_it_is_the_negative_binomial() -> None:
    rng = np.random.default_rng(0)
    y, expected = rng.poisson(2.0, size=(3, 20)).astype(float), rng.uniform(0, 3, size=(3, 20))
    shocks = Shocks(0.25, 0.0)
    found = follow(shocks, y, expected)
    assert found.mean == pytest.approx(np.ones((3, 20)))
    assert found.variance == pytest.approx(np.full((3, 20), 0.25))
    shape, rate = smooth(shocks, y, expected)
    # rest ~ NB with mean λ(1−e)(r+y)/(r+λe) and shape r+y
    assert shape == pytest.approx(4 + y)
    assert rate == pytest.approx(4 + expected)


def test_one_step_by_hand() -> None:
    shocks = Shocks(0.5, 0.8)
    found = follow(shocks, np.array([[3.0, 0.0]]), np.array([[1.0, 1.0]]))
    after, spread = 5 / 3, 5 / 9  # gamma(2, 2) with 3 seen where 1 was expected
    assert found.mean_after[0, 0] == pytest.approx(after)
    assert found.variance_after[0, 0] == pytest.approx(spread)
    assert found.mean[0, 1] == pytest.approx(1 + 0.8 * (after - 1))
    assert found.variance[0, 1] == pytest.approx(0.64 * spread + 0.36 * 0.5)


def test_shocks_return_to_their_mean() -> None:
    mean, variance = Shocks(0.3, 0.9).ahead(np.array([2.0]), np.array([0.01]), 500)
    assert mean == pytest.approx([1.0])
    assert variance == pytest.approx([0.3])


def test_smoothing_looks_both_ways() -> None:
    y, expected = np.full((1, 9), 1.0), np.full((1, 9), 1.0)
    y[0, 5:] = 6.0
    expected[0, 4] = 0.0  # nothing was seen at 4
    y[0, 4] = 0.0
    shape, rate = smooth(Shocks(0.25, 0.8), y, expected)
    middle = (shape / rate)[0, 4]
    assert 1.0 < middle < 6.0
    assert middle > follow(Shocks(0.25, 0.8), y, expected).mean[0, 4]


@pytest.mark.parametrize("persistence", [0.0, 0.8])
def test_variance_and_persistence_are_found(persistence: float) -> None:
    toy = make_toy(places=40, days=40, persistence=persistence, short=0.0, seed=3)
    known = np.ones(toy.rate.shape, bool)
    found = estimate_shocks(toy.latent.astype(float), toy.rate, known, known)
    # Lasting shocks of the toy are log-normal, whose long tail a gamma distribution takes for less variance.
    assert found.variance == pytest.approx(0.25, rel=0.3 if persistence else 0.1)
    assert found.persistence == pytest.approx(persistence, abs=0.06)


def test_groups_are_found_and_people_who_come_alone_have_none() -> None:
    rng = np.random.default_rng(5)
    rate = rng.uniform(0.3, 6.0, (12, 800))
    parties = rng.poisson(rate * rng.gamma(10, 0.1, rate.shape) / 1.75)
    sizes = np.array([rng.multinomial(n, [0.5, 0.3, 0.15, 0.05]) for n in parties.reshape(-1)])
    people = (sizes @ [1, 2, 3, 4]).reshape(rate.shape).astype(float)
    known = np.ones(rate.shape, bool)
    found = estimate_shocks(people, rate, known, known)
    assert found.groups == pytest.approx(2.2, abs=0.3)  # E[S²] / E[S]
    assert found.variance == pytest.approx(0.1, abs=0.07)
    alone = rng.poisson(rate * rng.gamma(10, 0.1, rate.shape)).astype(float)
    assert estimate_shocks(alone, rate, known, known).groups == 1


def test_the_peak_of_a_parabola() -> None:
    x = np.array([-1.0, 0.0, 1.0])
    assert _peak(5 - 2 * (x - 0.3) ** 2) == pytest.approx(0.3)
    assert _peak(5 - 2 * (x - 3) ** 2) == 1.0
    assert _peak(x**2 + 0.1 * x) == 1.0


def test_the_likelihood_is_the_negative_binomial_for_small_large_and_broken_counts() -> None:
    rng = np.random.default_rng(5)
    expected = rng.gamma(1.0, 6.0, (3, 300))
    expected[0, :20] = 0.0  # nothing expected says nothing
    y = rng.poisson(expected).astype(np.float64)
    y[1, ::7] += 40.0
    y[2, ::5] += 0.3
    known = rng.random(y.shape) > 0.2
    for groups in (1.0, 1.5):
        shape = 1 / ((groups - 1) / np.maximum(expected, 1e-9) + 0.3)
        value = log_mass(y, expected, shape) + special.gammaln(y + 1) - special.xlogy(y, expected)
        wanted = value[known & (expected > 0)].sum()
        found = best_shocks(Counts.of(y, expected, known), np.array([0.3]), np.array([0.0]), groups)[1]
        assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("mean", [1e-22, 1e22])
def test_the_likelihood_stays_finite_for_any_mean(mean: float) -> None:
    y, expected = np.full((1, 8), 3.0), np.full((1, 8), 3.0)
    y[0, 7], expected[0, 7] = 16.0, mean
    known = np.ones(y.shape, bool)
    for groups in (1.0, 1.1, 4.0):
        _, found = best_shocks(
            Counts.of(y, expected, known), np.array([0.2, 0.5]), np.array([0.0, 0.7]), groups
        )
        assert np.isfinite(found)
