"""Packed arrays come back as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from unmet.runs import pack_arrays, unpack_arrays

KINDS = st.sampled_from(["<f8", ">f4", "<i2", "?", "<c16", "<M8[us]", "<U3", "S2"])


@given(array=arrays.arrays(KINDS, arrays.array_shapes(min_dims=0, min_side=0)), copy=st.booleans())
def test_any_array_comes_back(array, copy):
    items = [(7, {"X": array, "transposed": array.T, "again": array}), {"text": "ü", "nothing": None}]
    found = unpack_arrays(pack_arrays(items), copy=copy)
    for name, expected in items[0][1].items():
        np.testing.assert_array_equal(found[0][1][name], expected)
        assert found[0][1][name].dtype == expected.dtype
        assert found[0][1][name].shape == expected.shape
    assert found[1] == items[1]


def test_other_arrays_are_pickled_as_usual():
    odd = [np.array(["a", None], dtype=object), np.zeros(2, [("a", "f8")]), np.ma.masked_equal([1, 2], 2)]
    found = unpack_arrays(pack_arrays(odd))
    assert found[0].tolist() == ["a", None]
    assert found[1].dtype == odd[1].dtype
    assert isinstance(found[2], np.ma.MaskedArray)


def test_copies_are_independent_and_views_are_not():
    packed = pack_arrays([np.zeros(3)])
    first, second = unpack_arrays(packed)[0], unpack_arrays(packed)[0]
    first[0] = 1
    assert second[0] == 0
    first, second = unpack_arrays(packed, copy=False)[0], unpack_arrays(packed, copy=False)[0]
    assert np.shares_memory(first, second)


def test_what_pickle_refuses_is_refused():
    with pytest.raises((AttributeError, TypeError, Exception)) as error:
        pack_arrays([lambda: 0])
    assert "pickle" in str(error.value).lower() or "local object" in str(error.value)
