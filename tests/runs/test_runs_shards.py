"""Shards: the same results here and in processes, bounded look-ahead, failures that say which shard."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unmet.runs import ShardError, ShardValueError, _workers, available_cores, run_shards, stop_workers

PATIENCE = 300  # seconds that a busy machine may take for what takes one


@pytest.fixture(scope="module", autouse=True)
def _no_workers_afterwards() -> Iterator[None]:
    yield
    stop_workers()


def square(shard: int) -> int:
    return shard**2


def run_script(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_shard_once_with_its_index(jobs: int) -> None:
    assert sorted(run_shards(square, range(20), jobs=jobs)) == [(i, i * i) for i in range(20)]
    assert list(run_shards(square, [], jobs=jobs)) == []


def test_functions_that_workers_cannot_import() -> None:
    offset = 10
    assert sorted(run_shards(lambda shard: shard + offset, [1, 2], jobs=2)) == [(0, 11), (1, 12)]


def test_one_job_stays_in_this_process_and_in_order() -> None:
    assert list(run_shards(lambda shard: (shard, os.getpid()), "ab")) == [
        (0, ("a", os.getpid())),
        (1, ("b", os.getpid())),
    ]


def test_workers_are_others_and_are_kept_for_the_next_call(tmp_path: Path) -> None:
    def where(shard: int) -> int:
        (tmp_path / str(os.getpid())).touch()
        deadline = time.monotonic() + PATIENCE
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        return os.getpid()

    first = {pid for _, pid in run_shards(where, range(8), jobs=2)}
    second = {pid for _, pid in run_shards(lambda shard: os.getpid(), range(8), jobs=2)}
    assert os.getpid() not in first
    assert second <= first


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin")
def test_workers_have_a_core_each_and_one_thread(tmp_path: Path) -> None:
    def about(shard: int) -> tuple[int, frozenset[int], str, str]:
        (tmp_path / str(os.getpid())).touch()
        deadline = time.monotonic() + PATIENCE
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        threads, flags = os.environ["OMP_NUM_THREADS"], os.environ.get("XLA_FLAGS")
        return os.getpid(), frozenset(os.sched_getaffinity(0)), threads, flags

    stop_workers()
    found = {result for _, result in run_shards(about, range(6), jobs=2)}
    assert len(found) == 2
    assert {threads for _, _, threads, _ in found} == {"1"}
    assert all(flags == os.environ.get("XLA_FLAGS") for *_, flags in found)
    # Workers of another program may hold the cores; then ours have none of their own.
    if available_cores() == 1:
        pytest.skip("there is one core for all")
    pinned = [cores for _, cores, _, _ in found if len(cores) == 1]
    assert len(set(pinned)) == len(pinned)
    assert all(len(cores) in (1, available_cores()) for _, cores, _, _ in found)


def test_a_core_has_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[set[int]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: pinned.append(cores), raising=False)
    free = [90_001, 90_002]  # no machine has these, so no other program holds them
    try:
        for _ in range(3):
            _workers._take_core(free)
        assert pinned == [{90_001}, {90_002}]
        _workers._CORE.pop().close()
        _workers._take_core(free)
        assert pinned[2:] == [{90_002}]
    finally:
        while _workers._CORE:
            _workers._CORE.pop().close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_shards_are_read_as_they_are_needed(jobs: int) -> None:
    read = 0

    def endless() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    results = run_shards(square, endless(), jobs=jobs)
    assert read == 0
    for yielded in range(1, 30):
        next(results)
        assert read <= yielded + 2 * jobs
    results.close()  # type: ignore[attr-defined]


def test_work_beside_comes_with_the_index_minus_one() -> None:
    assert list(run_shards(square, [], beside=iter([7, 8]))) == [(-1, 7), (-1, 8)]

    def here() -> Iterator[int]:
        for _ in range(50):
            time.sleep(0.002)
            yield os.getpid()

    found = list(run_shards(lambda shard: os.getpid(), range(5), jobs=1, beside=here()))
    assert [result for index, result in found if index < 0] == [os.getpid()] * 50
    assert sorted(index for index, _ in found if index >= 0) == [0, 1, 2, 3, 4]
    assert os.getpid() not in {result for index, result in found if index >= 0}


def test_an_error_in_work_beside_ends_all() -> None:
    def here() -> Iterator[int]:
        yield 1
        raise KeyError("hub")

    with pytest.raises(KeyError, match="hub"):
        list(run_shards(square, range(3), beside=here()))
    assert sorted(run_shards(square, range(3), jobs=2)) == [(0, 0), (1, 1), (2, 4)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_shard(jobs: int) -> None:
    def fails(shard: int) -> int:
        if shard == 3:
            raise ValueError("threshold has 2 rows")
        if shard == 13:
            raise KeyError("hub")
        return shard

    with pytest.raises(ShardValueError, match=r"shard 3: ValueError: threshold has 2 rows") as caught:
        list(run_shards(fails, range(6), jobs=jobs))
    assert caught.value.index == 3
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ShardError, match="shard 1: KeyError") as caught:
        list(run_shards(fails, [0, 13], jobs=jobs))
    assert not isinstance(caught.value, ValueError)
    assert sorted(run_shards(square, range(3), jobs=jobs)) == [(0, 0), (1, 1), (2, 4)]


def test_an_error_that_cannot_be_sent_is_told_in_words() -> None:
    def fails(shard: int) -> int:
        class Odd(Exception):
            def __init__(self, one: int, two: int) -> None:
                super().__init__("very odd")

        raise Odd(1, 2)

    with pytest.raises(ShardError, match="very odd"):
        list(run_shards(fails, [0], jobs=2))


def test_shard_errors_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(ShardValueError("shard 3: wrong", 3)))
    assert (str(error), error.index) == ("shard 3: wrong", 3)


def test_the_initializer_runs_once_in_each_process() -> None:
    def prepare() -> None:
        os.environ["PREPARED"] = os.environ.get("PREPARED", "") + "x"

    results = [
        result
        for _, result in run_shards(
            lambda _: os.environ.get("PREPARED"), range(8), jobs=2, initializer=prepare
        )
    ]
    assert set(results) == {"x"}
    assert "PREPARED" not in os.environ


def test_a_function_keeps_its_caches_from_shard_to_shard() -> None:
    def make() -> Any:
        seen: list[int] = []

        def count(shard: int) -> int:
            seen.append(shard)
            return len(seen)

        return count

    counts = [result for _, result in run_shards(make(), range(10), jobs=2)]
    assert max(counts) >= 5


def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    def dies_once(shard: int) -> int:
        if shard == 5 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return shard

    assert sorted(run_shards(dies_once, range(12), jobs=2)) == [(i, i) for i in range(12)]


def test_a_shard_that_kills_its_worker_twice_is_an_error() -> None:
    def dies(shard: int) -> int:
        if shard == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return shard

    with pytest.raises(ShardError, match=r"died 2 times while shards .*2.* running"):
        list(run_shards(dies, range(4), jobs=2))
    assert sorted(run_shards(square, [3], jobs=2)) == [(0, 9)]


def test_an_idle_worker_that_was_killed_is_replaced() -> None:
    (_, pid) = next(iter(run_shards(lambda _: os.getpid(), [0], jobs=2)))
    os.kill(pid, signal.SIGKILL)
    assert sorted(run_shards(square, range(4), jobs=2)) == [(i, i * i) for i in range(4)]


def test_calls_within_calls() -> None:
    outer = run_shards(square, range(4), jobs=2)
    index, result = next(outer)
    assert sorted(run_shards(square, range(3), jobs=2)) == [(0, 0), (1, 1), (2, 4)]
    assert sorted([(index, result), *outer]) == [(i, i * i) for i in range(4)]


def test_workers_start_no_processes() -> None:
    def nested(shard: int) -> set[int]:
        return {pid for _, pid in run_shards(lambda _: os.getpid(), range(4), jobs=2)} | {os.getpid()}

    assert all(len(pids) == 1 for _, pids in run_shards(nested, range(2), jobs=2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": 3}, "function must be callable"),
        ({"shards": 3}, "shards must be an iterable"),
        ({"jobs": 0}, "jobs must be a whole number"),
        ({"jobs": -1}, "jobs must be"),
        ({"jobs": 1.5}, "jobs must be"),
        ({"jobs": True}, "jobs must be"),
        ({"initializer": 1}, "initializer must be callable"),
        ({"jobs": 2, "cluster": "tcp://x"}, "not both"),
    ],
)
def test_wrong_arguments_at_the_call(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_shards(**{"function": square, "shards": [1], **arguments})


def test_scripts_without_a_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from unmet.runs import run_shards\n"
        "print('start')\n"
        "def double(shard): return 2 * shard\n"
        "print(sorted(run_shards(double, [1, 2, 3], jobs=2)))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout.splitlines() == ["start", "[(0, 2), (1, 4), (2, 6)]"], done.stderr
    assert done.stderr == ""


def test_the_prompt() -> None:
    typed = (
        "from unmet.runs import run_shards\n"
        "def f(x): return x + 1\n\n"
        "print(sorted(run_shards(f, [1, 2], jobs=2)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=typed,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "[(0, 2), (1, 3)]" in done.stdout, done.stderr


ENDLESS = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from unmet.runs import run_shards
def slow(shard):
    os.write(1, b"%d\\n" % os.getpid())  # at once, so that two workers do not mix their lines
    time.sleep(100)
try:
    list(run_shards(slow, range(10), jobs=2))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


@pytest.fixture
def endless() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process whose two workers never end, and the numbers of these workers."""
    parent = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert parent.stderr is not None
    with parent:
        try:
            lines = [parent.stdout.readline() for _ in range(2)]
            assert all(line.strip().isdecimal() for line in lines), (lines, parent.stderr.read())
            yield parent, [int(line) for line in lines]
        finally:
            parent.kill()


@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_ends_the_workers(endless: tuple[subprocess.Popen[str], list[int]], whole_group: bool) -> None:
    parent, workers = endless
    if whole_group:  # as a terminal does
        os.killpg(parent.pid, signal.SIGINT)
    else:
        os.kill(parent.pid, signal.SIGINT)
    out, err = parent.communicate(timeout=PATIENCE)
    assert "interrupted" in out
    assert err.count("Traceback") == 1, err
    assert "KeyboardInterrupt" in err
    assert not any(alive(pid) for pid in workers)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system blocks no signals")
def test_workers_never_hear_ctrl_c_not_even_while_they_start() -> None:
    def blocked(shard: int) -> set[int]:
        return signal.pthread_sigmask(signal.SIG_BLOCK, [])

    stop_workers()
    assert all(signal.SIGINT in found for _, found in run_shards(blocked, range(4), jobs=2))
    assert signal.SIGINT not in blocked(0)


def test_workers_of_a_killed_parent_leave(endless: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, workers = endless
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + PATIENCE
    while any(alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in workers)


def test_importing_costs_nothing() -> None:
    done = run_script("""
        import sys
        import unmet.runs
        heavy = {"jax", "rich", "loky", "cloudpickle", "distributed", "multiprocessing", "sklearn"}
        print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
    """)
    assert done.stdout.strip() == "[]", done.stderr
