"""Results come in the order of the items, and a failure stops the other threads before they are awaited."""

import threading
import time
from functools import cache

import pytest

from unmet.runs import in_threads, one_at_a_time


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_order(jobs):
    assert list(in_threads(lambda n: n * n, range(20), jobs)) == [n * n for n in range(20)]
    assert list(in_threads(abs, [], jobs)) == []


def test_a_failure_stops_the_others():
    stopped = threading.Event()

    def work(n):
        if n == 0:
            raise ValueError("poison")
        return stopped.wait(20)

    with pytest.raises(ValueError, match="poison"):
        list(in_threads(work, range(4), 2, stopped.set))
    assert stopped.is_set()


def test_results_that_were_all_taken_stop_nothing():
    stopped = threading.Event()
    assert dict(zip("ab", in_threads(abs, [-1, 2], 2, stopped.set))) == {"a": 1, "b": 2}
    assert not stopped.is_set()


def test_threads_that_ask_for_the_same_at_once_get_one_answer():
    made = []

    @one_at_a_time
    @cache
    def make(key):
        time.sleep(0.05)
        made.append(key)
        return object()

    assert len(set(in_threads(make, [1] * 4, 4))) == 1
    assert made == [1]
