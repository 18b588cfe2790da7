"""The runner of large grids: independent shards, one Parquet file each, on any number of processes."""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from unmet.papers._pieces import Log, finish_pieces
from unmet.papers.mobility._cost import Cost


def run_grid(
    folder: Path,
    config: dict[str, Any],
    shards: Sequence[Any],
    compute: Callable[[Any], bytes],
    *,
    jobs: int = 1,
    cluster: Any = None,
) -> tuple[list[Path], Cost]:
    """Compute the shards that are not finished; return the files of all of them and what they cost.

    The files are the same bytes whatever the number of processes, the cluster, and the times that it was
    killed. A shard has a `key` (the name of its file), a number of `networks` and a `kind`.
    """
    from unmet import runs

    by_key = {shard.key: shard for shard in shards}
    began = time.monotonic()
    peaks: dict[str, float] = {}
    costs: list[Cost] = []

    def missing(keys: list[str], log: Log) -> Iterator[tuple[str, bytes]]:
        todo = [by_key[key] for key in keys]
        workers = runs.available_cores() if jobs == -1 else jobs
        workers = 1 if cluster is not None else min(workers, max(1, len(todo)))
        trained = sum(shard.networks for shard in todo)
        found = runs.run_shards(_Timed(compute), todo, jobs=workers, cluster=cluster)
        with runs.progress(trained, folder.name, "networks") as bar:
            for index, (data, seconds, peak, process) in found:
                shard = todo[index]
                yield shard.key, data
                log(shard=shard.key, networks=shard.networks, seconds=round(seconds, 3))
                peaks[process] = max(peak, peaks.get(process, 0.0))
                bar.advance(shard.networks)
        peaks.setdefault(_process(), _peak_mb())
        cost = Cost(
            networks=sum(shard.networks for shard in shards),
            lstm=sum(shard.networks for shard in shards if shard.kind == "lstm"),
            trained=trained,
            seconds=time.monotonic() - began,
            peak_mb=sum(peaks.values()),
            processes=max(1, len(peaks) - (len(peaks) > 1)),
            finished_before=len(shards) - len(todo),
        )
        log(
            finished=folder.name,
            networks_trained=trained,
            networks_per_second=round(cost.rate, 2),
            wall_seconds=round(cost.seconds, 1),
            peak_mb=round(cost.peak_mb, 1),
            one_at_a_time=cost.one_at_a_time(config.get("units")),
        )
        costs.append(cost)

    return finish_pieces(folder, config, list(by_key), missing), costs[0]


class _Timed:
    """A function that also returns what calling it cost; a class, so that it can be sent to a worker."""

    def __init__(self, function: Callable[[Any], bytes]) -> None:
        self.function = function

    def __call__(self, shard: Any) -> tuple[bytes, float, float, str]:
        began = time.monotonic()
        data = self.function(shard)
        return data, time.monotonic() - began, _peak_mb(), _process()


def _process() -> str:
    return f"{os.uname().nodename}:{os.getpid()}"


def _peak_mb() -> float:
    """Return the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
