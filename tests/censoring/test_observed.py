"""One meaning of censoring: what each input says, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unmet.censoring import observe

INF = np.inf


def test_nothing_given_is_the_plain_loss():
    seen = observe([1, 2, 3])
    assert seen.observed.dtype == np.float64
    assert seen.threshold.tolist() == [INF, INF, INF]
    assert not seen.censored.any()
    assert seen.known is True
    assert seen.kind == "none"
    assert seen.cap.tolist() == [INF, INF, INF]
    assert observe([1.0], side="left").cap.tolist() == [-INF]


def test_threshold_censors_the_rows_that_reached_it():
    seen = observe([1.0, 4.0, 2.0], threshold=[4.0, 4.0, INF])
    assert seen.censored.tolist() == [False, True, False]
    assert seen.cap.tolist() == [4.0, 4.0, INF]
    assert (seen.known, seen.kind) == (True, "known")


def test_left_threshold():
    seen = observe([1.0, 0.0], threshold=0.0, side="left")
    assert seen.threshold.tolist() == [0.0, 0.0]
    assert seen.censored.tolist() == [False, True]


def test_finite_thresholds_that_no_row_reached_are_still_known():
    assert observe([1.0, 2.0], threshold=5.0).kind == "known"
    assert observe([1.0, 2.0], threshold=INF).kind == "none"


def test_flags_alone_leave_thresholds_unknown():
    seen = observe([1.0, 2.0], censored=[0, 1])
    assert seen.censored.dtype == bool
    assert (seen.known, seen.kind) == (False, "flags")
    assert seen.threshold.tolist() == [INF, INF]
    assert seen.cap.tolist() == [INF, 2.0]


def test_flags_alone_with_none_set_are_the_plain_loss():
    seen = observe([1.0, 2.0], censored=[False, False])
    assert (seen.known, seen.kind) == (True, "none")


def test_both_the_cap_is_y_where_flagged_else_the_threshold():
    seen = observe([1.0, 2.0, 3.0], threshold=[5.0, 5.0, 3.0], censored=[False, True, False])
    assert seen.cap.tolist() == [5.0, 2.0, 3.0]
    assert seen.censored.tolist() == [False, True, False]
    assert seen.kind == "known"


def test_flags_with_infinite_thresholds_are_known():
    assert observe([1.0, 2.0], threshold=INF, censored=[False, True]).kind == "known"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [[1.0]]}, "y must be one-dimensional"),
        ({"y": 1.0}, "y must be one-dimensional"),
        ({"y": []}, "y has no rows"),
        ({"y": [1.0, np.nan]}, "y must be finite"),
        ({"y": [1.0, INF]}, "y must be finite"),
        ({"y": ["a", "b"]}, "y must be numeric"),
        ({"y": [None, 1.0]}, "y must be"),
        ({"y": [True, False]}, "y must be numeric"),
        ({"y": [1j]}, "y must be numeric"),
        ({"y": np.ma.masked_array([1.0, 2.0], [True, False])}, "y is a masked array"),
        ({"y": [1.0], "side": "both"}, "side"),
        ({"threshold": [1.0]}, "threshold must be a number or one per row"),
        ({"threshold": [[9.0], [9.0], [9.0]]}, "threshold must be a number or one per row"),
        ({"threshold": [9.0, np.nan, 9.0]}, "threshold has NaN"),
        ({"threshold": np.nan}, "threshold has NaN"),
        ({"threshold": "high"}, "threshold must be numeric"),
        ({"threshold": [True, True, True]}, "threshold must be numeric"),
        ({"threshold": -INF}, "threshold -inf"),
        ({"threshold": INF, "side": "left"}, r"threshold \+inf"),
        ({"threshold": 2.5}, "threshold contradicts y in 1 rows.*above.*row 2"),
        ({"threshold": [0.0, 1.5, 9.0]}, "threshold contradicts y in 2 rows.*row 0"),
        ({"threshold": 1.5, "side": "left"}, "threshold contradicts y in 1 rows.*below.*row 0"),
        ({"threshold": 0.5}, 'row 0 .*; use side="left" if small values are cut off$'),
        ({"threshold": 2.5, "censored": [False, False, True]}, "threshold contradicts y"),
        ({"threshold": 2.5, "censored": [False, False, False]}, "threshold contradicts y"),
        ({"censored": [True]}, "censored must hold one flag per row"),
        ({"censored": True}, "censored must hold one flag per row"),
        ({"censored": [0, 1, 2]}, "censored must be boolean or 0/1"),
        ({"censored": [0, 1, np.nan]}, "censored must be boolean or 0/1"),
        ({"censored": ["no", "no", "yes"]}, "censored must be numeric"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        observe(**{"y": [1.0, 2.0, 3.0], **arguments})


def test_changing_the_callers_arrays_changes_nothing():
    y, threshold, flags = np.array([1.0, 2.0]), np.array([3.0, 3.0]), np.array([False, True])
    seen = observe(y, threshold=threshold, censored=flags)
    y[:], threshold[:], flags[:] = 9, 9, False
    assert seen.observed.tolist() == [1.0, 2.0]
    assert seen.threshold.tolist() == [3.0, 3.0]
    assert seen.censored.tolist() == [False, True]


def test_it_is_frozen():
    with pytest.raises(AttributeError):
        observe([1.0]).side = "left"


def test_pandas_and_object_arrays_are_read():
    pandas = pytest.importorskip("pandas")
    seen = observe(pandas.Series([1, 2], index=[7, 3]), censored=pandas.Series([False, True]))
    assert seen.observed.tolist() == [1.0, 2.0]
    assert observe(np.array([1, 2.5], dtype=object)).observed.tolist() == [1.0, 2.5]


@st.composite
def inputs(draw):
    n = draw(st.integers(1, 8))
    numbers = hnp.arrays(float, n, elements=st.integers(-3, 3).map(float))
    y, room = draw(numbers), np.abs(draw(numbers))
    side = draw(st.sampled_from(["right", "left"]))
    arguments = {"side": side}
    if draw(st.booleans()):
        arguments["threshold"] = y + room if side == "right" else y - room
    if draw(st.booleans()):
        arguments["censored"] = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return y, arguments


def same(a, b):
    return (
        np.array_equal(a.observed, b.observed)
        and np.array_equal(a.threshold, b.threshold)
        and np.array_equal(a.censored, b.censored)
        and (a.side, a.known, a.kind) == (b.side, b.known, b.kind)
    )


@settings(deadline=None)
@given(inputs())
def test_mirrored_is_observing_the_mirror_image(case):
    y, arguments = case
    seen = observe(y, **arguments)
    turned = dict(arguments, side={"right": "left", "left": "right"}[arguments["side"]])
    if "threshold" in turned:
        turned["threshold"] = -turned["threshold"]
    mirror = seen.mirrored()
    assert same(mirror, observe(-y, **turned))
    assert np.array_equal(mirror.cap, -seen.cap)
    assert same(mirror.mirrored(), seen)


@settings(deadline=None)
@given(inputs(), st.data())
def test_take_is_observing_those_rows_alone(case, data):
    y, arguments = case
    index = data.draw(st.lists(st.integers(0, len(y) - 1), min_size=1, max_size=6).map(np.array))
    part = {key: value if key == "side" else value[index] for key, value in arguments.items()}
    assert same(observe(y, **arguments).take(index), observe(y[index], **part))
    mask = np.zeros(len(y), bool)
    mask[index] = True
    assert len(observe(y, **arguments).take(mask)) == mask.sum()


def test_taking_only_exact_rows_of_flagged_data_is_the_plain_loss():
    seen = observe([1.0, 2.0, 3.0], censored=[False, True, False])
    part = seen.take([0, 2])
    assert (part.known, part.kind) == (True, "none")
    assert (seen.take([0, 1]).known, seen.take([0, 1]).kind) == (False, "flags")


@settings(deadline=None)
@given(inputs())
def test_the_observation_never_lies_beyond_its_cap(case):
    y, arguments = case
    cap = observe(y, **arguments).cap
    assert (y <= cap).all() if arguments["side"] == "right" else (y >= cap).all()


def test_bounds_carry_exact_one_sided_and_interval_rows():
    seen = observe(lower=[1.0, 2.0, -INF, 4.0], upper=[1.0, INF, 3.0, 6.0])
    assert seen.censored.tolist() == [False, True, True, True]
    assert seen.direction.tolist() == [0, 1, -1, 2]
    assert seen.observed.tolist() == [1.0, 2.0, 3.0, 5.0]
    assert (seen.side, seen.known, seen.kind) == ("both", False, "intervals")
    mirror = seen.mirrored()
    assert mirror.lower.tolist() == [-1.0, -INF, -3.0, -6.0]
    assert mirror.direction.tolist() == [0, -1, 1, 2]
    assert seen.take([0]).kind == "none"


def test_bounds_open_on_one_side_are_flags():
    right = observe(lower=[1.0, 2.0], upper=[1.0, INF])
    flags = observe([1.0, 2.0], censored=[False, True])
    left = observe(lower=[1.0, -INF], upper=[1.0, 2.0])
    assert (right.side, right.kind, left.side, left.kind) == ("right", "flags", "left", "flags")
    for name in ("observed", "lower", "upper", "cap", "threshold"):
        assert np.array_equal(getattr(right, name), getattr(flags, name)), name
    assert observe(lower=[1.0, 2.0], upper=[1.0, 2.0]).kind == "none"


@pytest.mark.parametrize(
    "threshold", [(0.0, 5.0), (np.zeros(3), 5.0), np.array([[0.0, 5.0]] * 3), [[0.0, 5.0]] * 3]
)
def test_a_floor_and_a_cap_at_once(threshold):
    seen = observe([0.0, 2.0, 5.0], threshold=threshold, side="both")
    assert seen.direction.tolist() == [-1, 0, 1]
    assert (seen.side, seen.known, seen.kind) == ("both", True, "known")
    floor, cap = seen.limits
    assert floor.tolist() == [0.0, 0.0, 0.0]
    assert cap.tolist() == [5.0, 5.0, 5.0]
    assert seen.threshold.tolist() == [[0.0, 5.0]] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": [1.0]}, "lower and upper together"),
        ({"lower": [1.0], "upper": [2.0], "y": [1.0]}, "leave out y"),
        ({"lower": [1.0], "upper": [2.0], "censored": [True]}, "censored"),
        ({"lower": [3.0], "upper": [2.0]}, "lower lies above upper.*row 0"),
        ({"lower": [INF], "upper": [INF]}, "lower"),
        ({"lower": [-INF], "upper": [INF]}, "both infinite at row 0"),
        ({"lower": [np.nan], "upper": [2.0]}, "lower or upper has NaN"),
        ({"lower": [1.0, 2.0], "upper": [2.0]}, "lower and upper must hold one bound per row"),
        ({"y": [1.0], "side": "both", "threshold": 3.0}, "threshold must be a pair"),
        ({"y": [1.0], "side": "both", "threshold": (2.0, 3.0)}, "threshold contradicts y"),
        ({"y": [1.0], "side": "both", "threshold": (1.0, 1.0)}, "threshold: floor and cap are equal"),
        ({"y": [1.0], "side": "both", "threshold": (0.0, 3.0), "censored": [True]}, "censored"),
    ],
)
def test_bad_bounds_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        observe(**arguments)
