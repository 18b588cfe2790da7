"""Parameters mean what the OpenAPI document says, whatever text arrives."""

import math
from datetime import UTC, date
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from unmet.serve._curves import make_curves
from unmet.serve._encode import column, encode, number
from unmet.serve._plan import plan_fleet
from unmet.serve._questions import ForecastQuestion, PlanQuestion

ZONE = ZoneInfo("America/New_York")


@given(st.text(max_size=40) | st.integers().map(str) | st.floats().map(str))
def test_any_text_is_a_value_within_limits_or_refused(text):
    for name, low, high in (("fleet", 0, 1_000_000), ("cost_lost", 0.000001, 1e9)):
        try:
            value = getattr(PlanQuestion(**{name: text}), name)
        except ValidationError:
            continue
        assert low <= value <= high


@pytest.mark.parametrize("text", ["1_000", " 5", "true", "0x10", "٣", "1e999", "nan", "1e1", ""])
def test_only_plain_numbers_are_numbers(text):
    with pytest.raises(ValidationError):
        ForecastQuestion(place="A", horizon=text)


@given(st.datetimes(timezones=st.just(ZONE)))
def test_a_time_with_an_offset_is_that_moment(moment):
    if moment.year in (1, 9999):
        return
    found = ForecastQuestion(place="A", start=moment.isoformat()).start
    assert found == moment.astimezone(UTC).replace(tzinfo=None)


def test_a_date_stays_a_date():
    assert ForecastQuestion(place="A", start="2024-07-01").start == date(2024, 7, 1)
    for wrong in ("20240701", "1719792000", "2024-07-01T25:00", "2024-W27-1"):
        with pytest.raises(ValidationError, match="must be a date"):
            PlanQuestion(date=wrong)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_numbers_that_json_has_not_become_null(values):
    found = column(np.array(values, dtype=float))
    assert [value is None for value in found] == [not math.isfinite(value) for value in values]
    encode({"values": found, "first": number(values[0]) if values else None})


def test_other_columns():
    assert column(np.array(["2024-01-01T05", "NaT"], dtype="datetime64[us]")) == [
        "2024-01-01T05:00:00Z",
        None,
    ]
    assert column(np.array(["a", None], dtype=object)) == ["a", None]
    assert column(np.array([True, False])) == [True, False]
    assert encode({"name": "é\u2028\ud800"}) == b'{"name":"\\u00e9\\u2028\\ud800"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode([float("nan")])


@given(
    st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=4), min_size=1, max_size=3),
    st.integers(0, 12),
    st.sampled_from([0.0, 0.1, 1.0, 7.0]),
)
def test_a_plan_costs_no_more_than_any_other(savings, fleet, idle):
    """Against all divisions of the fleet: lost rides plus vehicles that serve nobody, by brute force."""
    curves = {}
    for place, values in enumerate(savings):
        saved = np.sort(np.array(values))[::-1] / 8
        curves[str(place)] = saved.sum() - np.concatenate([[0.0], np.cumsum(saved)])

    def cost(stocks) -> float:
        lost = sum(curves[str(place)][stock] for place, stock in enumerate(stocks))
        served = sum(curves[str(place)][0] for place in range(len(stocks))) - lost
        return lost + idle * (sum(stocks) - served)

    choices = np.stack(np.meshgrid(*(np.arange(len(curve)) for curve in curves.values()), indexing="ij"), -1)
    least = min(cost(stocks) for stocks in choices.reshape(-1, len(curves)) if sum(stocks) <= fleet)
    table = make_curves({place: curve.tolist() for place, curve in curves.items()}, {})
    found = plan_fleet(table, {place: place for place in curves}, fleet, 1.0, idle)
    assert cost([row["target"] for row in found["places"]]) == pytest.approx(least)
    assert found["placed"] + found["kept_back"] == fleet
