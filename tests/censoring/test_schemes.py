"""Schemes that censor latent values, and the mirror of quantiles."""

import doctest

import numpy as np
import pytest

import unmet.censoring as censoring
from unmet.censoring import (
    fixed_threshold,
    mirror_levels,
    mirror_quantiles,
    partial,
    supply_cap,
)


@pytest.mark.parametrize("name", ["_mirror", "_observe", "_schemes"])
def test_documented_examples(name):
    assert doctest.testmod(getattr(censoring, name)).failed == 0
    assert doctest.testmod(getattr(censoring, name)).attempted > 0


def test_fixed_threshold_on_both_sides():
    seen = fixed_threshold([1.0, 5.0, 3.0], 3.0)
    assert seen.observed.tolist() == [1.0, 3.0, 3.0]
    assert seen.censored.tolist() == [False, True, True]
    seen = fixed_threshold([1.0, 5.0], [2.0, -np.inf], side="left")
    assert seen.observed.tolist() == [2.0, 5.0]
    assert seen.censored.tolist() == [True, False]


def test_supply_caps_demand():
    seen = supply_cap([2, 7, 4], [5, 5, 4])
    assert seen.observed.tolist() == [2, 5, 4]
    assert seen.threshold.tolist() == [5, 5, 4]
    assert seen.censored.tolist() == [False, True, True]
    assert seen.side == "right"


def test_partial_scales_the_chosen_share():
    latent = np.arange(1.0, 1001.0)
    seen = partial(latent, 0.3, 0.34, 0.66, np.random.default_rng(0))
    assert seen.censored.sum() == 300
    assert np.array_equal(seen.observed[~seen.censored], latent[~seen.censored])
    lost = 1 - seen.observed[seen.censored] / latent[seen.censored]
    assert 0.34 <= lost.min() < 0.36
    assert 0.64 < lost.max() <= 0.66
    assert abs(lost.mean() - 0.5) < 0.02
    assert seen.kind == "flags"
    again = partial(latent, 0.3, 0.34, 0.66, np.random.default_rng(0))
    assert np.array_equal(again.observed, seen.observed)


def test_partial_without_a_share_censors_nothing():
    assert partial([1.0, 2.0], 0.0, 0.1, 0.2, np.random.default_rng(0)).kind == "none"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: partial([1.0], 1.5, 0.1, 0.2, np.random.default_rng(0)), "gamma"),
        (lambda: partial([1.0], 0.5, 0.3, 0.2, np.random.default_rng(0)), "c1"),
        (lambda: partial([-1.0], 0.5, 0.1, 0.2, np.random.default_rng(0)), "latent"),
        (lambda: supply_cap([1.0], -1.0), "supply"),
        (lambda: fixed_threshold([1.0, 2.0], [1.0]), "threshold"),
        (lambda: fixed_threshold([1.0, 2.0], np.nan), "threshold"),
        (lambda: fixed_threshold([1.0, 2.0], -np.inf), "threshold -inf"),
        (lambda: fixed_threshold([1.0], 0.0, side="up"), "side"),
    ],
)
def test_bad_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_mirrored_levels_and_quantiles_belong_together():
    values = np.random.default_rng(1).gamma(2.0, size=501)
    levels = (0.05, 0.1, 0.5, 0.9)
    direct = np.quantile(-values, mirror_levels(levels))
    assert np.allclose(mirror_quantiles(np.quantile(values, levels)), direct)
    assert mirror_levels(mirror_levels(levels)) == levels
