"""Bayesian censored quantiles: the samplers draw what they should, the correction is the published one."""

import builtins
import warnings

import numpy as np
import pytest
from scipy.special import digamma, polygamma
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from unmet import BayesianCensoredQuantiles, LinearCensoredQuantiles, load
from unmet.censoring import observe
from unmet.estimators.bayes import _powell
from unmet.estimators.bayes._augmented import Posterior
from unmet.estimators.bayes._correction import (
    augmented_information,
    corrected_covariance,
    powell_information,
)
from unmet.estimators.bayes._diagnostics import effective_draws, split_rhat
from unmet.estimators.bayes._hamiltonian import sample
from unmet.estimators.bayes._powell import powell_scales
from unmet.estimators.bayes._rows import working_rows
from unmet.losses import asymmetric_laplace_log_likelihood
from unmet.runs import MissingExtraError

# One shape for all tests of Powell's sampler, so that one program is compiled.
SMALL = {"quantiles": (0.3, 0.6), "n_chains": 2, "n_draws": 500, "random_state": 0}


def rows_of(capped):
    return working_rows(capped.X, observe(capped.y, threshold=capped.threshold), None, True)[0]


@pytest.fixture(scope="module")
def fitted(capped):
    return BayesianCensoredQuantiles(**SMALL).fit(capped.X, capped.y, threshold=capped.threshold)


def test_working_coefficients_lead_back_to_the_users():
    random = np.random.default_rng(0)
    X = random.normal(3, 5, (40, 2))
    y = 100 + X @ [2.0, -3.0]
    rows, index = working_rows(X, observe(y), None, True)
    found = rows.columns.T @ rows.y / len(rows.y)
    np.testing.assert_allclose(rows.restore(found[None])[0], [100, 2, -3], rtol=1e-9)
    np.testing.assert_allclose(rows.working(np.array([[100.0, 2, -3]]), X[index])[0], found, rtol=1e-9)


def test_powells_posterior_has_the_moments_of_its_density(capped, fitted):
    """Mean and deviations of the density by importance sampling, which shares no code with the sampler."""
    rows = rows_of(capped)
    levels = np.array(SMALL["quantiles"])
    exact = LinearCensoredQuantiles(method="powell", quantiles=SMALL["quantiles"], random_state=0)
    exact.fit(capped.X, capped.y, threshold=capped.threshold)
    users = np.column_stack([exact.intercept_, exact.coef_])
    index = working_rows(capped.X, observe(capped.y, threshold=capped.threshold), None, True)[1]
    scales = powell_scales(rows, levels, rows.working(users, capped.X[index]))
    random = np.random.default_rng(1)
    for number, level in enumerate(levels):
        draws = fitted.samples_[:, :, number].reshape(-1, 3)
        middle, spread = draws.mean(axis=0), np.cov(draws.T) * 2.5
        points = random.multivariate_normal(middle, spread, 20_000)
        away = points - middle
        proposal = -0.5 * np.einsum("ni,ij,nj->n", away, np.linalg.inv(spread), away)
        quantile = points @ np.column_stack([np.ones(60), capped.X]).T
        cap = np.where(capped.censored, capped.y, capped.threshold)
        residual = capped.y - np.minimum(quantile, cap)
        loss = np.maximum(level * residual, (level - 1) * residual).sum(axis=1)
        inside = (points - np.array([rows.center, 0, 0])) @ np.linalg.pinv(rows.spread * rows.back).T
        log = -loss / (scales[number] * rows.spread) - 0.5 * np.square(inside / 2.5).sum(axis=1) - proposal
        weight = np.exp(log - log.max())
        weight /= weight.sum()
        mean = weight @ points
        deviation = np.sqrt(weight @ np.square(points - mean))
        np.testing.assert_allclose(middle, mean, atol=0.15 * deviation.max())
        np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.15)


def test_both_samplers_agree_where_nothing_is_censored():
    """Then both likelihoods are the same, but for the scale, which one of them draws."""
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 2))
    y = 1 + X @ [1.0, -0.5] + random.normal(size=60)
    powell = BayesianCensoredQuantiles(**SMALL).fit(X, y)
    other = BayesianCensoredQuantiles(**{**SMALL, "n_draws": 2_000}, method="augmented").fit(X, y)
    np.testing.assert_allclose(powell.coef_, other.coef_, atol=0.05)
    np.testing.assert_allclose(powell.intercept_, other.intercept_, atol=0.05)
    spread = powell.samples_.std(axis=(0, 1)) / other.samples_.std(axis=(0, 1))
    np.testing.assert_allclose(spread, 1.0, atol=0.2)


def test_the_corrected_covariance_is_yang_wang_and_hes(fitted, capped):
    """Σ_adj = n θ(1 − θ)/σ² Σ_post D̂₀ Σ_post, written out in the user's units."""
    rows = rows_of(capped)
    table = np.column_stack([np.ones(60), capped.X])
    cap = np.where(capped.censored, capped.y, capped.threshold)
    scales = []
    for number, level in enumerate(SMALL["quantiles"]):
        draws = fitted.samples_[:, :, number].reshape(-1, 3)
        posterior = np.cov(draws.T)
        below = table @ np.median(draws, axis=0) < cap
        mean_square = (table * below[:, None]).T @ table / 60
        raw = 60 * level * (1 - level) * posterior @ mean_square @ posterior
        ratio = raw / fitted.covariance_[number]  # σ², the same for every entry
        np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-6)
        scales.append(np.sqrt(ratio[0, 0]))
    assert all(0.1 * rows.spread < scale < rows.spread for scale in scales)
    ends = fitted.intervals(0.9)
    reach = 1.6448536 * np.sqrt(np.diagonal(fitted.covariance_, axis1=1, axis2=2))
    np.testing.assert_allclose(ends[..., 1] - ends[..., 0], 2 * reach, rtol=1e-6)
    np.testing.assert_allclose(ends.mean(axis=-1)[:, 1:], fitted.coef_)
    own = fitted.intervals(0.9, corrected=False)
    share = ((fitted.samples_ > own[..., 0]) & (fitted.samples_ < own[..., 1])).mean(axis=(0, 1))
    np.testing.assert_allclose(share, 0.9, atol=0.01)


def test_scores_of_bounded_rows_are_derivatives(capped):
    """Finite differences of the log of F(upper) − F(lower), and of the log-density of exact rows."""
    seen = observe(lower=[0.0, 1.0, -np.inf, 0.5], upper=[np.inf, 1.0, 0.2, 0.9])
    X = np.ones((4, 1))
    rows, _ = working_rows(X, seen, None, True)
    theta, scale = np.array([0.3]), np.array([0.7])
    at = np.array([[0.1]])

    def value(location):
        def reached(z):
            return np.where(z <= 0, 0.3 * np.exp(0.7 * z), 1 - 0.7 * np.exp(-0.3 * np.maximum(z, 0)))

        z = [(bound - location) / 0.7 for bound in (rows.lower, rows.upper)]
        with np.errstate(divide="ignore", invalid="ignore"):
            between = np.log(reached(z[1]) - reached(z[0]))
        exact = asymmetric_laplace_log_likelihood(rows.y / 0.7, np.full(4, location / 0.7), 0.3)
        return np.where(rows.lower == rows.upper, exact, between)

    slope = (value(0.1 * rows.columns[0, 0] + 1e-6) - value(0.1 * rows.columns[0, 0] - 1e-6)) / 2e-6
    expected = np.sum(np.square(slope))
    assert augmented_information(rows, theta, scale, at)[0, 0, 0] == pytest.approx(expected, rel=1e-4)


def test_information_counts_rows_inside_their_limits_only(capped):
    rows = rows_of(capped)
    high = np.zeros((1, 3))
    high[0, 0] = 1e6 * np.sign(rows.columns[0, 0])
    assert (powell_information(rows, np.array([0.5]), np.ones(1), high) == 0).all()
    two = corrected_covariance(np.diag([2.0, 3.0])[None], np.diag([5.0, 7.0])[None])
    np.testing.assert_allclose(two[0], np.diag([20.0, 63.0]))


def reached(z, theta):
    return np.where(
        z <= 0, theta * np.exp((1 - theta) * np.minimum(z, 0)), 1 - (1 - theta) * np.exp(-theta * z)
    )


def test_the_posterior_of_bounded_rows_is_that_of_the_law():
    """Rows that are seen, open above, open below and between bounds, on both sides of the quantile."""
    seen = observe(
        lower=[0.0, 1.0, -np.inf, 0.5, -2.0, -1.0, -np.inf, -0.4],
        upper=[np.inf, 1.0, 0.2, 0.9, -1.5, 1.0, -3, -0.4],
    )
    rows, _ = working_rows(np.ones((8, 1)), seen, None, True)
    posterior = Posterior.of(rows, np.array([0.3]), 2.5)

    def value(beta, log_scale):
        fitted, scale = rows.columns[:, 0] * beta, np.exp(log_scale)
        low, high = (rows.lower - fitted) / scale, (rows.upper - fitted) / scale
        exact = asymmetric_laplace_log_likelihood(rows.y / scale, fitted / scale, 0.3) - log_scale
        with np.errstate(divide="ignore", over="ignore"):
            between = np.log(reached(high, 0.3) - reached(low, 0.3))
        own = np.where(rows.lower == rows.upper, exact, between).sum()
        return own - 0.5 * (beta / 2.5) ** 2 - 0.01 * log_scale - 0.01 / scale

    points = np.array([[0.1, -0.3], [-0.8, 0.4], [1.2, -1.0]])
    found = posterior.density(points[None])[0]
    expected = np.array([value(*point) for point in points])
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)
    slopes = posterior.gradient(points[None])[0]
    for axis, step in enumerate(np.eye(2) * 1e-6):
        ends = [posterior.density((points + sign * step)[None])[0] for sign in (1, -1)]
        np.testing.assert_allclose(slopes[:, axis], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-5)


def test_the_tail_of_a_hidden_row_keeps_its_digits():
    far = observe(lower=[900.0, 900.0, 0.0], upper=[np.inf, 901.0, 0.0])
    rows, _ = working_rows(np.ones((3, 1)), far, None, False)
    posterior = Posterior.of(rows, np.array([0.5]), 2.5)
    at = np.array([[[0.0, np.log(1e-4)]]])
    assert np.isfinite(posterior.density(at)).all()
    assert np.isfinite(posterior.gradient(at)).all()


def test_scores_stay_finite_in_the_tails():
    """Far beyond the law's mass, log(1 − F) is a line: the score of x'β is the level over the scale."""
    y = np.array([0.0, 1.0, 2.0, 500.0])
    rows, _ = working_rows(np.ones((4, 1)), observe(y, censored=[0, 0, 0, 1]), None, False)
    seen = rows.lower == rows.upper
    level, scale, at = np.array([0.95]), np.array([1e-3]), np.zeros((1, rows.columns.shape[1]))
    found = augmented_information(rows, level, scale, at)
    own = rows.columns[~seen].T @ rows.columns[~seen]
    rest = (0.95 - (rows.y[seen] < 0)) / 1e-3
    others = (rows.columns[seen] * rest[:, None] ** 2).T @ rows.columns[seen]
    np.testing.assert_allclose(found[0], (0.95 / 1e-3) ** 2 * own + others, rtol=1e-9)


def test_hamiltonian_draws_have_the_moments_of_their_density():
    """A normal law and a skewed one, log-gamma, whose moments are known."""
    normal = np.array([[2.0, 0.9], [0.9, 1.0]])
    inverse = np.linalg.inv(normal)

    def density(at):
        first = -0.5 * np.einsum("ci,ij,cj->c", at[0], inverse, at[0])
        return np.stack([first, (3 * at[1] - np.exp(at[1])).sum(axis=-1)])

    def gradient(at):
        return np.stack([-at[0] @ inverse, 3 - np.exp(at[1])])

    start, guess = np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1))
    draws = sample(density, gradient, start, guess, chains=4, draws=4_000, seed=0)
    assert draws.shape == (4, 4_000, 2, 2)
    pooled = draws.reshape(-1, 2, 2)
    np.testing.assert_allclose(np.cov(pooled[:, 0].T), normal, atol=0.1)
    np.testing.assert_allclose(pooled[:, 0].mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(pooled[:, 1].mean(axis=0), digamma(3), atol=0.03)
    np.testing.assert_allclose(pooled[:, 1].var(axis=0), polygamma(1, 3), atol=0.03)
    assert split_rhat(draws).max() < 1.01
    assert effective_draws(draws).min() > 4_000


def test_rhat_and_effective_draws_of_known_chains():
    random = np.random.default_rng(0)
    free = random.normal(size=(4, 1000, 2))
    assert split_rhat(free) == pytest.approx(1, abs=0.01)
    assert effective_draws(free) == pytest.approx(4000, rel=0.3)
    apart = free + np.array([0, 0, 0, 3.0])[:, None, None]
    assert (split_rhat(apart) > 1.4).all()
    assert (effective_draws(apart) < 50).all()
    # AR(1) with coefficient ρ is worth (1 − ρ)/(1 + ρ) of its draws.
    chain = np.zeros((4, 5000))
    noise = random.normal(size=chain.shape)
    for step in range(1, 5000):
        chain[:, step] = 0.8 * chain[:, step - 1] + noise[:, step]
    assert float(effective_draws(chain)) == pytest.approx(20_000 / 9, rel=0.2)
    still = np.ones((2, 10, 1))
    assert split_rhat(still) == 1
    assert effective_draws(still) == 20


def test_left_censoring_is_the_mirror_image(fitted, capped):
    left = BayesianCensoredQuantiles(**{**SMALL, "quantiles": (0.4, 0.7)}, side="left")
    left.fit(capped.X, -capped.y, threshold=-capped.threshold)
    np.testing.assert_array_equal(left.coef_, -fitted.coef_[::-1])
    np.testing.assert_array_equal(left.intervals()[..., 0], -fitted.intervals()[::-1, :, 1])


@pytest.mark.parametrize("method", ["powell", "augmented"])
def test_saved_models_answer_as_before(method, capped, tmp_path):
    model = BayesianCensoredQuantiles(**SMALL, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(capped.X, capped.y, threshold=capped.threshold)
        again = clone(model).fit(capped.X[::-1], capped.y[::-1], threshold=capped.threshold[::-1])
    np.testing.assert_array_equal(model.samples_, again.samples_)
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_quantiles(capped.X), model.predict_quantiles(capped.X))
    np.testing.assert_array_equal(back.intervals(0.8), model.intervals(0.8))
    assert back.summary().text == model.summary().text


def test_a_row_of_weight_two_is_two_rows(capped):
    told = {"threshold": capped.threshold[:40]}
    X, y = capped.X[:40], capped.y[:40]
    weighted = BayesianCensoredQuantiles(**SMALL).fit(X, y, sample_weight=np.full(40, 2.0), **told)
    twice = BayesianCensoredQuantiles(**SMALL).fit(
        np.tile(X, (2, 1)), np.tile(y, 2), threshold=np.tile(told["threshold"], 2)
    )
    np.testing.assert_array_equal(weighted.samples_, twice.samples_)


def test_the_summary_shows_both_errors(fitted):
    found = fitted.summary(0.9)
    np.testing.assert_array_equal(found.lower, fitted.intervals(0.9)[..., 0])
    assert found.columns == ("intercept", "x0", "x1")
    assert "uncorrected" in found.text
    assert "quantile 0.6" in repr(found)


def test_poor_chains_are_reported(capped):
    few = BayesianCensoredQuantiles(**{**SMALL, "n_draws": 40}, method="augmented")
    with pytest.warns(UserWarning, match="chains have not settled.*set n_draws higher"):
        few.fit(capped.X, capped.y, threshold=capped.threshold)


def test_flags_need_the_augmented_method(capped):
    with pytest.raises(ValueError, match=r"needs the threshold of every row.*method='augmented'"):
        BayesianCensoredQuantiles(**SMALL).fit(capped.X, capped.y, censored=capped.censored)
    with pytest.raises(ValueError, match="method must be one of 'powell', 'augmented'"):
        BayesianCensoredQuantiles(method="gibbs").fit(capped.X, capped.y)
    with pytest.raises(ValueError, match="every row is censored"):
        BayesianCensoredQuantiles().fit(capped.X, capped.y, censored=np.ones(60, bool))
    with pytest.raises(ValueError, match=r"no row is exact.*TobitRegressor"):
        BayesianCensoredQuantiles(method="augmented").fit(capped.X, lower=capped.y - 1, upper=capped.y + 1)


def test_a_missing_sampler_names_its_extra(capped, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "blackjax":
            raise ModuleNotFoundError("No module named 'blackjax'", name="blackjax")
        return real(name, *rest)

    _powell._program.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'unmet\[bayes\]'"):
        BayesianCensoredQuantiles(**SMALL).fit(capped.X, capped.y, threshold=capped.threshold)
    monkeypatch.undo()
    _powell._program.cache_clear()


@pytest.mark.slow
def test_effective_draws_are_those_of_blackjax():
    from blackjax.diagnostics import effective_sample_size, potential_scale_reduction

    chain = np.cumsum(np.random.default_rng(2).normal(size=(4, 2000, 1)), axis=1) * 0.01
    chain += np.random.default_rng(3).normal(size=chain.shape)
    assert effective_draws(chain) == pytest.approx(np.atleast_1d(effective_sample_size(chain)), rel=0.05)
    halves = np.concatenate([chain[:, :1000], chain[:, 1000:]])
    assert split_rhat(chain) == pytest.approx(np.atleast_1d(potential_scale_reduction(halves)), rel=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", ["powell", "augmented"])
def test_check_estimator(method):
    with np.errstate(all="ignore"):
        results = check_estimator(
            BayesianCensoredQuantiles(method=method, n_draws=250, n_chains=2), on_skip=None, on_fail=None
        )
    wrong = {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "skipped")}
    assert wrong == {}


@pytest.mark.slow
def test_corrected_intervals_cover_and_the_posteriors_own_do_not():
    """Noise whose spread grows with x. Of 100 draws, 90% is 84 to 96; the own ones are 10 points short."""
    held = []
    for seed in range(100):
        random = np.random.default_rng([seed, 5])
        x = random.uniform(0, 2, (250, 1))
        latent = 1 + 2 * x[:, 0] + (0.2 + x[:, 0]) * random.normal(size=250)
        cap = 4 + random.normal(size=250)
        model = BayesianCensoredQuantiles(quantiles=(0.5,), n_chains=2, random_state=seed)
        model.fit(x, np.minimum(latent, cap), threshold=cap)
        both = [model.intervals(0.9, corrected=corrected)[0] for corrected in (True, False)]
        held.append([(ends[:, 0] < [1, 2]) & (ends[:, 1] > [1, 2]) for ends in both])
    corrected, own = np.mean(held, axis=0)
    assert (corrected > 0.83).all()
    assert (corrected < 0.97).all()
    assert own[1] < corrected[1] - 0.05
