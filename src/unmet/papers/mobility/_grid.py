"""The runner of large grids: independent shards, one Parquet file each, resumed after any interruption."""

import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from unmet.papers.mobility._keras import keras_hours


class Shard(Protocol):
    """A part of a grid that is computed at once: it holds all that its results depend on."""

    @property
    def key(self) -> str: ...
    @property
    def networks(self) -> int: ...
    @property
    def kind(self) -> str: ...


@dataclass(frozen=True)
class Cost:
    """What computing the shards took; no part of the results."""

    networks: int
    lstm: int
    trained: int
    seconds: float
    peak_mb: float
    processes: int
    finished_before: int

    def to_markdown(self, units: int | None) -> str:
        lines = [
            f"{self.trained:,} networks trained in {self.seconds:,.0f} s on {self.processes} process(es): "
            f"{self.trained / max(self.seconds, 1e-9):,.1f} networks/s; peak memory of all processes "
            f"together {self.peak_mb:,.0f} MB."
        ]
        if self.finished_before:
            lines.append(f"{self.finished_before:,} shards had been finished before and were not run again.")
        lines.append(keras_hours(self.networks - self.lstm, self.lstm, units))
        return "\n".join(lines) + "\n"


def run_grid(
    name: str,
    folder: Path,
    config: dict[str, Any],
    shards: Sequence[Any],
    compute: Callable[[Any], bytes],
    *,
    jobs: int = 1,
    cluster: Any = None,
) -> tuple[list[Path], Cost]:
    """Compute the shards that are not finished, and return the files of all of them.

    The folder `runs/name` holds them and the manifest; see `unmet.runs.Run`. The files are the same bytes
    whatever the number of processes, the cluster, and the times that it was killed.
    """
    from unmet import runs

    workers = runs.available_cores() if jobs == -1 else jobs
    began = time.monotonic()
    peaks: dict[str, float] = {}
    trained = 0
    with runs.Run(folder / "runs" / name, config, changed="recompute") as run:
        todo = [shard for shard in shards if not run.done(shard.key)]
        total = sum(shard.networks for shard in todo)
        found = runs.run_shards(
            _Timed(compute),
            todo,
            jobs=1 if cluster is not None else min(workers, max(1, len(todo))),
            cluster=cluster,
        )
        with runs.progress(total, name, "networks") as bar:
            for index, (data, seconds, peak, process) in found:
                shard = todo[index]
                run.write(shard.key, data)
                run.log(shard=shard.key, networks=shard.networks, seconds=round(seconds, 3))
                peaks[process] = max(peak, peaks.get(process, 0.0))
                trained += shard.networks
                bar.advance(shard.networks)
        run.finish(shard.key for shard in shards)
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
        run.log(
            finished=name,
            networks_trained=trained,
            networks_per_second=round(trained / cost.seconds, 2),
            wall_seconds=round(cost.seconds, 1),
            peak_mb=round(cost.peak_mb, 1),
            one_at_a_time=keras_hours(cost.networks - cost.lstm, cost.lstm, config.get("units")),
        )
        return [run.path(shard.key) for shard in shards], cost


class _Timed:
    """The function with its cost beside the result."""

    def __init__(self, function: Callable[[Any], bytes]) -> None:
        self.function = function

    def __call__(self, shard: Any) -> tuple[bytes, float, float, str]:
        began = time.monotonic()
        data = self.function(shard)
        return data, time.monotonic() - began, _peak_mb(), _process()


def _process() -> str:
    return f"{os.uname().nodename}:{os.getpid()}"


def _peak_mb() -> float:
    """The most memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
