"""A million rides in under ten seconds of one core."""

import time

import pytest

from unmet.datasets.city import make_city


@pytest.mark.slow
def test_a_million_rides_in_ten_seconds():
    begin = time.process_time()  # not wall time: other work on the machine is not the city's fault
    city = make_city("city", days=95)
    assert len(city.rides) > 1_000_000
    assert time.process_time() - begin < 10
