"""Columns that look like the censoring of y, where nobody said that it is censored."""

import numpy as np
import pytest

import unmet
from unmet.comparison._untold import untold_censoring

N = 200
QUICK = {"methods": "Kaplan–Meier", "folds": 2}


@pytest.fixture
def sales():
    random = np.random.default_rng(0)
    stock = random.integers(5, 15, N).astype(float)
    return {"sold": np.minimum(random.poisson(9, N), stock), "stock": stock, "x": random.normal(size=N)}


def test_a_cap_is_found_if_no_censoring_was_told(sales):
    found = unmet.compare(sales, "sold", **QUICK)
    reached = (sales["sold"] == sales["stock"]).mean()
    assert 0.2 < reached < 0.8
    assert found.notes[0] == (
        f"stock equals y in {reached:.0%} of the rows and is never below it: if it is the cap, give "
        "threshold='stock'."
    )
    assert unmet.compare(sales, "sold", features=["x"], **QUICK).notes == found.notes
    assert unmet.compare(sales, "sold", threshold="stock", **QUICK).notes == ()


def test_a_detection_limit_is_the_mirror_image(sales):
    turned = {"sold": -sales["sold"], "stock": -sales["stock"], "x": sales["x"]}
    note = unmet.compare(turned, "sold", **QUICK).notes[0]
    assert note.endswith(
        "never above it: if it is the detection limit, give threshold='stock' and side='left'."
    )


def test_one_misprint_hides_no_cap(sales):
    sales["stock"][0] = sales["sold"][0] - 1
    assert "hardly ever below it" in unmet.compare(sales, "sold", **QUICK).notes[0]


def test_columns_that_are_equal_by_chance_are_no_limits():
    random = np.random.default_rng(0)
    y = random.integers(1, 6, N).astype(float)
    others = {
        "flag": random.integers(0, 2, N),
        "grade": random.integers(1, 4, N),
        "none above": np.full(N, 1.0) * random.integers(0, 2, N),
        "copy": y,
        "text": np.array(["a"] * N, object),
        "high": np.maximum(y, random.integers(1, 6, N)) + 6,
    }
    assert untold_censoring(others, {"y": y}, "right") == []
    most = np.where(np.arange(N) < 0.04 * N, y, 9.0)  # a limit that is hardly reached
    assert untold_censoring({"cap": most}, {"y": y}, "right") == []


@pytest.mark.parametrize("values", [[0, 1], ["no", "Yes"], [False, True], [0, 1, None]])
@pytest.mark.parametrize("name", ["cens", "Status", "death_event", "isCensored", "non-detect"])
def test_a_flag_is_found_by_its_name(name, values):
    column = np.resize(np.array(values, object if None in values or "no" in values else None), N)
    notes = untold_censoring({name: column}, {"y": np.arange(float(N))}, "right")
    assert notes == [
        f"{name} may tell which rows are censored: give event={name!r} if it is 1 where y was seen, or "
        f"censored={name!r} if it is 1 where y is only a bound."
    ]


def test_a_flag_of_1_and_2_is_to_be_rewritten_and_other_columns_are_no_flags():
    told = {"y": np.arange(float(N))}
    notes = untold_censoring({"status": np.resize([1, 2], N)}, told, "right")
    assert "censored: write it as 0 and 1, then give event='status'" in notes[0]
    others = {
        "centre": np.resize([0, 1], N),
        "status": np.resize([0, 1, 2], N),
        "event": np.ones(N),
        "marital status": np.resize(np.array(["single", "married"], object), N),
    }
    assert untold_censoring(others, told, "right") == []


@pytest.mark.parametrize("sign", [1, -1])
def test_with_flags_a_limit_equals_y_in_all_censored_rows(sales, sign):
    flags = sales["sold"] == sales["stock"]
    table = {"x": sales["x"], "sold": sign * sales["sold"], "stock": sign * sales["stock"], "cut": flags}
    side = "right" if sign > 0 else "left"
    found = unmet.compare(table, "sold", censored="cut", side=side, **QUICK)
    assert found.notes[0] == (
        "stock equals y in all censored rows: if it is the limit of every row, give threshold='stock' too."
    )
    both = unmet.compare(table, "sold", censored="cut", threshold="stock", side=side, **QUICK)
    assert both.notes == ()
    table["stock"] = np.where(np.arange(N) == np.argmax(flags), sign * 99.0, table["stock"])
    assert unmet.compare(table, "sold", censored="cut", side=side, **QUICK).notes == ()


def test_flags_of_small_values_come_with_their_side():
    random = np.random.default_rng(0)
    value = random.normal(size=N)
    y, low = np.maximum(value, -0.5), value < -0.5
    (note,) = untold_censoring({"nondetect": low.astype(float)}, {"y": y}, "right")
    assert "give event='nondetect' if" in note
    assert "or censored='nondetect' and side='left' if" in note
    assert len(untold_censoring({"nd": low.astype(float)}, {"y": y}, "right")) == 1
    (note,) = untold_censoring({"event": (~low).astype(float)}, {"y": y}, "right")
    assert "give event='event' and side='left' if" in note
    assert "or censored='event' if" in note
