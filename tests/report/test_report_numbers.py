"""Numbers, packed series and JSON of the report."""

import json
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmet.report import script_json
from unmet.report._pack import LETTERS, MISSING, MOST, UNBOUNDED, pack, step_for
from unmet.results import Interval
from unmet.results.numbers import between, day, moment, number, one_in, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12,346"), (3.14159, "3.1"), (0.0412, "0.04"), (7, "7"), (-3, "−3"), (0.0, "0"), (-0.0, "0")]
    + [(-0.0004, "0.00"), (-0.04, "−0.04"), (-1234.0, "−1,234")],
)
def test_numbers_have_no_more_digits_than_needed(value, text):
    assert number(value) == text


def test_what_is_not_a_number_is_said():
    assert number(inf) == "not identified"
    assert number(nan) == number(None) == "–"
    assert percent(None) == "–"
    assert percent(0.0512) == "5.1%"


def test_intervals():
    assert between(Interval(5, 3, 9)) == "3–9"
    assert between(Interval(5, 3, inf)) == "3 or more"
    assert between(Interval(6.7, 2.95, 10.95)) == "3–11"
    assert between(Interval(0.7, 0.25, 1.5)) == "0.25–1.5"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(2.95, 10.95, "3–11"), (0.4, 1.2, "0.40–1.2"), (500.2, 631.0, "500–630"), (5.0, 15.05, "5–15")],
)
def test_both_ends_of_an_interval_have_the_same_digits(low, high, text):
    assert between(Interval(6.7, low, high)) == text


def test_days_and_moments():
    assert day("2024-03-04T05:00:00") == "4 Mar 2024"
    assert day("2024-03-04", year=False) == "Mon 4 Mar"
    assert moment(0) == "Thu 1 Jan 00:00"
    assert one_in(0.101) == "about one in 10"


def unpack(text: str, step: float) -> list[float]:
    """The page's script does the same."""
    codes = [LETTERS.index(text[n]) * 64 + LETTERS.index(text[n + 1]) for n in range(0, len(text), 2)]
    return [nan if code == MISSING else inf if code == UNBOUNDED else code * step for code in codes]


@given(st.lists(st.floats(0, 1e5) | st.just(inf) | st.just(nan), max_size=50))
def test_packed_numbers_come_back_within_half_a_step(values):
    finite = [value for value in values if np.isfinite(value)]
    step = step_for(max(finite, default=1.0))
    found = unpack(pack(np.array(values), step), step)
    assert len(found) == len(values)
    for before, after in zip(values, found):
        if np.isfinite(before):
            assert abs(before - after) <= step / 2 + 1e-9
        else:
            assert str(before) == str(after)


def test_steps_are_fine_for_small_counts_and_refuse_absurd_ones():
    assert step_for(1.0) == 0.01
    assert step_for(0.01 * MOST) == 0.01
    assert step_for(0.01 * MOST + 1) == 0.02
    with pytest.raises(ValueError, match="check y in the panel"):
        step_for(1e12)


@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none() | st.booleans(), st.lists))
def test_json_for_scripts_reads_back_and_holds_nothing_dangerous(value):
    text = script_json(value)
    assert json.loads(text) == value
    assert not set("<>&'\u2028\u2029") & set(text)


def test_json_for_scripts_has_no_nan():
    assert script_json({"a": [nan, inf, 1.5]}) == '{"a":[null,null,1.5]}'
