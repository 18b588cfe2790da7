"""Turnbull's estimate by hand, against R and Kaplan–Meier, and as the most likely distribution."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from unmet.censoring import kaplan_meier, observe, quantiles_of_all, turnbull

GOLDEN = Path(__file__).parents[1] / "golden"
INF = np.inf


def test_by_hand_where_bounds_touch_and_overlap():
    # (0, 1] and (1, 3] share no value; 1 itself lies in the first, and a row cut off at 3 is larger.
    found = turnbull([0.0, 1.0, 1.0, 3.0], [1.0, 3.0, 1.0, INF])
    assert found.lower.tolist() == [1.0, 1.0, 3.0]
    assert found.upper.tolist() == [1.0, 3.0, INF]
    assert found.reached == pytest.approx([0.5, 0.75, 1.0])
    assert found.identified == (0.0, pytest.approx(0.75))
    assert [found.level(level) for level in (0.5, 0.6, 0.9)] == [(1.0, 1.0), (1.0, 3.0), (3.0, INF)]
    # The middle row lies in one of two places: mass follows the rows that are sure.
    found = turnbull([0.0, 0.0, 0.0, 2.0], [1.0, 1.0, 3.0, 3.0])
    assert found.upper.tolist() == [1.0, 3.0]
    assert found.reached == pytest.approx([2 / 3, 1.0], abs=1e-9)
    assert found.level(2 / 3) == (0.0, 1.0)


@pytest.mark.parametrize("side", ["right", "left"])
def test_where_one_side_is_cut_off_it_is_kaplan_meier(side):
    random = np.random.default_rng(0)
    sign = 1.0 if side == "right" else -1.0
    latent, cap = random.normal(size=(2, 300)).round(1)  # with ties
    y, flags = np.minimum(latent, cap), latent > cap
    weights = random.integers(1, 4, 300).astype(float)
    seen = observe(sign * y, censored=flags, side=side)
    law = kaplan_meier(np.repeat(y, weights.astype(int)), np.repeat(flags, weights.astype(int)))
    found = turnbull(seen.lower, seen.upper, weights)
    wanted = (0.1, 0.33, 0.5, 0.66)
    levels = wanted if side == "right" else [1 - level for level in wanted]
    assert [found.level(level) for level in levels] == [(sign * law.level(level),) * 2 for level in wanted]


def test_it_is_that_of_r():
    latent = np.genfromtxt(GOLDEN / "synthetic_gaussian.csv", delimiter=",", names=True)["latent"]
    number = np.arange(1, len(latent) + 1)
    width = np.array([0.5, 0.8, 1.3])[number % 3]
    low = np.floor(latent / width) * width
    high = np.where(latent < -1, -1.0, np.where(latent > 2, INF, low + width))
    low = np.where(latent < -1, -INF, np.where(latent > 2, 2.0, low))
    low[number % 3 == 0] = high[number % 3 == 0] = latent[number % 3 == 0]
    theirs = json.loads((GOLDEN / "turnbull.json").read_text())
    found = turnbull(low, high)
    for time, survival in zip(theirs["time"], theirs["survival"]):
        ours = 1 - found.reached[found.upper <= time + 1e-9].max(initial=0.0)
        middle = ((found.lower < time) & (time < found.upper)).any()  # R puts a mass in the middle
        assert middle or abs(ours - survival) < 2e-3


def test_no_other_masses_are_more_likely():
    random = np.random.default_rng(1)
    latent = random.normal(size=200)
    low, high = latent - random.exponential(size=200), latent + random.exponential(size=200)
    low[:50], high[50:90] = -INF, INF
    found = turnbull(low, high)
    mass = np.diff(found.reached, prepend=0.0)
    inside = (low[:, None] <= found.lower) & (found.upper <= high[:, None])
    pull = (inside / (inside @ mass)[:, None]).mean(axis=0)
    assert pull.max() < 1 + 1e-9  # the slope of the likelihood towards each mass
    assert np.allclose(pull, 1, atol=1e-6)


def test_of_rows_that_are_all_open_it_is_the_isotonic_regression_of_their_sides():
    random = np.random.default_rng(3)
    latent, asked = np.round(random.normal(size=(2, 4000)), 3)
    found = turnbull(np.where(latent > asked, asked, -INF), np.where(latent > asked, INF, asked))
    points, at, rows = np.unique(asked, return_inverse=True, return_counts=True)
    below = np.bincount(at, latent <= asked) / rows
    theirs = isotonic_regression(below, weights=rows).x
    ours = np.array([found.reached[found.upper <= point].max(initial=0.0) for point in points])
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_a_weight_counts_as_equal_rows():
    random = np.random.default_rng(4)
    latent, weights = random.normal(size=120).round(1), random.integers(0, 4, 120)
    low, high = latent - random.exponential(size=120).round(1), latent + random.exponential(size=120).round(1)
    low[:30], high[30:60], low[60:80] = -INF, INF, high[60:80]
    many = random.permutation(np.repeat(np.arange(120), weights))
    one, other = turnbull(low, high, weights), turnbull(low[many], high[many])
    assert one.lower.tolist() == other.lower.tolist()
    np.testing.assert_allclose(one.reached, other.reached, atol=1e-8)


def test_quantiles_of_all_rows_however_they_are_censored():
    latent = np.random.default_rng(2).normal(size=4000)
    y = np.clip(latent, -1, 1)
    found, identified = quantiles_of_all(observe(y, threshold=(-1.0, 1.0), side="both"), (0.05, 0.5, 0.95))
    assert found == pytest.approx([-1.0, np.median(latent), 1.0], abs=1e-3)
    assert identified == pytest.approx([(latent < -1).mean(), (latent < 1).mean()])
    mirrored, levels = quantiles_of_all(observe(-np.maximum(latent, -1), threshold=1.0), (0.05, 0.5, 0.95))
    theirs = np.quantile(-np.maximum(latent, -1), [0.05, 0.5, 0.95], method="inverted_cdf")
    assert mirrored == pytest.approx(theirs, abs=1e-12)
    assert levels == pytest.approx([0.0, (latent > -1).mean()])
    low = np.floor(latent)
    found, _ = quantiles_of_all(observe(lower=low, upper=low + 1), (0.5,))
    assert abs(found[0]) == 0.5  # the middle of a mass


def test_counts_seen_from_both_sides_have_mirrored_quantiles():
    """Exact rows lie at the floors and caps of others, where an open row is beyond them."""
    random = np.random.default_rng(5)
    latent = random.poisson(4, 400).astype(float)
    floor = random.integers(0, 4, 400).astype(float)
    cap = floor + random.integers(1, 7, 400)
    levels = (0.05, 0.1, 0.3, 0.5, 0.6, 0.7, 0.9, 0.95)
    turned = [1 - level for level in reversed(levels)]

    def of(y, threshold, levels, side="both"):
        found, identified = quantiles_of_all(observe(y, threshold=threshold, side=side), levels)
        return found.tolist(), [round(level, 8) for level in identified]

    y = np.clip(latent, floor, cap)
    found, (least, most) = of(y, (floor, cap), levels)
    turned_back = [-value for value in found[::-1]], pytest.approx([1 - most, 1 - least])
    assert of(-y, (-cap, -floor), turned) == turned_back
    low, high = np.maximum(latent, floor), np.minimum(latent, cap)
    assert of(low, (floor, INF), levels) == of(low, floor, levels, "left")
    assert of(high, (-INF, cap), levels) == of(high, cap, levels, "right")


@pytest.mark.parametrize(
    ("lower", "upper", "match"),
    [
        ([2.0], [1.0], "above"),
        ([0.0, 1.0], [1.0], "shapes"),
        ([], [], "one row"),
        ([INF], [INF], "no value lies there"),
        ([-INF], [-INF], "no value lies there"),
        (np.ma.masked_array([0.0, 1.0], [True, False]), [2.0, 2.0], "lower is a masked array"),
    ],
)
def test_refuses(lower, upper, match):
    with pytest.raises(ValueError, match=match):
        turnbull(lower, upper)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0]])
def test_refuses_weights(weights):
    with pytest.raises(ValueError, match="weights must be 2 finite numbers"):
        turnbull([0.0, 1.0], [1.0, 2.0], weights)
