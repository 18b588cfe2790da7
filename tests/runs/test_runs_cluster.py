"""Shards on a Dask cluster: the same results, also when a worker dies; a clear word when Dask is missing."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unmet.runs import (
    Cluster,
    ClusterLostError,
    KeptTasks,
    ShardError,
    ShardValueError,
    Task,
    WorkerDiedError,
    run_shards,
)
from unmet.runs._cluster_work import Welcome


def test_a_missing_dask_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"unmet\[cluster\]"):
        run_shards(abs, [1], cluster="tcp://127.0.0.1:1")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")
def test_same_results_on_a_cluster(client: Any) -> None:
    assert sorted(run_shards(lambda shard: shard**2, range(20), cluster=client)) == [
        (i, i * i) for i in range(20)
    ]
    address = client.scheduler.address
    assert sorted(run_shards(abs, [-1, 2], cluster=address)) == [(0, 1), (1, 2)]


@pytest.mark.filterwarnings("default")
def test_an_error_names_its_shard_on_a_cluster(client: Any) -> None:
    def fails(shard: int) -> int:
        if shard == 3:
            raise ValueError("wrong")
        return shard

    with pytest.raises(ShardValueError, match="shard 3: ValueError: wrong"):
        list(run_shards(fails, range(6), cluster=client))


@pytest.mark.filterwarnings("default")
def test_a_worker_killed_midway_on_a_cluster(client: Any, tmp_path: Path) -> None:
    def dies_once(shard: int) -> int:
        if shard == 7 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return shard

    assert sorted(run_shards(dies_once, range(20), cluster=client)) == [(i, i) for i in range(20)]


def test_other_clusters_are_refused() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="address of a Dask scheduler, a Client or 'local', not int"):
        run_shards(abs, [1], cluster=3)


def test_a_scheduler_that_is_not_there_is_named() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(
        ClusterLostError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1: start it"
    ):
        Cluster("tcp://127.0.0.1:1", patience=0).__enter__()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("LOCAL", "must be 'local' or the address"),
        ("tls://127.0.0.1:1", "needs Dask's TLS settings"),
        ("http://127.0.0.1:1", "must be 'local' or the address"),
        ("tcp://127.0.0.1:70000", "must be 'local' or the address"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_in_one_line(address: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(run_shards(abs, [1], cluster=address))


def test_a_shared_folder_is_no_address() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="s3://bucket/work is an address"):
        Cluster("local", folder="s3://bucket/work")


def test_workers_of_a_scheduler_are_not_ours_to_count() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="workers goes with cluster='local'"):
        Cluster("tcp://127.0.0.1:1", workers=3)


def test_a_worker_with_other_code_or_without_the_folder_is_refused(tmp_path: Path) -> None:
    welcome = Welcome.of(tmp_path, None)
    welcome()
    with pytest.raises(ValueError, match=r"has unmet .* and this process has other: install the same"):
        replace(welcome, code="other")()
    with pytest.raises(ValueError, match=r"does not see .*elsewhere: give a folder that all machines share"):
        replace(welcome, token=str(tmp_path / "elsewhere" / "shared"))()


def add(common: dict[str, Any], number: int, keep: Any) -> dict[str, Any]:
    """Note each call in a file, so that a test can count them."""
    Path(common["calls"], f"{number}-{time.monotonic_ns()}").touch()
    part = keep("half", lambda: common["x"] * number)
    return {"sum": part + common["x"], "order": common["f"].flags.f_contiguous}


@pytest.mark.filterwarnings("default")
def test_finished_tasks_are_not_done_again(client: Any, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    common = {"calls": str(calls), "x": np.arange(5.0), "f": np.zeros((2, 3), order="F")}
    tasks = [Task(f"task {number}", number) for number in range(6)]
    with Cluster(client, folder=tmp_path / "shared") as cluster:
        kept = KeptTasks(cluster, add, common, tasks)
        found = list(kept.results())
        for number, one in enumerate(found):
            np.testing.assert_array_equal(one["sum"], np.arange(5.0) * (number + 1))
            assert one["order"]
        assert len(list(calls.iterdir())) == 6
        # A second process with the same work finds all results but one, which is damaged.
        again = KeptTasks(cluster, add, common, tasks)
        damaged = again._path(2)
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x7f")
        repeated = list(again.results())
        assert [one["sum"].tolist() for one in repeated] == [one["sum"].tolist() for one in found]
        assert [path.name[0] for path in calls.iterdir()].count("2") == 2
        assert len(list(calls.iterdir())) == 7
        again.forget()
        assert [path.name for path in (tmp_path / "shared").iterdir()] == ["shared"]


def dies_halfway(common: str, number: int, keep: Any) -> int:
    """Die after each of three parts that were not kept before."""
    for part in range(3):
        keep(f"part {part}", lambda: Path(common, f"{part}").touch())  # noqa: B023
        if not Path(common, f"died {part}").exists():
            Path(common, f"died {part}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def poison(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def strict() -> Iterator[Any]:
    """A cluster whose scheduler gives a task up at the first death of its worker."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")
def test_a_task_that_kills_its_workers_is_named(strict: Any) -> None:
    tasks = [Task(f"reading file-{number}.csv", number) for number in range(4)]
    with Cluster(strict) as cluster:
        found = cluster.run(poison, tasks)
        done = [next(found) for _ in range(3)]
        with pytest.raises(WorkerDiedError, match=r"^reading file-2\.csv: every worker that tried it died"):
            next(found)
    assert sorted(done) == [(0, 0), (1, 1), (3, 3)]  # the others are not lost


@pytest.mark.filterwarnings("default")
def test_a_task_that_comes_further_each_time_is_not_poison(strict: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with Cluster(strict, folder=tmp_path / "shared") as cluster:
        kept = KeptTasks(cluster, dies_halfway, str(tmp_path / "notes"), [Task("long", 7)])
        assert list(kept.results()) == [7]


def fails_twice(folder: str) -> str:
    tries = len(list(Path(folder).iterdir()))
    Path(folder, str(tries)).touch()
    if tries < 2:
        raise OSError("the disk hangs")
    return "done"


@pytest.mark.filterwarnings("default")
def test_a_failure_of_the_system_is_tried_again(client: Any, tmp_path: Path) -> None:
    assert list(run_shards(fails_twice, [str(tmp_path)], cluster=client)) == [(0, "done")]
    with pytest.raises(ShardError, match=r"reading a: .*FileNotFoundError"), Cluster(client) as cluster:
        list(cluster.run(fails_twice, [Task("reading a", str(tmp_path / "nowhere"))]))


def breaks(numbers: int) -> Iterator[int]:
    """Numbers, and then an error that looks like one of the network."""
    yield from range(numbers)
    raise ConnectionResetError("of the caller")


@pytest.mark.filterwarnings("default")
def test_an_error_of_the_shards_themselves_is_raised(client: Any) -> None:
    with pytest.raises(ConnectionResetError, match="of the caller"):
        list(run_shards(abs, breaks(2), cluster=client))
