"""Generators in other processes: items in order, errors raised here, nothing left behind."""

import os
import signal

import numpy as np
import pytest

from unmet.runs import StreamLostError, Streams, _streams

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no such processes here")


def counted(numbers):
    for number in range(numbers):
        print("said by the generator")
        yield {"a": np.full(number, number), "b": np.arange(3) % 2 == 0}, f"item {number}"
    return numbers


def large(size):
    yield {"small": np.arange(3), "large": np.arange(size), "none": np.zeros(0)}, None


def failing(_):
    yield {}, None
    raise KeyError("lost")


@pytest.fixture
def streams():
    streams = Streams()
    yield streams
    streams.close()
    assert all(process._process.poll() is not None for process in streams._all)


def test_items_come_in_order_and_then_the_end(streams, capfd):
    for numbers in (20, 0, 3):  # one process after the other is not needed
        found = streams.run(counted, numbers)
        for number in range(numbers):
            arrays, rest = next(found)
            assert rest == f"item {number}"
            assert arrays["a"].tolist() == [number] * number
            assert arrays["b"].tolist() == [True, False, True]
        with pytest.raises(StopIteration) as end:
            next(found)
        assert end.value.value == numbers
    assert len(streams._all) == 1
    assert "said by the generator" in capfd.readouterr().err


def test_two_may_run_at_once(streams):
    one, two = streams.run(counted, 9), streams.run(counted, 9)
    pairs = list(zip(one, two))
    assert len(pairs) == 9
    assert all(left[1] == right[1] for left, right in pairs)
    assert len(streams._all) == 2


def test_arrays_that_do_not_fit_come_all_the_same(streams, monkeypatch):
    monkeypatch.setattr(_streams, "_SIZE", 4096)
    [(arrays, _)] = streams.run(large, 100_000)
    assert arrays["small"].tolist() == [0, 1, 2]
    assert (arrays["large"] == np.arange(100_000)).all()
    assert len(arrays["none"]) == 0


def test_an_error_is_raised_here_with_its_trace(streams):
    found = streams.run(failing, None)
    next(found)
    with pytest.raises(KeyError, match="lost") as caught:
        next(found)
    assert "failing" in str(caught.value.__cause__)


def test_a_process_that_is_killed_is_told(streams):
    found = streams.run(counted, 1000)
    next(found)
    os.kill(streams._all[0]._process.pid, signal.SIGKILL)
    with pytest.raises(StreamLostError, match="gone"):
        list(found)


def test_who_stops_early_leaves_no_process_busy(streams):
    found = streams.run(counted, 1000)
    next(found)
    found.close()
    assert streams._all[0]._process.poll() is not None
    assert len(list(streams.run(counted, 2))) == 2


def test_a_process_goes_with_its_parent():
    process = _streams._Process()
    assert process._process.stdin is not None
    process._process.stdin.close()  # as when the parent is killed
    assert process._process.wait(20) == 0
    process.close()


def test_where_none_can_be_started_it_is_said(monkeypatch):
    monkeypatch.setattr(_streams.sys, "executable", "")
    with pytest.raises(StreamLostError, match="no way"):
        next(Streams().run(counted, 1))
