"""Where the files of a cluster go: beside what they are made for, until that is finished."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.runs import Cluster, Steps, connected

if TYPE_CHECKING:
    from unmet.mobility.sources import ReadStore

FOLDER = ".unmet-cluster"


@contextmanager
def on_cluster(given: Any, steps: Steps, workers: int) -> Iterator[Cluster | None]:
    """Give the cluster of a run, with a folder in that of the run; it stays after an error, to go on from."""
    folder = steps.home / FOLDER
    with connected(given, folder, workers) as cluster:
        yield cluster
        if cluster is not None and cluster.costs:
            steps.log(cluster=cluster.costs)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def beside_file(
    given: Any, output: str | os.PathLike[str]
) -> Iterator[tuple[Cluster | None, ReadStore | None]]:
    """Give the cluster that makes a file, with a folder beside it, and a store in which files are read."""
    if given is None:
        yield None, None
        return
    from unmet.mobility.sources import ReadStore

    target = Path(output)
    folder = target.parent / f"{FOLDER}-{target.name}"
    with connected(given, folder) as cluster:
        yield cluster, ReadStore(folder / "read", cluster=cluster)
    shutil.rmtree(folder, ignore_errors=True)
