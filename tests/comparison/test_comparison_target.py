"""The target of a table: gaps, flags, limits written as text, and skewed values."""

import numpy as np
import pytest

from unmet import compare
from unmet.comparison import read_flags
from unmet.comparison._target import choose_rows, read_target

NAN = np.nan


def text(*values):
    return np.array(values, object)


def chosen(side="right", **given):
    columns = {"x": np.zeros(len(next(iter(given.values()))))}
    told, _ = read_target(given, columns, side)
    rows, _, notes = choose_rows(told, len(columns["x"]), 100, 0)
    return rows.tolist(), notes


def test_rows_with_gaps_are_left_out_and_counted():
    rows, notes = chosen(
        y=[1.0, NAN, 3.0, 4.0, 5.0],
        threshold=[2.0, NAN, NAN, np.inf, 9.0],
        censored=text(1, 0, 0, None, False),
    )
    assert rows == [0, 4]
    assert [note.split(";")[0].rstrip(".") for note in notes] == [
        "Left out: 1 row without y",
        "Left out: 1 row whose flag of censoring is empty",
        "Left out: 1 row without a threshold",
    ]


def test_a_gap_in_either_of_two_thresholds_counts():
    rows, notes = chosen(y=[1.0, 2.0, 3.0], side="both", threshold=([0.0, NAN, 0.0], [9.0, 9.0, np.inf]))
    assert rows == [0, 2]
    assert "without a threshold" in notes[0]


def test_a_gap_in_a_bound_is_an_open_end():
    rows, notes = chosen(lower=[1.0, NAN, NAN], upper=[NAN, 2.0, NAN])
    assert rows == [0, 1]
    assert notes == ["Left out: 1 row without bounds."]


def test_thresholds_that_are_written_only_where_they_were_reached_are_refused():
    with pytest.raises(ValueError, match=r"threshold is empty in every row that did not reach it"):
        chosen(y=[1.0, 2.0, 3.0], threshold=[NAN, 2.0, NAN])


def test_gaps_do_not_lower_the_share_of_censored_rows():
    random = np.random.default_rng(0)
    x, stock = random.normal(size=400), random.normal(1, 1, 400)
    sold = np.minimum(x + random.normal(size=400), stock)
    gap = np.arange(400) % 2 == 0
    found = compare({"x": x}, sold, threshold=np.where(gap, NAN, stock), methods=["Kaplan–Meier"], folds=2)
    assert found.rows == 200
    assert found.censored == (sold == stock)[~gap].mean()
    assert "200 rows without a threshold" in found.notes[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (text("dead", "alive", "dead"), r"found dead, alive; first wrong at row 0, counted from 0 \(dead\)"),
        (np.array([0.0, 1.0, 2.0]), r"found 0.0, 1.0, 2.0; first wrong at row 2"),
        (text(True, None, "maybe"), r"found True, None, maybe; first wrong at row 2"),
        (text("1", "2"), r"found 1, 2; first wrong at row 1"),
        (np.arange(9), r"0, 1, 2, 3, 4, …; first wrong at row 2"),
    ],
)
def test_wrong_flags_are_shown(values, words):
    with pytest.raises(ValueError, match=f"event must be true or false.*{words}"):
        read_flags(values, "event")


def test_flags_of_any_kind():
    np.testing.assert_array_equal(read_flags(text(True, 0, None, 1.0), "censored"), [1, 0, NAN, 1])
    words = text("true", "FALSE", "t", "F", "Yes", "no", "Y", "n", "1", "0", " yes", "", "1.0")
    np.testing.assert_array_equal(read_flags(words, "censored"), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, NAN, 1])


def test_limits_written_as_text_are_explained():
    with pytest.raises(ValueError, match=r"y must hold numbers: '<0.5' is a limit. Split it"):
        chosen(y=text(1.0, "<0.5"))
    with pytest.raises(ValueError, match="y must hold numbers, not '3 kg'"):
        chosen(y=text("1.5", "3 kg"))
