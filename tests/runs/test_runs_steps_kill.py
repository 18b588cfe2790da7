"""Killed at random moments and repeated: the same bytes, and nothing that was finished is done again."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SHARDS = 40
WORK = f"""
import hashlib, sys, time
from functools import partial
from pathlib import Path
from unmet.runs import Steps, run_shards, write_bytes
keys = [f"shard-{{number}}" for number in range({SHARDS})]
folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
def compute(key):
    time.sleep(0.002)
    return hashlib.sha512(key.encode()).digest() * 500
with Steps(folder, source={{"seed": 7}}) as steps:
    (folder / "shards").mkdir(exist_ok=True)
    todo = [key for key in keys if not steps.done(key, outputs=[f"shards/{{key}}"])]
    if jobs > 1:
        list(run_shards(len, [""] * jobs, jobs=jobs))
    print("ready", flush=True)
    for index, data in run_shards(compute, todo, jobs=jobs):
        key = todo[index]
        steps.log(computed=key)
        write = partial(write_bytes, folder / "shards" / key, data, tidy=False)
        steps.run(key, write, outputs=[f"shards/{{key}}"])
"""


def artefacts(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("log.jsonl", None)
    return found


def killed_at_random(folder: Path, kills: int, seed: int, jobs: int = 1) -> None:
    rng = random.Random(seed)
    torn, whole = ([sys.executable, "-c", WORK, str(folder / name), str(jobs)] for name in ("torn", "whole"))
    subprocess.run(whole, check=True, capture_output=True)
    for _ in range(kills):
        with subprocess.Popen(torn, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.3))
            worker.send_signal(signal.SIGKILL)
    subprocess.run(torn, check=True, capture_output=True)
    assert artefacts(folder / "torn") == artefacts(folder / "whole")
    assert len(artefacts(folder / "torn")) == SHARDS + 1
    lines = (folder / "torn" / "log.jsonl").read_bytes().splitlines()
    found = [json.loads(line) for line in lines if line.endswith(b"}")]
    computed = [line["computed"] for line in found if "computed" in line]
    assert set(computed) == {f"shard-{number}" for number in range(SHARDS)}
    assert len(computed) <= SHARDS + kills, "finished shards were computed again"


def test_killed_a_few_times(tmp_path: Path) -> None:
    killed_at_random(tmp_path, kills=3, seed=1)


@pytest.mark.slow
def test_killed_many_times(tmp_path: Path) -> None:
    for seed in range(10):
        (tmp_path / str(seed)).mkdir()
        killed_at_random(tmp_path / str(seed), kills=5, seed=seed)


@pytest.mark.slow
def test_killed_with_its_workers_at_work(tmp_path: Path) -> None:
    killed_at_random(tmp_path, kills=10, seed=3, jobs=2)
