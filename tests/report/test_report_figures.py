"""Figures of the report: where things are drawn."""

import re
from math import inf
from xml.etree import ElementTree

import pytest

from unmet.report._data import Day, Interval, PlaceTotals, Weekday
from unmet.report.figures import calibration_figure, days_figure, place_map, week_map
from unmet.report.figures._calibration import achieved
from unmet.report.figures._svg import Frame, breaks, class_of, short, ticks


def place(
    n: int, lat: float | None, lng: float | None, lost: float, high: float | None = None
) -> PlaceTotals:
    bound = Interval(lost, lost / 2, 2 * lost if high is None else high)
    name = f"<b>{n}</b>"
    return PlaceTotals(str(n), name, lat, lng, None, 10.0, Interval(10 + lost, 10, 20), bound, 0.1, 0.1)


def circles(svg: str) -> dict[int, tuple[float, float, float]]:
    found = re.findall(r'data-place="(\d+)" cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)
    return {int(n): (float(x), float(y), float(r)) for n, x, y, r in found}


def test_ticks_are_round_and_few():
    assert ticks(0, 10) == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert ticks(0, 97, 5) == [0.0, 20.0, 40.0, 60.0, 80.0]
    assert ticks(3, 3) == [3]
    for high in (0.7, 1, 8, 55, 1234, 98765):
        assert 2 <= len(ticks(0, high, 4)) <= 4


def test_coordinates_are_short():
    assert [short(value) for value in (3.0, 2.26, -0.01)] == ["3", "2.3", "0"]


def test_classes_are_finer_among_small_values():
    ends = breaks(1000.0)
    assert ends == [40.0, 160.0, 360.0, 640.0, 1000.0]
    assert [class_of(value, ends) for value in (0, 40, 41, 640, 1000, 5000)] == [0, 0, 1, 3, 4, 4]


def test_axes_point_right_and_up():
    frame = Frame(100, 100, (0, 10), (0, 10))
    assert frame.x(0) < frame.x(10)
    assert frame.y(0) > frame.y(10)


def test_the_map_puts_north_up_and_east_right():
    drawn = place_map([place(0, 40.0, -74.0, 1), place(1, 40.01, -74.0, 4), place(2, 40.0, -73.99, 100)])
    assert drawn is not None
    at = circles(drawn.svg)
    assert at[1][1] < at[0][1]
    assert at[2][0] > at[0][0]
    assert at[2][2] > at[1][2] > at[0][2]
    # a degree of longitude is shorter than one of latitude, by cos 40°
    assert (at[2][0] - at[0][0]) / (at[0][1] - at[1][1]) == pytest.approx(0.766, abs=0.01)
    ElementTree.fromstring(drawn.svg)
    assert "&lt;b&gt;0&lt;/b&gt;" in drawn.svg
    assert drawn.absent == []


def test_the_scale_bar_is_as_long_as_it_says():
    drawn = place_map([place(0, 40.0, -74.0, 1), place(1, 40.02, -74.0, 4)])
    assert drawn is not None
    start, end = map(float, re.search(r'scale-bar" d="M(\d+) [\d.]+V[\d.]+H([\d.]+)V', drawn.svg).groups())
    words = re.search(r">([\d.,]+) (k?m)</text>", drawn.svg)
    metres = float(words[1].replace(",", "")) * (1000 if words[2] == "km" else 1)
    at = circles(drawn.svg)
    per_unit = 0.02 * 111_195 / (at[0][1] - at[1][1])
    assert (end - start) * per_unit == pytest.approx(metres, rel=0.01)


def test_places_without_coordinates_or_far_away_are_left_off():
    near = [place(n, 40 + n / 1000, -74.0, 1) for n in range(6)]
    drawn = place_map([*near, place(6, None, -74.0, 1), place(7, 0.0, 0.0, 1)])
    assert drawn is not None
    assert drawn.absent == [6, 7]
    assert place_map([place(0, None, None, 1)]) is None


def test_a_place_without_upper_bound_is_hatched():
    drawn = place_map([place(0, 40.0, -74.0, 1, high=inf), place(1, 40.01, -74.0, 1)])
    assert drawn is not None
    assert drawn.svg.count('class="over"') == 1


def test_days_without_upper_bound_are_hatched():
    days = [Day(f"2024-03-0{n}", 10, 12, 11, 13 if n < 4 else inf, 2) for n in range(1, 8)]
    assert days_figure(days, 760, "wide").count("hatched") == 1
    assert "hatched" not in days_figure(days[:3], 760, "wide")
    ElementTree.fromstring(days_figure(days, 340, "narrow"))


def test_the_week_has_its_worst_hour():
    lost = [[0.0] * 24 for _ in range(7)]
    lost[1][8] = 5.0
    drawn = week_map(Weekday(lost, lost))
    assert drawn.worst == "Tue 08:00"
    assert drawn.wide.count("<rect") == drawn.narrow.count("<rect") == 168
    assert drawn.wide.count("cell s4") == 1


def test_calibration_before_is_the_models_level_and_after_the_tails():
    found = achieved(
        {
            "bands": [{"low": 0, "high": 1, "nominal": [0.05, 0.95], "level": [0.03, None]}],
            "coverage": {"lower_tail": 0.04, "upper_tail": 0.06},
        }
    )
    assert found.before == (("0 to 1", ((0.03, 0.05),)),)
    assert found.after == ((0.05, 0.04), (0.95, 0.94))
    ElementTree.fromstring(calibration_figure(found, 420, "wide"))
