"""Fronts move through the city and change nothing else."""

import numpy as np
import pytest

from unmet.datasets import make_city
from unmet.datasets.city._fronts import Front, front_factor


def test_a_city_without_fronts_is_the_same_as_before_them():
    calm, usual = make_city("village", days=3, seed=2, fronts=0.0), make_city("village", days=3, seed=2)
    np.testing.assert_array_equal(calm.truth.latent, usual.truth.latent)
    assert calm.fronts == ()


def test_fronts_multiply_the_rate():
    calm, moved = (make_city("village", days=10, seed=2, fronts=number) for number in (0.0, 30.0))
    assert len(moved.fronts) > 3
    factor = np.ones_like(calm.rate)
    for front in moved.fronts:
        factor *= front_factor(front, moved.map, factor.shape[1])
    np.testing.assert_allclose(moved.rate, calm.rate * factor)
    assert factor.min() < 0.6
    assert factor.max() > 1.5


def test_a_front_reaches_places_in_the_order_of_its_way():
    map_ = make_city("village", days=1, seed=2).map
    factor = front_factor(Front(2, 0.0, 300.0, 150.0, 4.0), map_, 24)
    assert (factor[:, :2] == 1).all()
    peak = factor.argmax(axis=1)
    order = np.argsort(map_.lng)
    assert (np.diff(peak[order]) >= 0).all()
    assert peak[order[-1]] > peak[order[0]]
    assert 2.5 < factor.max() <= 4.0


def test_too_many_fronts_are_refused():
    with pytest.raises(ValueError, match="fronts must lie in"):
        make_city("village", days=1, fronts=-1.0)
