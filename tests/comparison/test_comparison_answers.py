"""Columns that hold the answer, or number the rows, are left out; others stay."""

import numpy as np
import pytest

from unmet.comparison import compare
from unmet.comparison._answers import leave_out_answers, leave_out_row_numbers


@pytest.fixture(scope="module")
def sales():
    """Price, stock and sales of whole units, a third of them sold out."""
    random = np.random.default_rng(1)
    price, stock = random.uniform(1, 5, 400), random.integers(5, 30, 400).astype(float)
    wanted = np.round(np.maximum(25 - 4 * price + 4 * random.normal(size=400), 0))
    return price, stock, np.minimum(wanted, stock)


@pytest.mark.parametrize(
    "leak",
    [
        lambda stock, sold: stock - sold,
        lambda stock, sold: sold / stock,
        lambda stock, sold: np.round(100 * sold / stock),
        lambda stock, sold: np.round(1 - sold / stock, 2),
        lambda stock, sold: 2.5 * sold + 0.5 * stock - 3,
        lambda stock, sold: np.round(1.1 * sold),
        lambda stock, sold: np.where(sold == stock, "sold out", "open").astype(object),
        lambda stock, sold: np.where(sold == stock, np.nan, 1 + stock % 3),
        lambda stock, sold: np.where(np.arange(400) == 3, np.nan, stock - sold),
    ],
)
def test_columns_computed_from_y_and_the_threshold_are_left_out(sales, leak):
    price, stock, sold = sales
    kept, notes = leave_out_answers({"price": price, "leak": leak(stock, sold)}, sold, sold == stock, stock)
    assert list(kept) == ["price"]
    assert notes[0].startswith("Left out: leak: ")
    assert notes[0].endswith("Name it in features if it is known beforehand.")


def test_columns_that_only_help_stay(sales):
    price, stock, sold = sales
    random = np.random.default_rng(2)
    helpful = {
        "price": price,
        "stock": stock,
        "boxes": stock / 10,
        "weekend": np.arange(400) % 7 > 4,
        "day": np.arange(400) % 7,
        "shop": np.where(stock > 15, "large", "small").astype(object),
        "forecast": np.round(sold + random.normal(size=400)),
        "constant": np.ones(400),
        "all gaps": np.full(400, np.nan),
    }
    assert list(leave_out_answers(helpful, sold, sold == stock, stock)[0]) == list(helpful)
    nothing = np.zeros(400, bool)
    assert list(leave_out_answers(helpful, sold, nothing, np.full(400, np.inf))[0]) == list(helpful)
    assert list(leave_out_answers(helpful, None, ~nothing)[0]) == list(helpful)


def test_few_censored_rows_share_a_value_by_chance():
    flags = np.arange(100) < 3
    x = np.where(flags, 5, np.arange(100) % 5)
    assert list(leave_out_answers({"x": x}, None, flags)[0]) == ["x"]


def test_row_numbers_are_left_out_unless_nothing_else_is_there():
    columns = {"id": np.arange(7, 20), "x": np.arange(13) % 5, "dose": 10.0 * np.arange(13)}
    kept, notes = leave_out_row_numbers(columns)
    assert list(kept) == ["x", "dose"]
    assert notes == ["Left out: id: numbers the rows. Name it in features if it means more."]
    assert list(leave_out_row_numbers({"id": columns["id"]})[0]) == ["id"]


def test_row_numbers_are_seen_in_a_table_of_which_rows_are_drawn():
    random = np.random.default_rng(0)
    x = random.normal(size=150)
    found = compare(
        {"id": np.arange(150), "x": x}, x + random.normal(size=150), methods="tobit", folds=2, max_rows=60
    )
    assert found.columns == ("x",)


def test_columns_that_give_the_answer_away_are_left_out():
    random = np.random.default_rng(0)
    x, limit = random.normal(size=200), np.full(200, 0.3)
    value = np.maximum(np.exp(x + random.normal(size=200)), limit)
    below = value <= limit
    offered = {"x": x, "nondetect": below.astype(int), "log_value": np.log(value), "lab": np.arange(200) % 2}
    kept, notes = leave_out_answers(offered, value, below)
    assert set(kept) == {"x", "lab"}
    assert [note.split(":")[1].strip() for note in notes] == ["nondetect", "log_value"]
    found = compare(
        {**offered, "value": value}, "value", threshold=limit, side="left", methods=["Tobit"], folds=2
    )
    assert found.columns == ("x", "lab")
    assert compare(
        {**offered, "value": value},
        "value",
        threshold=limit,
        side="left",
        methods=["Tobit"],
        folds=2,
        features=["x", "log_value"],
    ).columns == ("x", "log_value")


def test_notes_on_several_columns_are_in_the_plural_and_name_only_what_was_given():
    y = np.random.default_rng(4).uniform(1, 9, size=400)
    none = np.zeros(400, bool)
    columns = {"ln": np.log(y), "ng": 1000 * y, "rounded": np.round(3 * y, 1)}
    _, notes = leave_out_answers(columns, y, none)
    assert notes[0] == (
        "Left out: ln, ng: rise and fall with y. Name them in features if they are known beforehand."
    )
    assert notes[1].startswith("Left out: rounded: follows from y. Name it")
    _, notes = leave_out_answers(columns, y, none, np.full(400, np.inf))
    assert "Left out: rounded: follows from y and the threshold." in notes[1]
    _, notes = leave_out_row_numbers({"id": np.arange(9), "back": -np.arange(9), "x": y[:9]})
    assert notes == ["Left out: id, back: number the rows. Name them in features if they mean more."]


def test_ids_are_left_out_in_any_order():
    random = np.random.default_rng(0)
    columns = {
        "pid": random.permutation(200),
        "storeId": random.permutation(200) + 0.0,
        "id of twins": np.arange(200) // 2,
        "humid": random.permutation(200),
    }
    kept, notes = leave_out_row_numbers(columns)
    assert list(kept) == ["id of twins", "humid"]
    assert notes == ["Left out: pid, storeId: number the rows. Name them in features if they mean more."]
