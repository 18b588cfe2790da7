"""Expected lost rides against a simulated city, in which places depend on each other."""

import numpy as np
import pytest

from unmet.datasets.city import make_city
from unmet.planning import expected_lost, hourly_returns, usual_rates
from unmet.planning._usage import visit_windows


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_city_loses_what_was_expected(seed):
    """From the stock at 4 h and the true rates, over 24 hours; returns as they usually are on such days."""
    city = make_city("town", days=60, seed=seed, spill=False, weather=False, events=0)
    first = 30
    hours = visit_windows(city, first, 4, 24)[:-1]
    start = hours[:, 0] * 3600
    stock = np.empty((len(city.map), len(start)), dtype=np.int64)
    for place in range(len(city.map)):
        mine = city.stock.place == place
        at = np.searchsorted(city.stock.second[mine], start, side="right") - 1
        stock[place] = city.stock.available[mine][at]
    returns = usual_rates(city, hourly_returns(city), first)
    capacity = np.repeat(city.capacity, len(start))
    expected = expected_lost(
        city.rate[:, hours].reshape(-1, 24),
        1 / city.settings.dispersion,
        returns[:, hours].reshape(-1, 24),
        stock.ravel(),
        capacity=capacity,
    ).reshape(stock.shape)
    lost = city.truth.lost[:, hours].sum(axis=2)
    print(seed, expected.sum(), lost.sum(), np.corrcoef(expected.sum(axis=1), lost.sum(axis=1))[0, 1])
    assert expected.sum() == pytest.approx(lost.sum(), rel=0.12)
    assert np.corrcoef(expected.sum(axis=1), lost.sum(axis=1))[0, 1] > 0.95
