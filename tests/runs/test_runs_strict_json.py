"""Strict JSON: one spelling, exact floats, refusals that name the key."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmet.runs._strict_json import check_json, from_json, parse_json, to_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**1000), 2**1000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(VALUES)
def test_round_trip(value: object) -> None:
    data = to_json(value)
    back = from_json(data, max_bytes=len(data))
    assert repr(back) == repr(value) or back == value
    assert to_json(back) == data


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_exact(value: float) -> None:
    back = parse_json(to_json(value))
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": (1, 2)}}, r"config\['a'\]\['b'\] is a tuple"),
        ({"a": [0, np.int64(1)]}, r"config\['a'\]\[1\] is a int64"),
        ({"a": np.zeros(2)}, r"config\['a'\] is a ndarray"),
        ({"a": math.nan}, r"config\['a'\] is nan"),
        ({"a": -math.inf}, r"config\['a'\] is -inf"),
        ({1: 2}, "the key 1: keys must be str, not int"),
        ({"a": b"x"}, r"config\['a'\] is a bytes"),
        ({"a": 2**2000}, "1024 bits"),
        ({"a": len}, "builtin_function"),
    ],
)
def test_what_json_cannot_hold(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_json(value)


def test_endless_values_are_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="deeper"):
        to_json(endless)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 1}', "duplicate key 'a'"),
        (b"[NaN]", "holds NaN"),
        (b"[-Infinity]", "holds -Infinity"),
        (b"[1e400]", "beyond the range"),
        (b"[" * 100_000 + b"]" * 100_000, "deep"),
        (b"[" + b"9" * 5000 + b"]", "digits"),
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b"[1] x", "not valid JSON"),
    ],
)
def test_bad_json(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(data)


def test_only_one_spelling_is_read() -> None:
    assert from_json(b"[\n 1\n]\n", max_bytes=100) == [1]
    for data in (b"[1]", b"[\n 1\n]", b"[\n  1\n]\n", b"[\n 1\r]\n"):
        with pytest.raises(ValueError, match="edited or is damaged"):
            from_json(data, max_bytes=100)
    with pytest.raises(ValueError, match="more than the 3 allowed"):
        from_json(b"[\n 1\n]\n", max_bytes=3)
