"""Shapes of programs: how many networks train beside each other."""

import pytest

from unmet.training import slots


@pytest.mark.parametrize(
    ("rows", "activations", "wanted"),
    [(16, 64, 32), (256, 64, 16), (1024, 64, 4), (2048, 64, 1), (1024, 93, 1), (10**6, 64, 1)],
)
def test_slots_fill_half_a_cache_and_are_never_two(rows, activations, wanted):
    assert slots(rows, activations) == wanted
