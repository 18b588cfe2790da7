"""A city played again: the same people, other targets for the vans."""

import json

import numpy as np
import pytest

from unmet.datasets.city import even_targets, make_city, morning_targets, replay, replay_each


@pytest.fixture(scope="module")
def city():
    return make_city("village", days=10, seed=3, start="2024-04-01")


def same_rides(one, other, before=None):
    many = None if before is None else int((one.rides.start < before).sum())
    for name in ("start", "end", "origin", "destination", "vehicle"):
        assert (getattr(one.rides, name)[:many] == getattr(other.rides, name)[:many]).all()


@pytest.mark.parametrize("switches", [{}, {"rival": True, "spill": False}], ids=str)
def test_its_own_targets_give_the_city_itself(switches):
    city = make_city("village", days=4, seed=5, **switches)
    again = replay(city, morning_targets(city))
    same_rides(city, again)
    assert (again.moves == city.moves).all()
    assert (again.truth.lost == city.truth.lost).all()
    assert (again.stock.available == city.stock.available).all()


def test_other_targets_leave_people_and_fleet_as_they_were(city):
    again = replay(city, np.roll(morning_targets(city), 1).clip(0, city.capacity - 2))
    assert (again.truth.latent.sum(axis=1) == city.truth.latent.sum(axis=1)).all()
    assert (again.home == city.home).all()
    assert (again.truth.lost != city.truth.lost).any()


def test_vans_do_what_the_targets_say(city):
    """One place is given what another had; so it stands when the vans are home, but for rides at night."""
    targets = morning_targets(city)
    fullest, other = np.argsort(targets)[[-1, -2]]
    targets[other] = min(targets[other] + targets[fullest], city.capacity[other])
    targets[fullest] = 0
    again = replay(city, targets)
    five = np.flatnonzero(again.hours.hour == 5) * 3600

    def stock(place):
        mine = again.stock.place == place
        at = np.searchsorted(again.stock.second[mine], five, side="right") - 1
        return again.stock.available[mine][at]

    assert morning_targets(city)[fullest] >= 8
    assert stock(fullest).mean() < 3
    assert np.abs(stock(other) - targets[other]).mean() < 2


def test_days_before_the_first_are_untouched(city):
    targets = np.roll(morning_targets(city), 1).clip(0, city.capacity - 2)
    again = replay(city, targets, first_day=6)
    begin = int(np.flatnonzero(city.hours.day == 6)[0]) * 3600 + 2 * 3600
    same_rides(city, again, before=begin)
    followed = list(again.targets.values())
    assert (np.array(followed[:6]) == morning_targets(city)).all()
    assert (np.array(followed[6:]) == targets).all()
    late = city.hours.day >= 7
    assert (again.truth.lost[:, late] != city.truth.lost[:, late]).any()


@pytest.mark.parametrize("switches", [{}, {"broken": 0.05, "retiring": 0.2, "refusal": 0.3}], ids=str)
def test_several_targets_at_once_are_replays_one_by_one(switches):
    city = make_city("village", days=8, seed=3, **switches)
    several = [morning_targets(city), even_targets(city), morning_targets(city)]
    for targets, together in zip(several, replay_each(city, several, first_day=5, clocks=(2, 14))):
        alone = replay(city, targets, first_day=5, clocks=(2, 14))
        same_rides(alone, together)
        assert (alone.moves == together.moves).all()
        assert (alone.truth.lost == together.truth.lost).all()
        assert (alone.stock.available == together.stock.available).all()
        assert alone.targets == together.targets


def test_targets_of_each_day(city):
    own = morning_targets(city)
    by_day = np.stack([own, np.roll(own, 1).clip(0, city.capacity - 2)])
    again = replay(city, by_day, first_day=8)
    assert list(again.targets) == [24 * day + 2 for day in range(10)]
    assert (np.array(list(again.targets.values())[8:]) == by_day).all()
    twice = replay(again, own, first_day=9)
    assert (twice.targets[24 * 8 + 2] == by_day[0]).all()
    assert (twice.targets[24 * 9 + 2] == own).all()


def test_vans_may_leave_at_other_hours(city):
    own = morning_targets(city)
    again = replay(city, own, first_day=4, clocks=(2, 13))
    hours = np.array(list(again.targets))
    assert (city.hours.hour[hours] == [2] * 4 + [2, 13] * 6).all()
    moved = city.hours.hour[again.moves[:, 2] // 3600]
    assert set(moved[again.moves[:, 2] < 4 * 86_400].tolist()) <= {2, 3, 4}
    assert set(moved.tolist()) & {13, 14, 15}
    different = np.stack([[own, np.minimum(own, 2)]] * 6)
    afternoon = replay(city, different, first_day=4, clocks=(2, 13))
    assert (afternoon.targets[24 * 5 + 13] == np.minimum(own, 2)).all()
    with pytest.raises(ValueError, match="clocks"):
        replay(city, own, clocks=(2, 24))


def test_the_night_without_a_second_hour_is_left_out():
    city = make_city("village", days=3, start="2024-03-09", seed=1)  # the clock goes forward on the 10th
    again = replay(city, np.stack([morning_targets(city)] * 3))
    assert list(again.targets) == [2, 49]
    same_rides(city, again)


def test_the_files_name_the_targets(city, tmp_path):
    targets = np.minimum(morning_targets(city), 3)
    replay(city, targets).write(tmp_path / "again")
    assert json.loads((tmp_path / "again" / "city.json").read_text())["targets"]["2"] == targets.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own[:-1], "shape"),
        (lambda own: own * 1.0, "whole numbers"),
        (lambda own: own - 100, "between 0 and the docks"),
        (lambda own: own + 1000, "between 0 and the docks"),
        (lambda own: own + 1, "add up to"),
    ],
)
def test_bad_targets_are_refused(city, change, message):
    with pytest.raises(ValueError, match=message):
        replay(city, change(morning_targets(city)))


def test_bad_days_and_cities_without_vans_are_refused(city):
    with pytest.raises(ValueError, match="first_day"):
        replay(city, morning_targets(city), first_day=10)
    still = make_city("village", days=2, rebalancing=False)
    with pytest.raises(ValueError, match="rebalancing"):
        replay(still, morning_targets(still))


def test_even_targets_share_the_fleet_as_docks_allow(city):
    targets = even_targets(city)
    assert targets.sum() == city.settings.vehicles
    assert (targets <= city.capacity).all()
    roomy = targets[targets < city.capacity]
    assert roomy.max() - roomy.min() <= 1
    assert (targets[targets == city.capacity] <= roomy.max()).all()


def test_vans_that_fill_places_evenly_are_a_replay_with_even_targets():
    plain = make_city("village", days=9, seed=3)
    made, again = make_city("village", days=9, seed=3, even=True), replay(plain, even_targets(plain))
    assert made.targets == again.targets
    assert (made.truth.lost == again.truth.lost).all()
    assert (made.rides.end == again.rides.end).all()
    assert (made.moves == again.moves).all()
    with pytest.raises(ValueError, match="rebalancing"):
        make_city("village", days=2, even=True, rebalancing=False)
