"""The protocol of censored Gaussian processes: its stations and masks, and the arithmetic of its page."""

import numpy as np
import pytest
from benchmarks.censored_gp.__main__ import document
from benchmarks.censored_gp.runs import KINDS, pieces, r_squared, run_counts
from benchmarks.censored_gp.station import HOURS, STATIONS, TEST, TRAIN, mask, simulate


def test_stations_have_a_daily_pattern_and_move_together():
    found = simulate(2_000)
    assert found.demand.shape == (HOURS, STATIONS)
    assert (len(found.X[found.train]), len(found.X[found.test])) == (TRAIN, TEST)
    assert np.array_equal(found.demand, np.floor(found.demand))
    hour, workday = found.X[:, 0], found.X[:, 1] < 5
    assert found.demand[(hour == 17) & workday, 0].mean() > 10 * found.demand[(hour == 3) & workday, 0].mean()
    assert np.corrcoef(found.demand.T)[0, 1] > 0.7
    assert not np.array_equal(simulate(2_001).demand, found.demand)


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_mask_hides_the_given_share_and_shows_part_of_it(share):
    demand = simulate(2_000).demand
    seen = mask(demand, share, 5)
    assert seen.censored.mean() == pytest.approx(share, abs=0.03)
    assert np.array_equal(seen.rides[~seen.censored], demand[~seen.censored])
    hidden = seen.censored & (demand > 10)
    assert (seen.rides[hidden] / demand[hidden]).mean() == pytest.approx(0.47, abs=0.04)


def test_the_page_by_hand():
    done = {f"truth-{seed}": dict.fromkeys(KINDS, 0.8) for seed in range(5)}
    for seed, shift in ((0, 0.0), (1, 0.02)):
        values = {"unaware": 0.4, "censored": 0.7, "heteroskedastic": 0.6, "multi-output": 0.78}
        done[f"mask-0.3-{seed}"] = {kind: value + shift for kind, value in values.items()}
        done[f"counts-poisson-{seed}"] = {"covered": 0.89 + shift, "censored": 0.3}
    text = document(done)
    assert "| censored | 0.710 ± 0.010 | 0.800 | 77% |" in text
    assert "| heteroskedastic | 0.610 ± 0.010 | 0.800 | 51%, below 70% |" in text
    assert "| poisson | 2 | 30% | 90.0% ± 1.0% |" in text
    assert "60% of the hours" not in text


def test_pieces_are_fifty_masks_of_each_share_and_forty_stations():
    names = [piece.name for piece in pieces()]
    assert sum(name.startswith("mask-0.6") for name in names) == 50
    assert sum(name.startswith("counts-poisson") for name in names) == 40
    assert len(set(names)) == len(names)
    assert r_squared(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == 0


@pytest.mark.slow
def test_intervals_of_counts_hold_on_some_stations():
    covered = [run_counts("poisson", 500 + seed, 0.3)["covered"] for seed in range(6)]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)
