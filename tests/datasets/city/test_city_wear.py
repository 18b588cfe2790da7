"""Vehicles that break or retire, and vans by day."""

import numpy as np
import pytest

from unmet.datasets.city import make_city
from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips

SIZE = {"days": 28, "seed": 3}


def test_without_wear_the_city_is_the_same():
    plain, same = make_city("village", **SIZE), make_city("village", broken=0.0, van_hours=(2,), **SIZE)
    assert np.array_equal(plain.rides.start, same.rides.start)
    assert np.array_equal(plain.stock.available, same.stock.available)


def test_broken_vehicles_stand_and_nobody_rents_them():
    city = make_city("village", broken=0.08, **SIZE)
    assert city.stock.available.min() == 0
    last = np.flatnonzero(np.append(np.diff(city.stock.place) != 0, True))
    under_way = (city.rides.start < city.hours.seconds) & (city.rides.end >= city.hours.seconds)
    standing = city.stock.available[last].sum() + under_way.sum()
    assert 0.01 < 1 - standing / city.settings.vehicles < 0.25
    assert city.truth.lost.sum() > make_city("village", **SIZE).truth.lost.sum()


def test_retired_vehicles_ride_no_more():
    city = make_city("village", retiring=1.0, **SIZE)
    half = city.hours.seconds // 2
    early, late = (np.unique(city.rides.vehicle[rows]) for rows in
                   (city.rides.start < half, city.rides.start >= half))  # fmt: skip
    assert len(late) < 0.8 * len(early)


def test_vans_leave_at_the_hours_given():
    city = make_city("village", van_hours=(2, 13), **SIZE)
    clock = city.hours.hour[city.moves[:, 2] // 3600]
    assert set(np.unique(clock)) <= {2, 3, 4, 13, 14, 15}
    assert (clock >= 13).any()


def test_some_do_not_want_the_only_vehicle():
    city, plain = make_city("village", refusal=0.4, **SIZE), make_city("village", **SIZE)
    truth = city.truth
    assert (truth.served == truth.latent - truth.lost - truth.spilled_out + truth.spilled_in).all()
    assert (truth.refused <= truth.lost).all()
    assert 0.01 < truth.refused.sum() / truth.latent.sum() < 0.2
    assert not plain.truth.refused.any()
    assert (truth.latent == plain.truth.latent).all()


def test_a_panel_tells_how_many_do_not_want_the_only_vehicle(tmp_path):
    city = make_city("village", days=42, seed=3, refusal=0.4)
    city.write(tmp_path, snapshots=None)
    with connect() as con:
        read_stations(con, tmp_path / "station_information.json")
        read_trips(con, tmp_path / "trips.csv.gz", zone=city.settings.zone)
        read_status(con, tmp_path / "station_status_events.csv.gz")
        assert build_panel(con, zone=city.settings.zone).refusal == pytest.approx(0.4, abs=0.08)


@pytest.mark.parametrize(
    "wrong", [{"broken": 0.9}, {"retiring": 2.0}, {"van_hours": (24,)}, {"refusal": 1.0}]
)
def test_impossible_wear_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        make_city("village", days=1, **wrong)
