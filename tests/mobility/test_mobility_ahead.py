"""Results in order while threads work ahead, and nothing forgotten when the caller stops."""

import sys
import threading
import time

import pytest

from unmet.mobility._ahead import ahead


def test_results_come_in_order_however_long_each_takes():
    def work(number):
        time.sleep(0.02 if number % 3 == 0 else 0)
        return number**2

    assert [future.result() for future in ahead(work, range(20), 3)] == [n**2 for n in range(20)]


def test_no_more_is_begun_than_said():
    drawn = []

    def items():
        for number in range(10):
            drawn.append(number)
            yield number

    for done, _future in enumerate(ahead(lambda number: number, items(), 2)):
        assert len(drawn) <= done + 3


def test_who_stops_early_gets_the_rest_discarded():
    begun, discarded, lock = [], [], threading.Lock()

    def work(number):
        with lock:
            begun.append(number)
        return number

    coming = ahead(work, range(10), 2, discard=discarded.append)
    assert next(coming).result() == 0
    coming.close()
    assert sorted([0, *discarded]) == sorted(begun)
    assert len(begun) <= 3


def test_an_error_is_raised_where_its_result_would_be():
    def work(number):
        if number == 1:
            raise ValueError("the second")
        return number

    coming = ahead(work, range(3), 2)
    assert next(coming).result() == 0
    with pytest.raises(ValueError, match="the second"):
        next(coming).result()
    assert next(coming).result() == 2


def test_no_more_are_begun_than_allowed():
    begun = []

    def work(number):
        begun.append(number)
        return number

    coming = ahead(work, range(10), threads=1, begun=5)
    assert next(coming).result() == 0
    coming.close()
    assert len(begun) <= 5
    assert [future.result() for future in ahead(work, range(10), threads=1, begun=5)] == list(range(10))


def test_turns_are_short_only_while_threads_work():
    usual = sys.getswitchinterval()
    one = ahead(lambda number: number, range(3))
    next(one)
    two = ahead(lambda number: number, range(3))
    next(two)
    assert sys.getswitchinterval() < usual
    one.close()
    assert sys.getswitchinterval() < usual
    two.close()
    assert sys.getswitchinterval() == usual
