"""The first days of a city are those of the whole one."""

import numpy as np
import pytest

from unmet.datasets import make_city
from unmet.datasets.city import first_days


@pytest.fixture(scope="module")
def city():
    return make_city("village", days=6, seed=2, start="2024-03-08")  # the clock changes on the third day


def test_everything_seen_by_then_is_there(city, tmp_path):
    early = first_days(city, 4)
    hours = len(early.hours)
    assert hours == 4 * 24 - 1
    np.testing.assert_array_equal(early.truth.served, city.truth.served[:, :hours])
    assert len(early.rides) == city.truth.served[:, :hours].sum()
    assert early.rides.start.max() < early.hours.seconds <= city.rides.start.max()
    assert early.stock.second.max() < early.hours.seconds
    assert 0 < early.share_empty < 1
    names = {path.name for path in early.write(tmp_path)}
    assert {"trips.csv.gz", "station_status_events.csv.gz", "weather.csv", "truth.parquet"} <= names


def test_all_days_are_the_city_itself(city):
    whole = first_days(city, 6)
    np.testing.assert_array_equal(whole.rides.end, city.rides.end)
    assert whole.share_empty == city.share_empty


@pytest.mark.parametrize("days", [0, 7, 2.0, True])
def test_other_days_are_refused(city, days):
    with pytest.raises(ValueError, match="days must be a whole number from 1 to 6"):
        first_days(city, days)
