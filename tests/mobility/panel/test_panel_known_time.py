"""Time in which nothing is known, worked out by hand."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from cut_city import CUTS, ZONE, cut_city

from unmet import pipeline
from unmet.datasets import make_city
from unmet.mobility import Panel, read_panel
from unmet.mobility.panel._known_time import lifeless, silences

HOUR, DAY = 3600, 86_400
MONDAY = 4 * DAY  # 5 January 1970


def busy(days: list[int], per_hour: int, first: int = 8, last: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Events in each hour from `first` to `last` of these days after Monday."""
    hours = np.array([(MONDAY + day * DAY) // HOUR + hour for day in days for hour in range(first, last)])
    return hours, np.full(len(hours), per_hour)


def test_days_without_events_are_whole_days():
    week = [*range(14), *range(17, 31)]
    found = silences(*busy(week, 10), "UTC", MONDAY, MONDAY + 31 * DAY, ends=False)
    # The last event is at 20 h and the next at 8 h, as every day: the nights on both sides stay known.
    assert found == [(MONDAY + 14 * DAY, MONDAY + 17 * DAY)]


def test_nights_and_quiet_systems_are_not_silent():
    assert not silences(*busy(list(range(28)), 1000), "UTC", MONDAY, MONDAY + 28 * DAY, ends=False)
    # Twelve rides a day: four days without one could be chance, two weeks could not.
    for gap, wanted in ((4, 0), (14, 1)):
        days = [*range(14), *range(14 + gap, 42)]
        assert len(silences(*busy(days, 1), "UTC", MONDAY, MONDAY + 42 * DAY, ends=False)) == wanted


def test_a_silence_at_the_end_counts_only_where_asked():
    feed = busy(list(range(10)), 60, 0, 24)
    end = MONDAY + 12 * DAY
    assert silences(*feed, "UTC", MONDAY, end, ends=True) == [(MONDAY + 10 * DAY, end)]
    assert not silences(*feed, "UTC", MONDAY, end, ends=False)
    assert not silences(*feed, "UTC", MONDAY, end, ends=True, shortest=3 * DAY)


def test_a_place_is_unknown_before_it_opens_and_after_it_closes():
    signs = np.arange(20 * DAY, 60 * DAY, DAY // 2)  # two a day from day 20 to 60
    assert lifeless(signs, [], 0, 90 * DAY) == [(0, 20 * DAY), (int(signs[-1]), 90 * DAY)]
    # Where no place could show a sign, its absence means nothing.
    assert lifeless(signs, [(0, 19 * DAY)], 0, 61 * DAY) == []


def test_a_silence_of_weeks_at_a_place_is_unknown_and_one_of_days_is_not():
    for gap, wanted in ((5, []), (8, [(30 * DAY, 38 * DAY)])):
        signs = np.arange(0, 60 * DAY, DAY // 4)
        signs = signs[(signs <= 30 * DAY) | (signs >= (30 + gap) * DAY)]
        assert lifeless(signs, [], 0, 60 * DAY) == wanted
    rare = np.array([0, 20 * DAY, 40 * DAY])
    assert lifeless(rare, [], 0, 60 * DAY) == []


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    make_city("village", places=6, days=40, seed=5).write(folder, snapshots=None)
    return folder


def build(city: Path, folder: Path) -> tuple[Panel, tuple[str, ...]]:
    account = pipeline.panel(
        trips=folder / "trips.csv.gz",
        status=folder / "station_status_events.csv.gz",
        stations=city / "station_information.json",
        zone=ZONE,
        output=folder / "panel.parquet",
        progress=False,
    )
    return read_panel(folder / "panel.parquet"), account["panel"]["notes"]


WORDS = {
    "early_trips": "The status feed begins on 25 March 2024, 21 days after the trips: unknown before it.",
    "no_month": "No trips from 1 April to 8 April 2024: treated as unknown.",
    "silent_feed": "The status feed was silent from 28 March 2024, 12:00, to 30 March 2024, 12:00: "
    "treated as unknown.",
    "late_places": "2 places join the status feed later than the others: unknown before.",
}


def test_a_city_cut_up_knows_what_it_does_not_know(city: Path, tmp_path: Path):
    """Rows of the cut city are those of the whole one, or unknown; every cut is named in one line."""
    clean, notes = build(city, city)
    assert notes == ()
    assert (clean["observed"] == 1).all()
    first = datetime.fromisoformat(f"{clean['ds'].min()}"[:19]).replace(tzinfo=UTC)
    for cuts in (*((cut,) for cut in CUTS), CUTS):
        folder = cut_city(city, tmp_path / "-".join(cuts), first, cuts=cuts, month=8)
        panel, notes = build(city, folder)
        assert sorted(notes) == sorted(WORDS[cut] for cut in cuts)
        known = panel["observed"] == 1
        assert (0.4 if len(cuts) == 1 else 0.2) < known.mean() < 1
        assert np.isnan(panel["exposure"][panel["observed"] == 0]).all()
        same = known & np.isin(panel["ds"], clean["ds"])
        for name in ("y", "censored"):  # late places take rides of others with them
            wrong = (panel[name] != clean[name])[same].mean()
            assert wrong < (0.12 if "late_places" in cuts else 0.001), (cuts, name)
        assert (panel["stock_start"] >= 0).all()
