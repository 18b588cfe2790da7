"""Shards on a Dask cluster: the same results, also when a worker dies; a clear word when Dask is missing."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unmet.runs import ShardValueError, run_shards


def test_a_missing_dask_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"unmet\[cluster\]"):
        run_shards(abs, [1], cluster="tcp://127.0.0.1:1")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
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
    with pytest.raises(ValueError, match="address of a Dask scheduler, a Client or .local., not int"):
        run_shards(abs, [1], cluster=3)
