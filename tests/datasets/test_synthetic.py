"""The paper's synthetic data: its own table, exact quantiles, splits."""

import subprocess
import sys

import numpy as np
import pytest

from unmet.datasets import make_synthetic

PAPER = ("gaussian", "heteroskedastic", "mixture")
OTHERS = ("skewed-right", "skewed-left", "student", "laplace", "skewed-heteroskedastic", "varying-shape")

# Table I of the paper: percent of conditional quantiles at zero, levels .05, .50, .95.
TABLE_I = {
    "gaussian": (62.7, 23.9, 2.0),
    "heteroskedastic": (68.0, 23.9, 11.4),
    "mixture": (54.1, 23.9, 4.6),
}


@pytest.mark.parametrize("noise", PAPER)
def test_table_one_of_the_paper(noise):
    quantiles = make_synthetic(noise).quantile([0.05, 0.5, 0.95], truth="published")
    percent = 100 * (np.maximum(0, quantiles) == 0).mean(axis=0)
    assert tuple(percent.round(1)) == TABLE_I[noise]


@pytest.mark.parametrize("noise", PAPER + OTHERS)
def test_observed_is_latent_cut_at_zero(noise):
    data = make_synthetic(noise, n=300, seed=7)
    assert data.X.shape == (300, 3)
    assert (data.X[:, 0] == 1).all()
    assert set(data.X[:, 1]) == {-1.0, 1.0}
    assert (data.y == np.maximum(0, data.latent)).all()
    assert (data.censored == (data.latent <= 0)).all()
    assert (data.threshold == 0).all()
    assert 0.15 < data.censored.mean() < 0.45


@pytest.mark.parametrize("noise", PAPER + OTHERS)
def test_exact_quantiles_cover_as_they_say(noise):
    data = make_synthetic(noise, n=200_000, seed=1)
    levels = np.array([0.05, 0.3, 0.5, 0.7, 0.95])
    below = data.latent[:, None] <= data.quantile(levels)
    # Four standard errors, overall and in a slice of x2 where shape and scale differ from the average.
    assert np.allclose(below.mean(axis=0), levels, atol=4 * 0.5 / np.sqrt(200_000))
    low = data.X[:, 2] < -1.2
    assert np.allclose(below[low].mean(axis=0), levels, atol=4 * 0.5 / np.sqrt(low.sum()))


@pytest.mark.parametrize("noise", OTHERS)
def test_other_noises_have_mean_zero_and_unit_scale(noise):
    data = make_synthetic(noise, n=200_000, seed=2)
    error = data.latent - data.X.sum(axis=1)
    assert abs(error.mean()) < 0.02
    assert 0.85 < error.std() < 1.15


def test_published_mixture_is_too_narrow_and_the_others_agree():
    levels = [0.05, 0.95]
    for noise in ("gaussian", "heteroskedastic"):
        data = make_synthetic(noise)
        assert np.array_equal(data.quantile(levels), data.quantile(levels, truth="published"))
    data = make_synthetic("mixture")
    half = (data.quantile(0.95, truth="published") - data.quantile(0.05, truth="published")) / 2
    assert np.allclose(half, 1.6448536269514722 * np.sqrt(0.625))
    half = (data.quantile(0.95) - data.quantile(0.05)) / 2
    assert np.allclose(half, 1.6448536269514722 * np.sqrt(0.8125))


def test_split_of_the_paper():
    train, validation, test = make_synthetic().split()
    assert (len(train), len(validation), len(test)) == (536, 134, 330)
    assert sorted([*train, *validation, *test]) == list(range(1000))


def test_the_seed_decides():
    first, second, other = make_synthetic(seed=3), make_synthetic(seed=3), make_synthetic(seed=4)
    assert np.array_equal(first.latent, second.latent)
    assert not np.array_equal(first.latent, other.latent)
    assert repr(first) == "SyntheticData(noise='gaussian', n=1000, seed=3)"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: make_synthetic("cauchy"), "noise"),
        (lambda: make_synthetic(n=0), "n must"),
        (lambda: make_synthetic(n=10.5), "n must"),
        (lambda: make_synthetic().quantile(1.0), "theta"),
        (lambda: make_synthetic().quantile([[0.5]]), "theta"),
        (lambda: make_synthetic().quantile(0.5, truth="mine"), "truth"),
        (lambda: make_synthetic("student").quantile(0.5, truth="published"), "truth"),
    ],
)
def test_bad_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_making_data_needs_neither_jax_nor_sklearn():
    code = (
        "import sys, unmet.datasets as d; d.make_synthetic('student').quantile(.5);"
        "assert not {'jax', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
