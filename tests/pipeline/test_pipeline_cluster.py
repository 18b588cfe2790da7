"""A run on a Dask cluster ends in the same bytes as alone, also while its workers and its scheduler die."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unmet
from unmet.pipeline import panel
from unmet.runs import Cluster, WorkerDiedError

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default::ResourceWarning")


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a run but its log and what is kept for the next one."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if name != "log.jsonl" and not name.startswith(".unmet")
    }


@pytest.fixture(scope="module")
def files(city: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The trips of the city in three files."""
    folder = tmp_path_factory.mktemp("parts")
    with gzip.open(city / "trips.csv.gz", "rt") as file:
        header, *lines = file.readlines()
    for number, part in enumerate(np.array_split(np.array(lines, object), 3)):
        (folder / f"trips-{number}.csv").write_text(header + "".join(part))
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two worker processes; each run gives them a folder of its own."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


def test_a_run_on_a_cluster_has_the_same_bytes(
    given: dict[str, Any], finished: unmet.Run, cluster: Any, tmp_path: Path
) -> None:
    found = unmet.run(
        **given, output=tmp_path / "out", network="linear", jobs=1, progress=False, cluster=cluster
    )
    there, here = contents(found.folder), contents(finished.folder)
    assert [name for name in there.keys() | here.keys() if there.get(name) != here.get(name)] == []
    assert not (tmp_path / "out" / ".unmet-cluster").exists()


def test_a_panel_of_several_files_has_the_same_bytes(
    given: dict[str, Any], files: list[Path], cluster: Any, tmp_path: Path
) -> None:
    asked = {**given, "trips": files, "progress": False}
    alone = panel(**asked, output=tmp_path / "alone.parquet")
    shared = panel(**asked, output=tmp_path / "shared.parquet", cluster=cluster)
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "shared.parquet").read_bytes()
    alone.pop("output"), shared.pop("output")
    assert json.dumps(alone, default=str) == json.dumps(shared, default=str)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.parquet", "shared.parquet"]


def test_the_command_does_the_same(city: Path, files: list[Path], cluster: Any, tmp_path: Path) -> None:
    from unmet.cli import main

    status = str(city / "station_status_events.csv.gz")
    asked = [*map(str, files), "--status", status, "--zone", "America/New_York", "-q"]
    for name, more in (("alone", []), ("shared", ["--cluster", cluster.scheduler.address])):
        with pytest.raises(SystemExit) as end:
            main(["panel", *asked, "-o", str(tmp_path / f"{name}.csv"), *more])
        assert not end.value.code
    assert (tmp_path / "alone.csv").read_bytes() == (tmp_path / "shared.csv").read_bytes()


def test_a_file_that_cannot_be_read_is_told_as_alone(
    given: dict[str, Any], files: list[Path], cluster: Any, tmp_path: Path
) -> None:
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    asked = {**given, "trips": [*files, tmp_path / "odd.csv"], "progress": False}
    with pytest.raises(ValueError, match=r"odd\.csv") as alone:
        panel(**asked, output=tmp_path / "alone.parquet")
    with pytest.raises(ValueError, match=r"odd\.csv") as shared:
        panel(**asked, output=tmp_path / "shared.parquet", cluster=cluster)
    assert str(alone.value) == str(shared.value)
    # What the workers read is kept, and the next call begins with it.
    kept = list((tmp_path / ".unmet-cluster-shared.parquet" / "read").glob("*.json"))
    assert len(kept) == len(files)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The files of a town."""
    from unmet.datasets import make_city

    city = tmp_path_factory.mktemp("town")
    make_city("town", places=12, days=35, seed=1).write(city, snapshots=None)
    return {
        "trips": city / "trips.csv.gz",
        "status": city / "station_status_events.csv.gz",
        "stations": city / "station_information.json",
        "zone": "America/New_York",
    }


@pytest.fixture(scope="module")
def alone(town: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run of the town alone writes."""
    return contents(unmet.run(**town, output=tmp_path_factory.mktemp("alone") / "out", progress=False).folder)


@pytest.mark.slow
def test_a_storm_changes_no_byte(town: dict[str, Any], alone: dict[str, bytes], tmp_path: Path) -> None:
    """Workers are killed again and again, and the scheduler once, while a run goes on."""
    from benchmarks.cluster.processes import Processes, Storm

    with Processes(2) as processes, Storm(processes, 3.0, 6.0, spare=3.5) as storm:
        found = unmet.run(**town, output=tmp_path / "out", progress=False, cluster=processes.address)
    assert storm.killed.count("scheduler") == 1
    assert len(storm.killed) >= 3
    there = contents(found.folder)
    assert [name for name in there.keys() | alone.keys() if there.get(name) != alone.get(name)] == []


@pytest.mark.slow
def test_a_program_that_is_killed_goes_on(
    town: dict[str, Any], alone: dict[str, bytes], tmp_path: Path
) -> None:
    from benchmarks.cluster.processes import Processes

    output = tmp_path / "out"
    command = [sys.executable, "-m", "unmet", "run", str(town["trips"]), "-q", "-o", str(output)]
    for name in ("status", "stations", "zone"):
        command += [f"--{name}", str(town[name])]
    finished = []
    with Processes(2) as processes:
        command += ["--cluster", processes.address]
        while len(finished) < 3:  # killed after one more task of the fit each time
            program = subprocess.Popen(command)
            while program.poll() is None and len(list(output.rglob("*.done"))) <= len(finished):
                time.sleep(0.1)
            program.kill()
            if program.wait() == 0:
                break
            finished.append(len(list(output.rglob("*.done"))))
        subprocess.run(command, check=True)
    assert finished
    there = contents(output)
    assert [name for name in there.keys() | alone.keys() if there.get(name) != alone.get(name)] == []
    assert not (output / ".unmet-cluster").exists()


@pytest.mark.slow
def test_a_file_that_kills_its_reader_is_named(
    given: dict[str, Any], files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers start with a module that dies at one file, as a parser that crashes would."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\n"
        "before = os.path.abspath\n"
        "import builtins\n"
        "opened = builtins.open\n"
        "def deadly(path, *more, **others):\n"
        "    if 'trips-1.csv' in str(path) and 'UNMET_WORKER' in os.environ:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return opened(path, *more, **others)\n"
        "builtins.open = deadly\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with (
        Cluster("local", workers=2, folder=tmp_path / "shared") as cluster,
        pytest.raises(WorkerDiedError, match=r"reading trips-1\.csv: every worker that tried it died"),
    ):
        panel(**{**given, "trips": files, "progress": False}, output=tmp_path / "x.parquet", cluster=cluster)
