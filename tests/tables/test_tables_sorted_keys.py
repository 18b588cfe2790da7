"""Integers that were added in any order come back sorted, by any range, as often as they were added."""

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.tables import SortedKeys, _sorted_keys

SMALL = st.integers(-20, 20) | st.sampled_from([-(2**63), 2**62, 2**63 - 1])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(SMALL, max_size=30), max_size=6),
    st.lists(SMALL, max_size=4),
    st.sampled_from([1, 2, 7, 512]),
)
def test_ranges_hold_every_integer_once(arrays: list[list[int]], edges: list[int], step: int) -> None:
    edges = sorted({-(2**63), *edges, 2**63 - 1})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted_keys, "_STEP", step)
        keys = SortedKeys(None)
        for array in arrays:
            assert keys.add(np.array(array, np.int64)).tolist() == sorted(array)
        found = [keys.fetch(low, high).tolist() for low, high in itertools.pairwise(edges)]
        keys.close()
    whole = sorted(key for array in arrays for key in array)
    assert len(keys) == len(whole)
    assert list(itertools.chain(*found)) == [key for key in whole if key < edges[-1]]


def test_what_is_added_stays_as_it_is(tmp_path: Path) -> None:
    given = np.array([3, 1, 2])
    keys = SortedKeys(tmp_path)
    keys.add(given)
    keys.add(given[::-1])
    keys.add(np.arange(8)[::2])  # in order, but not side by side in memory
    assert given.tolist() == [3, 1, 2]
    assert keys.fetch(1, 5).tolist() == [1, 1, 2, 2, 2, 3, 3, 4]
    keys.close()
    assert not list(tmp_path.iterdir())


def test_only_shared_integers_can_be_sent(tmp_path: Path) -> None:
    keys = SortedKeys(None)
    keys.add(np.array([5, 4]))
    with pytest.raises(TypeError, match="share them first"):
        pickle.dumps(keys)
    shared = keys.share(tmp_path, "some")
    assert shared.name == str(next(tmp_path.glob("some-*")))
    assert keys.share(tmp_path, "some").name == shared.name  # named by its content
    assert pickle.loads(pickle.dumps(shared)).fetch(0, 9).tolist() == [4, 5]
    shared.close()
    assert list(tmp_path.iterdir())
