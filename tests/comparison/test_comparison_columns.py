"""Columns of a table as numbers: groups, gaps, and columns that are no help."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmet.comparison._columns import MOST_GROUPS, encode, read_table


def text(*values):
    return np.array(values, object)


def test_texts_become_groups_and_the_most_frequent_is_the_rest():
    found = encode({"day": text("mon", "tue", "mon", None)}, None)
    assert found.names == ("day = missing", "day = tue")
    assert found.X.tolist() == [[0, 0], [0, 1], [0, 0], [1, 0]]
    assert found.notes == ("Gaps made a group of their own, missing: day (1).",)


def test_gaps_take_the_median_and_are_marked():
    found = encode({"price": np.array([1.0, np.nan, 3.0, 8.0])}, None)
    assert found.names == ("price", "price is missing")
    assert found.X.tolist() == [[1, 0], [3, 1], [3, 0], [8, 0]]
    assert "price (1)" in found.notes[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "datetime64[D]"), "times"),
        (np.ones(3), "one value"),
        (text("a", "a", "a"), "one value"),
        (np.array([1.0, np.inf, 2.0]), "infinities"),
    ],
)
def test_useless_columns_are_left_out_and_told(values, words):
    other = {"x": np.arange(3.0)}
    found = encode({"bad": values, **other}, None)
    assert found.names == ("x",)
    assert "bad" in found.notes[0]
    assert words in found.notes[0]
    with pytest.raises(ValueError, match=rf"features: column 'bad' .*{words}"):
        encode({"bad": values, **other}, ["bad", "x"])


def test_names_are_no_groups():
    names = text(*(f"person {number}" for number in range(MOST_GROUPS + 1)))
    with pytest.raises(ValueError, match="no column is left"):
        encode({"who": names}, None)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_frames_of_any_kind(make):
    given = {"a": [1, 2, 3], "b": ["u", "v", "u"], "c": [True, False, True], "d": [1.5, None, 2.0]}
    frame = make(given) if make is not dict else {name: np.array(v, object) for name, v in given.items()}
    found = encode(read_table(frame).columns, None)
    assert found.names == ("a", "b = v", "c", "d", "d is missing")
    assert found.X[:, 1].tolist() == [0, 1, 0]
    assert found.X[:, 4].tolist() == [0, 1, 0]


def test_arrays_have_numbered_columns():
    assert list(read_table(np.zeros((2, 2))).columns) == ["x0", "x1"]
    with pytest.raises(ValueError, match="two dimensions"):
        read_table(np.zeros(3))
