"""Rows worked out by hand: the arithmetic that the docs explain, and what may go wrong."""

from datetime import datetime

import pytest
from small_world import connection, fill

from unmet.mobility import build_panel


@pytest.fixture
def con():
    with connection() as con:
        yield con


def clock(text: str) -> datetime:
    return datetime.fromisoformat(f"2021-05-03T{text}")


def row(con, place="A", hour="08:00:00", **options):
    build_panel(con, by="hour", zone="UTC", **options)
    cursor = con.execute("SELECT * FROM panel WHERE unique_id = ? AND ds = ?", [place, clock(hour)])
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone()))


def ride(start, end, origin="A", to="B", flag=None, vehicle="v"):
    return (vehicle, clock(start), clock(end), origin, to, flag)


def feed(*records, place="A"):
    return [(place, clock(record[0]), *record[1:]) for record in records]


# The example of the docs: someone came in vain at 08:30, so four wanted a vehicle and three got one.
EXAMPLE_RIDES = [
    ride("08:05:00", "08:25:00"),
    ride("08:20:00", "08:50:00"),
    ride("08:00:30", "08:40:00", origin="B", to="A"),
    ride("08:45:00", "09:10:00"),
]
EXAMPLE_FEED = feed(
    ("07:00:00", 3), ("08:05:00", 2), ("08:10:00", 1), ("08:20:00", 0), ("08:40:00", 1), ("08:45:00", 0),
    ("08:50:00", 2),
)  # fmt: skip


def test_worked_example(con):
    fill(con, EXAMPLE_RIDES, EXAMPLE_FEED, [("A", "Alpha", 0.0, 0.0, 12)])
    found = row(con)
    latent = 4
    assert found == {
        "unique_id": "A",
        "ds": clock("08:00:00"),
        "y": 3,
        "censored": True,
        "exposure": 35 / 60,
        "exposure_low": 35 / 60,
        "exposure_high": 35 / 60,
        "reach": 35 / 60,
        "threshold": 2,
        "supply": 6,
        "returns": 1,
        "deliveries": 2,
        "removals": 1,
        "stock_start": 3,
        "stock_end": 2,
        "capacity": 12,
        "inferred": False,
        "observed": 1.0,
    }
    assert min(found["y"], found["threshold"]) == min(latent, found["threshold"])


def test_every_place_has_every_period(con):
    fill(con, [ride("08:05:00", "10:25:00"), ride("11:30:00", "11:40:00")], feed(("08:00:00", 2), place="C"))
    build_panel(con, by="hour", zone="UTC")
    found = con.execute("SELECT unique_id, count(*), sum(y) FROM panel GROUP BY ALL ORDER BY ALL").fetchall()
    assert found == [("A", 4, 2), ("C", 4, 0)]  # B is no place of the panel: nobody ever left from it


def test_closed_time_counts_as_neither(con):
    records = feed(
        ("07:00:00", 3, True), ("08:15:00", 3, False), ("08:30:00", 0, True), ("08:45:00", 1, True)
    )
    fill(con, [ride("07:30:00", "07:40:00"), ride("09:30:00", "09:40:00")], records)
    found = row(con, feed="events")
    assert found["exposure"] == pytest.approx(30 / 45)  # of 45 open minutes 15 were empty
    assert found["threshold"] == 0
    assert found["observed"] == 0.75


def test_unknown_time_counts_as_neither_and_claims_no_threshold(con):
    records = feed(("07:00:00", 3), ("07:59:00", 3), ("08:40:00", 5))
    fill(con, [ride("07:00:00", "07:10:00", to="C"), ride("08:50:00", "09:40:00")], records)
    found = row(con, max_gap="30 minutes")
    assert found["exposure"] == 1.0
    assert found["observed"] == pytest.approx(20 / 60)
    assert (found["threshold"], found["inferred"], found["censored"]) == (0, True, False)
    assert row(con, max_gap="2 hours")["observed"] == 1.0


def test_an_hour_without_known_time_has_no_exposure(con):
    fill(
        con,
        [ride("07:00:00", "07:10:00"), ride("09:50:00", "09:59:00")],
        feed(("07:00:00", 3), ("09:50:00", 2)),
    )
    found = row(con, max_gap="30 minutes")
    assert (found["exposure"], found["observed"], found["censored"]) == (None, 0.0, False)


def test_a_vehicle_returned_and_taken_in_one_second_needs_no_delivery(con):
    rides = [ride("07:50:00", "08:30:00", origin="B", to="A"), ride("08:30:00", "08:45:00")]
    fill(con, rides, feed(("07:00:00", 0), ("08:30:00", 0)))
    found = row(con)
    assert (found["y"], found["returns"], found["deliveries"], found["removals"]) == (1, 1, 0, 0)
    assert (found["exposure"], found["supply"], found["threshold"]) == (0.0, 1, 0)


@pytest.mark.parametrize("late", [-20, 20])
def test_a_record_with_another_clock_makes_no_moves(con, late):
    # The pickup of 08:30:00 is in the feed 20 seconds early or late; a heartbeat shows the old state before.
    seen = f"08:29:{60 + late:02d}" if late < 0 else f"08:30:{late:02d}"
    records = feed(("07:00:00", 2), ("08:29:30", 2), (seen, 1), ("08:59:00", 1))
    if late > 0:
        records = feed(("07:00:00", 2), ("08:30:10", 2), (seen, 1), ("08:59:00", 1))
    fill(con, [ride("08:30:00", "08:45:00"), ride("07:10:00", "07:20:00", "B", "B")], sorted(records))
    found = row(con)
    assert (found["deliveries"], found["removals"], found["stock_end"], found["exposure"]) == (0, 0, 1, 1.0)


def test_a_record_at_the_full_hour_belongs_to_the_hour_that_starts(con):
    fill(
        con,
        [ride("08:00:00", "08:30:00"), ride("07:10:00", "07:20:00", "B", "B")],
        feed(("07:00:00", 1), ("08:00:00", 0)),
    )
    found = row(con)
    assert (found["stock_start"], found["y"], found["exposure"]) == (1, 1, 0.0)
    assert row(con, hour="07:00:00")["exposure"] == 1.0


def test_flagged_rides_are_no_demand_but_long_ones_are(con):
    rides = [
        ride("08:05:00", "08:05:00", flag="zero-length"),
        ride("08:06:00", "08:20:00", flag="service"),
        ride("08:07:00", "23:20:00", flag="over-a-day"),
        ride("08:08:00", "08:09:00"),
    ]
    fill(con, rides)
    report = build_panel(con, by="hour", zone="UTC")
    assert (report.pickups, report.rides) == (2, 2)


def test_rides_without_a_place_are_reported(con):
    fill(con, [ride("08:05:00", "08:15:00"), ride("08:06:00", "08:20:00", origin=None)])
    report = build_panel(con, by="hour", zone="UTC")
    assert (report.rides, report.rides_without_place, report.pickups) == (2, 1, 1)


def test_days_without_a_ride_file_are_not_part_of_the_range(con):
    # The feed starts a day earlier: zero pickups there would be a guess. It stretches the day of the ride.
    early = [
        ("A", datetime(2021, 5, 2, 20), 2),
        ("A", datetime(2021, 5, 3, 23, 59), 2),
        ("A", datetime(2021, 5, 4, 5), 2),
    ]
    fill(con, [ride("08:05:00", "08:15:00", to="A")], early)
    report = build_panel(con, by="hour", zone="UTC")
    assert (report.first, report.last) == ("2021-05-03T00:00:00Z", "2021-05-04T00:00:00Z")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"places": "dock"}, "places"),
        ({"places": "hub"}, "hubs"),
        ({"hubs": 3}, "hubs"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"by": "fortnightly"}, "by"),
        ({"by": "-3 hours"}, "by"),
        ({"by": "30 hours"}, "whole days"),
        ({"max_gap": "long"}, "max_gap"),
        ({"feed": "gossip"}, "feed"),
        ({"covariates": ["mood"]}, "covariates"),
        ({"covariates": "hour"}, "covariates"),
        ({"holidays": "XX-YY"}, "holidays"),
        ({"trips": "voyages"}, "voyages"),
        ({"timelines": ["nowhere"]}, "nowhere"),
        ({"weather": "no-such.csv"}, "no-such.csv"),
        ({"weather_keep": {"a": "b"}}, "weather"),
    ],
)
def test_wrong_arguments_are_named(con, options, words):
    fill(con, EXAMPLE_RIDES, EXAMPLE_FEED)
    with pytest.raises(ValueError, match=words):
        build_panel(con, **{"zone": "UTC", **options})
