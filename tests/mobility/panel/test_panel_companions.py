"""How large groups are, from pickups within a minute."""

import numpy as np
import pytest

from unmet.mobility.panel._companions import companions


def size_of(t: np.ndarray, grain: int = 1) -> float:
    close, apart = companions(t, grain)
    return 1 + 2 * (close - apart) / len(t)


@pytest.mark.parametrize("grain", [1, 60])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_groups_are_told_from_people_who_come_one_by_one(share: float, grain: int):
    rng = np.random.default_rng(1)
    alone = rng.uniform(0, 40_000 * 600, 40_000)
    second = alone[rng.uniform(size=len(alone)) < share] + 10
    t = np.sort(np.r_[alone, second]) // grain * grain
    # With pairs in a share s of the arrivals E[S²] / E[S] is (1 + 3s) / (1 + s).
    assert size_of(t, grain) == pytest.approx((1 + 3 * share) / (1 + share), abs=0.02)


def test_a_busy_hour_is_no_group():
    rng = np.random.default_rng(2)
    rate = np.repeat(np.tile([0.2, 2.0], 2000), 3600)  # rides a minute, hour by hour
    t = np.flatnonzero(rng.uniform(size=len(rate)) < rate / 60)
    assert size_of(t) < 1.3
    assert size_of(np.array([5])) == 1
