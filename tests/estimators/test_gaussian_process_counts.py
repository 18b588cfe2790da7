"""Log-probabilities of counts behind bounds, and predictive distributions that mix them."""

import numpy as np
import pytest
from scipy import stats

from unmet.estimators.gaussian_process._counts import log_between, log_mass
from unmet.estimators.gaussian_process._fit import double_precision
from unmet.estimators.gaussian_process._fitted import CountMixture, NormalMixture
from unmet.estimators.gaussian_process._likelihoods import nodes

MEANS = np.array([0.05, 0.7, 3.0, 12.0, 60.0, 400.0])
# (lower, upper): open above, open below, intervals
BOUNDS = [(1, np.inf), (4, np.inf), (30, np.inf), (0, 0.5), (0, 6), (2, 5), (10, 40)]


def law(mean, shape):
    return stats.poisson(mean) if shape is None else stats.nbinom(shape, shape / (shape + mean))


def log_probability(lower, upper, mean, shape):
    """By summing the smaller tail, with scipy."""
    one = law(mean, shape)
    if np.isinf(upper):
        return one.logsf(lower - 1)
    upper = np.floor(upper)
    return one.logcdf(upper) if lower <= 0 else np.log(one.pmf(np.arange(lower, upper + 1)).sum())


@pytest.mark.parametrize("shapes", [(None,), (0.8, 60.0)], ids=["poisson", "negative binomial"])
def test_log_probabilities_and_slopes_by_finite_differences(shapes):
    """Value against scipy; slopes against differences of scipy's values in log mean and log shape."""
    import jax
    import jax.numpy as jnp

    poisson = shapes == (None,)
    cases = [(low, np.floor(high), mean, shape) for low, high in BOUNDS for mean in MEANS for shape in shapes]
    lower, upper, mean, shape = (np.array(part, float) for part in zip(*cases))
    expected = np.array([log_probability(*case) for case in cases])
    with double_precision():
        low, high = jnp.asarray(lower), jnp.asarray(upper)

        def value(f, r, intervals=True):
            return log_between(low, high, f, None if poisson else r, intervals=intervals)

        f, r = jnp.log(jnp.asarray(mean)), jnp.zeros(len(cases)) if poisson else jnp.log(jnp.asarray(shape))
        found = np.asarray(value(f, r))
        one_sided = np.asarray(value(f, r, intervals=False))
        by_mean, by_shape = jax.jit(jax.grad(lambda f, r: value(f, r).sum(), argnums=(0, 1)))(f, r)
    half = np.isinf(upper) | (lower <= 0)
    assert one_sided[half] == pytest.approx(found[half], rel=1e-12)
    sure = np.isfinite(expected) & (expected > -600)
    assert sure.sum() > 25 * len(shapes)
    assert found[sure] == pytest.approx(expected[sure], rel=1e-6, abs=1e-9)
    assert np.isfinite(found).all()
    step = 1e-5
    for number in np.flatnonzero(sure & (expected > -200)):
        a, b, mu, size = cases[number]
        ends = [log_probability(a, b, mu * np.exp(s), size) for s in (step, -step)]
        assert by_mean[number] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-4, abs=1e-6)
        if size is not None:
            ends = [log_probability(a, b, mu, size * np.exp(s)) for s in (step, -step)]
            assert by_shape[number] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-4, abs=1e-5)


@pytest.mark.parametrize("shape", [None, 2.0])
def test_far_tails_have_finite_values_and_slopes(shape):
    import jax
    import jax.numpy as jnp

    lower, upper = jnp.array([500.0, 0.0, 40.0]), jnp.array([np.inf, 2.0, np.inf])
    f = np.array([-6.0, 8.0, -20.0])
    with double_precision():
        r = None if shape is None else jnp.full(3, np.log(shape))

        def total(at):
            return log_between(lower.astype(float), upper.astype(float), at, r).sum()

        value, slope = jax.value_and_grad(total)(jnp.asarray(f))
    assert np.isfinite(float(value))
    # far below, log P(Y ≥ c) is c f and a constant; far above, log P(Y ≤ 2) falls like −exp(f), or −shape f
    assert float(slope[0]) == pytest.approx(500, rel=2e-3)
    assert float(slope[2]) == pytest.approx(40, rel=1e-6)
    assert float(slope[1]) == pytest.approx(2 - np.exp(8.0) if shape is None else -shape, rel=2e-3)


@pytest.mark.parametrize("shape", [None, 3.0])
def test_log_mass_is_that_of_scipy(shape):
    counts = np.array([0.0, 1, 7, 40])
    with double_precision():
        found = log_mass(counts, np.log(6.0), None if shape is None else np.log(shape))
    assert np.asarray(found) == pytest.approx(law(6.0, shape).logpmf(counts), rel=1e-10)


@pytest.mark.parametrize("shapes", [None, np.array([[4.0]])])
def test_quantiles_of_mixed_counts_are_the_smallest_that_suffice(shapes):
    places, shares = nodes(32)
    mixture = CountMixture(np.exp(2 + 0.5 * places)[None, None], shapes, shares)
    levels = np.array([0.01, 0.3, 0.5, 0.95, 0.999])
    found = mixture.quantiles(levels)
    assert (mixture.at_most(found) >= levels).all()
    assert (mixture.at_most(found - 1) < levels).all()
    draws = mixture.draw(np.random.RandomState(0), 200_000)[0, 0]
    assert draws.mean() == pytest.approx(float(mixture.mean()[0, 0]), rel=0.01)
    assert mixture.mean()[0, 0] == pytest.approx(np.exp(2.125), rel=1e-9)
    before, upto = mixture.below(np.array([[7.0]]))
    assert (draws < 7).mean() == pytest.approx(float(before[0, 0]), abs=0.004)
    assert (draws <= 7).mean() == pytest.approx(float(upto[0, 0]), abs=0.004)


def test_quantiles_of_mixed_scales_invert_the_distribution_function():
    places, shares = nodes(32)
    mixture = NormalMixture(np.array([[1.5]]), np.exp(0.6 * places)[None, None], shares)
    levels = np.array([0.001, 0.2, 0.5, 0.9])
    found = mixture.quantiles(levels)[0, 0]
    assert [float(mixture.below(np.array([[q]]))[0][0, 0]) for q in found] == pytest.approx(levels, abs=1e-8)
