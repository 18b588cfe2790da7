"""The runner of grids: the same bytes after kills, with several processes and on a cluster."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from unmet.papers.mobility import Asked, run_bikes
from unmet.papers.mobility._cost import keras_hours
from unmet.papers.mobility._grid import run_grid

# A grid of shards that only wait, run with two processes; every computed shard leaves a mark.
SCRIPT = """
import sys, time
from dataclasses import dataclass
from pathlib import Path
from unmet.papers.mobility._grid import run_grid

@dataclass
class Wait:
    number: int
    marks: str
    kind = "linear"
    networks = 3

    @property
    def key(self):
        return f"{self.number:02d}.parquet"

def compute(shard):
    while len(list(Path(shard.marks).parent.glob("wait/shards/*.parquet"))) >= most:
        time.sleep(0.02)  # for the kill that is to come
    with open(shard.marks, "a") as file:
        file.write(f"{shard.number}\\n")
    return f"result {shard.number}".encode()

folder, most = Path(sys.argv[1]), int(sys.argv[2])
shards = [Wait(number, str(folder / "marks")) for number in range(24)]
run_grid(folder / "wait", {"seed": 1}, shards, compute, jobs=2)
"""


def start(command: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def kill(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def content(folder: Path) -> dict[str, bytes]:
    """All files that are promised to be the same, by name."""
    outside = ("log.jsonl", "marks", ".lock")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in outside and not path.name.endswith("-cost.md")
    }


def test_kills_change_nothing_and_finished_shards_are_not_computed_again(tmp_path):
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    for folder in (plain, killed):
        folder.mkdir()
    command = [sys.executable, "-c", SCRIPT]
    subprocess.run([*command, str(plain), "24"], check=True, timeout=300)
    shards = killed / "wait" / "shards"
    for wanted in (8, 16):
        process = start([*command, str(killed), str(wanted)])
        while len(list(shards.glob("*.parquet"))) < wanted:
            assert process.poll() is None
            time.sleep(0.02)
        kill(process)
    subprocess.run([*command, str(killed), "24"], check=True, timeout=300)
    assert content(killed) == content(plain)
    marks = [int(line) for line in (killed / "marks").read_text().split()]
    assert set(marks) == set(range(24))
    assert len(marks) <= 24 + 2 * 4  # at most what was under way at each kill, two per process
    assert '"networks_trained": ' in (killed / "wait" / "log.jsonl").read_text()


@dataclass
class Number:
    number: int
    networks: int = 2
    kind: str = "lstm"

    @property
    def key(self) -> str:
        return f"{self.number}.parquet"


def test_cost_counts_what_was_trained(tmp_path):
    shards = [Number(n) for n in range(4)]
    paths, cost = run_grid(tmp_path / "x", {"units": 32}, shards, lambda s: str(s.number).encode())
    assert [path.read_bytes() for path in paths] == [b"0", b"1", b"2", b"3"]
    assert (cost.networks, cost.lstm, cost.trained, cost.finished_before) == (8, 8, 8, 0)
    assert cost.peak_mb > 20
    text = cost.to_markdown(32)
    assert "8 networks trained" in text
    assert "would need" in text
    _, again = run_grid(tmp_path / "x", {"units": 32}, shards, lambda s: pytest.fail("computed again"))
    assert (again.trained, again.finished_before) == (0, 4)


def test_what_keras_would_need():
    assert "need 2 hours of one core for these 915 networks" in keras_hours(65, 850, 32)
    assert "need 60 minutes of one core" in keras_hours(0, 850, 32)
    assert "these have 128" in keras_hours(0, 850, 128)


@pytest.mark.slow
def test_ten_kills_of_the_bike_command(tmp_path):
    """The real command, killed at ten random moments."""
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    run = "from unmet.cli import main; main()"
    command = [sys.executable, "-c", run, "paper", "bikes", "--smoke", "--quiet", "--jobs", "2", "-o"]
    began = time.monotonic()
    subprocess.run([*command, str(plain)], check=True, timeout=600, stdout=subprocess.DEVNULL)
    longest = time.monotonic() - began
    rng = random.Random(5)
    for _ in range(10):
        process = start([*command, str(killed)])
        time.sleep(rng.uniform(0.2, longest))
        kill(process)
    subprocess.run([*command, str(killed)], check=True, timeout=600, stdout=subprocess.DEVNULL)
    assert content(killed) == content(plain)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(tmp_path):
    distributed = pytest.importorskip("distributed")
    run_bikes(tmp_path / "here", Asked("smoke", jobs=1))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        shards = tmp_path / "there" / "runs" / "bikes-city" / "shards"

        def kill_one() -> None:
            while not list(shards.glob("*.parquet")):
                time.sleep(0.05)
            os.kill(pids[0], signal.SIGKILL)

        import threading

        thread = threading.Thread(target=kill_one, daemon=True)
        thread.start()
        run_bikes(tmp_path / "there", Asked("smoke", cluster=client.scheduler.address))
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert content(tmp_path / "there") == content(tmp_path / "here")
