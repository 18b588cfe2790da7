"""CensoredGaussianProcess: contract, files, errors, several outputs, closed forms, recovery behind caps."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from unmet import CensoredGaussianProcess, load
from unmet.runs import ModelFileError, load_model, save_model

LEVELS = (0.1, 0.5, 0.9)
LIKELIHOODS = ("gaussian", "poisson", "negative-binomial")
# Few shapes and few points, so that few programs are compiled.
SMALL = {"quantiles": LEVELS, "inducing": 60, "kernel": "rbf"}
UNTRAINED_CHECKS = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
]


def counts_of(values):
    return np.maximum(np.round(4 + 2 * values), 0.0)


@pytest.mark.parametrize("check", UNTRAINED_CHECKS, ids=lambda check: check.__name__)
def test_checks_without_training(check):
    check("CensoredGaussianProcess", CensoredGaussianProcess())


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_check_estimator():
    results = check_estimator(CensoredGaussianProcess(inducing=16), on_skip=None, on_fail=None)
    assert len(results) > 40
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "skipped")}
    assert failed == {}


@pytest.mark.parametrize(
    ("settings", "side", "known"),
    [
        ({}, "right", "threshold"),
        ({}, "left", "censored"),
        pytest.param({"heteroskedastic": True}, "right", "censored", marks=pytest.mark.slow),
        pytest.param({"likelihood": "poisson"}, "right", "censored", marks=pytest.mark.slow),
        pytest.param({"likelihood": "negative-binomial"}, "right", "censored", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_contract(settings, side, known, capped, tmp_path):
    sign = 1 if side == "right" else -1
    X, y, cap = capped.X, sign * capped.y, sign * capped.threshold
    if "likelihood" in settings:
        y, cap = counts_of(y), counts_of(cap)
    how = {"threshold": cap} if known == "threshold" else {"censored": capped.censored}
    model = CensoredGaussianProcess(side=side, random_state=0, **{**SMALL, **settings})
    before = model.get_params()
    assert model.fit(X, y, **how) is model
    assert model.get_params() == before
    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (60, 3)
    assert np.isfinite(quantiles).all()
    assert np.ptp(quantiles[:, 1]) > 0
    assert np.array_equal(model.predict(X), quantiles[:, 1])
    assert np.array_equal(model.predict_interval(X, coverage=0.8), quantiles[:, [0, 2]])
    assert (np.diff(quantiles, axis=1) >= 0).all()
    # a row's prediction does not depend on its neighbours
    np.testing.assert_allclose(model.predict_quantiles(X[7:8])[0], quantiles[7], rtol=1e-9, atol=1e-9)
    assert np.isfinite(model.score(X, y, **how))
    filled = model.complete(X, y, **how)
    assert np.array_equal(filled[~capped.censored], y[~capped.censored])
    assert (sign * (filled - y)[capped.censored] >= 0).all()
    draws = model.sample(X, n_draws=4000, random_state=1)
    below = (draws <= quantiles[:, 1:2]).mean()
    assert below == pytest.approx(0.5, abs=0.01) if "likelihood" not in settings else below >= 0.5
    assert draws.mean(axis=1) == pytest.approx(model.predict_mean(X), abs=0.2)

    order = np.random.default_rng(1).permutation(60)
    shuffled = {name: values[order] for name, values in how.items()}
    again = clone(model).fit(X[order], y[order], **shuffled)
    assert again.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_quantiles(X).tobytes() == quantiles.tobytes()
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, CensoredGaussianProcess)
    assert loaded.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert repr(loaded) == repr(model)
    assert loaded.bound_ == model.bound_


def test_edited_files_are_refused(capped, tmp_path):
    CensoredGaussianProcess(**SMALL).fit(capped.X, capped.y, threshold=capped.threshold).save(tmp_path / "m")
    config, arrays = load_model(tmp_path / "m")
    wrong = [("processes.0.mean", arrays["processes.0.mean"][:, 1:])]
    wrong += [("level", np.zeros(3)), ("x", np.zeros(2))]
    wrong.append(("processes.0.factor", -arrays["processes.0.factor"]))
    wrong.append(("scale", 0 * arrays["scale"]))
    for name, values in wrong:
        save_model(tmp_path / "edited", config, {**arrays, name: values})
        with pytest.raises(ModelFileError, match="do not describe"):
            load(tmp_path / "edited").predict(capped.X)


def exact_posterior(X, y, new, lengths, variance, offset, noise):
    """Regression with a squared-exponential kernel, as every textbook has it."""

    def kernel(a, b):
        return variance * np.exp(-0.5 * (((a[:, None] - b) / lengths) ** 2).sum(axis=2))

    inner = np.linalg.inv(kernel(X, X) + noise**2 * np.eye(len(X)))
    across = kernel(new, X)
    mean = offset + across @ inner @ (y - offset)
    return mean, variance - np.einsum("ij,jk,ik->i", across, inner, across)


def test_without_censoring_it_is_exact_regression(capped):
    """Each row an inducing point: posterior and predictive distribution have closed forms."""
    model = CensoredGaussianProcess(**SMALL).fit(capped.X, capped.latent)
    fitted, new = model.fitted_, capped.X[:5] + 0.3
    state = fitted.processes[0]
    mean, variance = exact_posterior(
        (capped.X - fitted.center) / fitted.scale,
        (capped.latent - fitted.y_center) / fitted.y_scale,
        (new - fitted.center) / fitted.scale,
        np.exp(state.lengthscales[0]),
        float(np.exp(state.variances[0])),
        float(state.offset[0]),
        float(np.exp(fitted.level[0])),
    )
    spread = np.sqrt(variance + np.exp(2 * fitted.level))
    expected = (mean + spread * stats.norm.ppf(0.9)) * fitted.y_scale + fitted.y_center
    assert model.predict_quantiles(new)[:, 2] == pytest.approx(expected, abs=1e-3)


def test_the_slope_of_the_bound_by_finite_differences(capped):
    """Through the best posterior at each place: what L-BFGS is told about every parameter."""
    import jax

    from unmet.estimators.gaussian_process import _fit
    from unmet.estimators.gaussian_process._kernels import parse_kernel
    from unmet.estimators.gaussian_process._posterior import Model, profile

    kernel = parse_kernel("rbf", 2, None)
    lower = capped.y[:, None]
    table = _fit.Table(capped.X, lower, np.where(capped.censored[:, None], np.inf, lower), np.ones(60))
    model = Model((kernel,), "gaussian", 1, False)
    with _fit.double_precision():
        start = _fit._start(model, table)
        problem = _fit.Problem(model, table, capped.X, start, 60)
        flat, rebuild = jax.flatten_util.ravel_pytree(start)
        flat = np.asarray(flat) + 0.1

        def value(at):
            return profile(model, rebuild(at), problem.places, problem.seen, problem.sites, 1e-10)

        found = np.asarray(jax.flatten_util.ravel_pytree(value(flat)[1])[0])
        for number in range(len(flat)):
            step = 1e-4 * np.eye(len(flat))[number]
            slope = (float(value(flat + step)[0]) - float(value(flat - step)[0])) / 2e-4
            assert found[number] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_a_row_of_weight_two_counts_twice_and_one_of_weight_zero_not_at_all(capped):
    weight = np.ones(60)
    weight[:10], weight[10:20] = 2, 0
    model = CensoredGaussianProcess(**SMALL)
    told = {"censored": capped.censored}
    weighted = clone(model).fit(capped.X, capped.y, sample_weight=weight, **told).predict_quantiles(capped.X)
    rows = np.repeat(np.arange(60), weight.astype(int))
    repeated = clone(model).fit(capped.X[rows], capped.y[rows], censored=capped.censored[rows])
    assert np.array_equal(weighted, repeated.predict_quantiles(capped.X))
    assert not np.allclose(weighted, clone(model).fit(capped.X, capped.y, **told).predict_quantiles(capped.X))


def curve(rows, seed):
    """A curve in the first of two columns, behind caps on both sides of its middle."""
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, size=(rows, 2))
    truth = 2 * np.sin(1.5 * X[:, 0])
    return X, truth, truth + 0.3 * random.normal(size=rows), truth.mean() + random.normal(size=rows)


def test_it_comes_closer_to_the_truth_than_one_that_ignores_the_cap():
    X, truth, latent, cap = curve(60, 3)
    y = np.minimum(latent, cap)
    model = CensoredGaussianProcess(**SMALL)
    naive = np.abs(clone(model).fit(X, y).predict(X) - truth).mean()
    by_cap = np.abs(clone(model).fit(X, y, threshold=cap).predict(X) - truth).mean()
    assert by_cap < 0.6 * naive


@pytest.mark.slow
def test_intervals_say_nearly_as_much_as_values():
    X, truth, latent, cap = curve(250, 3)
    y = np.minimum(latent, cap)
    bounds = {"lower": y, "upper": np.where(latent > cap, latent + 1, y)}
    found = CensoredGaussianProcess(**SMALL).fit(X, **bounds).predict(X)
    assert np.abs(found - truth).mean() < 0.3 * np.abs(y - truth).mean()


def test_left_is_the_mirror_image_of_right():
    X, _, latent, cap = curve(60, 4)
    y = np.minimum(latent, cap)
    right = CensoredGaussianProcess(**SMALL).fit(X, y, threshold=cap).predict_quantiles(X)
    left = CensoredGaussianProcess(side="left", **SMALL).fit(X, -y, threshold=-cap).predict_quantiles(X)
    assert left == pytest.approx(-right[:, ::-1], abs=1e-2)


@pytest.mark.slow
def test_the_scale_of_a_heteroskedastic_process_follows_the_noise():
    random = np.random.default_rng(5)
    X = random.uniform(-2, 2, size=(800, 1))
    scale = np.exp(0.8 * X[:, 0])
    latent, cap = X[:, 0] + scale * random.normal(size=800), 1 + 2 * random.normal(size=800)
    model = CensoredGaussianProcess(heteroskedastic=True, **SMALL)
    model.fit(X, np.minimum(latent, cap), censored=latent > cap)
    width = np.ptp(model.predict_quantiles(X)[:, [0, 2]], axis=1) / (2 * stats.norm.ppf(0.9))
    assert np.abs(np.log(width / scale)).mean() < 0.15


@pytest.mark.slow
def test_a_periodic_term_carries_a_pattern_into_the_future():
    random = np.random.default_rng(6)
    hour = np.arange(480.0)
    truth = 3 * np.sin(2 * np.pi * hour / 24)
    y = truth + 0.3 * random.normal(size=480)
    model = CensoredGaussianProcess(kernel="rbf+periodic", periods=((0, 24.0),))
    model.fit(hour[:240, None], y[:240])
    # The level returns to that of the prior where no row is near; the pattern around it stays.
    found = model.predict(hour[240:, None])
    assert np.corrcoef(found, truth[240:])[0, 1] > 0.98
    assert np.abs(found - truth[240:]).max() < 1.5


def outputs(rows=60, seed=7):
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, size=(rows, 2))
    truth = 2 * np.sin(1.5 * X[:, :1]) * np.array([1.0, 0.8])
    latent = truth + 0.3 * random.normal(size=(rows, 2))
    censored = random.uniform(size=(rows, 2)) < 0.3
    y = np.where(censored, latent - random.exponential(size=(rows, 2)), latent)
    return X, truth, y, censored


def test_several_outputs(tmp_path):
    X, truth, y, censored = outputs()
    y[:25, 1] = np.nan  # the second output has fewer rows, and learns from the first
    model = CensoredGaussianProcess(**SMALL).fit(X, y, censored=censored)
    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (60, 2, 3)
    assert np.array_equal(model.predict(X), quantiles[..., 1])
    assert model.predict_interval(X).shape == (60, 2, 2)
    assert model.sample(X, 5, random_state=0).shape == (60, 2, 5)
    assert np.abs(model.predict_mean(X) - truth).mean() < 0.35
    filled = model.complete(X, y, censored=censored)
    assert np.isfinite(filled).all()
    known = ~censored & np.isfinite(y)
    assert np.array_equal(filled[known], y[known])
    assert np.isfinite(model.score(X, y, censored=censored))
    state = model.fitted_.processes[0]
    shared = state.mixing @ state.mixing.T
    assert shared[0, 1] / np.sqrt(shared[0, 0] * shared[1, 1]) > 0.8
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict_quantiles(X).tobytes() == quantiles.tobytes()
    with pytest.raises(ValueError, match="2 outputs"):
        model.complete(X, y[:, 0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"likelihood": "binomial"}, "likelihood"),
        ({"likelihood": "poisson", "heteroskedastic": True}, "heteroskedastic"),
        ({"kernel": "rbf+cosine"}, "kernel"),
        ({"kernel": "rbf+rbf"}, "once"),
        ({"kernel": 3}, "kernel"),
        ({"kernel": "periodic"}, "periods"),
        ({"periods": ((0, 24.0),)}, "periodic"),
        ({"kernel": "periodic", "periods": ((5, 24.0),)}, "column"),
        ({"kernel": "periodic", "periods": 24}, "pairs"),
        ({"inducing": 0}, "inducing"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"side": "above"}, "side"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(settings, words, capped):
    with pytest.raises(ValueError, match=words):
        CensoredGaussianProcess(**settings).fit(capped.X, capped.y)


def test_rows_that_do_not_fit_are_refused(capped):
    X, y = capped.X, capped.y
    with pytest.raises(ValueError, match=r"whole numbers.*gaussian"):
        CensoredGaussianProcess(likelihood="poisson").fit(X, y)
    with pytest.raises(ValueError, match="no count lies between"):
        CensoredGaussianProcess(likelihood="poisson").fit(X, lower=np.full(60, 1.2), upper=np.full(60, 1.8))
    with pytest.raises(ValueError, match="every row is censored"):
        CensoredGaussianProcess().fit(X, y, censored=np.ones(60, bool))
    with pytest.raises(ValueError, match="threshold must be one value"):
        CensoredGaussianProcess().fit(X, np.column_stack([y, y]), threshold=np.ones(60))
    with pytest.raises(ValueError, match="output 1 has no value"):
        CensoredGaussianProcess().fit(X, np.column_stack([y, np.full(60, np.nan)]))
    with pytest.raises(ValueError, match="59 rows"):
        CensoredGaussianProcess().fit(X[:59], np.column_stack([y, y]))
    with pytest.raises(ValueError, match="lower= and upper="):
        CensoredGaussianProcess(side="both").fit(X, np.column_stack([y, y]), threshold=1.0)
