"""Expected lost rides against a simulated city, in which places depend on each other."""

import numpy as np
import pytest

from unmet.datasets.city import make_city
from unmet.planning import expected_lost, hour_class, hourly_returns, rates_by_class, visit_windows


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_city_loses_what_was_expected(seed):
    """From the stock when the vans are home until they leave again, with true rates and usual returns.

    The returns were counted after full places had refused some, so they are not refused a second time: the
    process gets twice the docks.
    """
    city = make_city("town", days=60, seed=seed, spill=False, weather=False, events=0)
    first = 30
    hours = visit_windows(city, first, 5, 21)[:-1]
    start = hours[:, 0] * 3600
    stock = np.empty((len(city.map), len(start)), dtype=np.int64)
    for place in range(len(city.map)):
        mine = city.stock.place == place
        at = np.searchsorted(city.stock.second[mine], start, side="right") - 1
        stock[place] = city.stock.available[mine][at]
    classes, late = hour_class(city), city.hours.day >= first
    ones = np.ones((len(city.map), int(late.sum())))
    level = city.rate / rates_by_class(city.rate[:, late], ones, classes[late], prior=0.0)[:, classes]
    seen = hourly_returns(city)[:, late]
    returns = rates_by_class(seen, ones, classes[late], prior=0.0)[:, classes] * level
    expected = expected_lost(
        city.rate[:, hours].reshape(-1, 21),
        1 / city.settings.dispersion,
        returns[:, hours].reshape(-1, 21),
        stock.ravel(),
        capacity=np.repeat(2 * city.capacity, len(start)),
    ).reshape(stock.shape)
    lost = city.truth.lost[:, hours].sum(axis=2)
    assert expected.sum() == pytest.approx(lost.sum(), rel=0.12)
    assert np.corrcoef(expected.sum(axis=1), lost.sum(axis=1))[0, 1] > 0.95
