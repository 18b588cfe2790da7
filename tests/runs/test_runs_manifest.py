"""Resumable runs: finished shards are kept and checked, other runs refused, the same bytes after any kill."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unmet.runs import FolderInUseError, Run, RunError, code_version

CONFIG = {"seed": 1, "levels": [0.05, 0.95]}


def artefacts(folder: Path) -> dict[str, bytes]:
    """Everything that is promised to be the same: all files but the log."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("log.jsonl", None)
    return found


def test_a_whole_run(tmp_path: Path) -> None:
    with Run(tmp_path / "out", CONFIG) as run:
        assert not run.done("b")
        run.write("b", b"two")
        run.write("a.parquet", b"one")
        assert run.done("b")
        assert run.read("b") == b"two"
        run.log(seconds=0.5, shard="b")
        run.finish(["a.parquet", "b"])
    assert artefacts(tmp_path / "out").keys() == {"manifest.json", "shards/a.parquet", "shards/b"}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert manifest["config"] == CONFIG
    assert manifest["code"] == code_version()
    assert manifest["shards"]["b"] == {
        "bytes": 3,
        "sha256": "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3",
    }
    line = json.loads((tmp_path / "out" / "log.jsonl").read_text())
    assert line["seconds"] == 0.5
    assert line["time"] > 1e9


def test_interrupted_or_not_and_in_any_order_the_same_bytes(tmp_path: Path) -> None:
    keys = ["a", "b", "c"]
    with Run(tmp_path / "once", CONFIG) as run:
        for key in keys:
            run.write(key, key.encode())
        run.finish(keys)
    with Run(tmp_path / "twice", CONFIG) as run:
        run.write("c", b"c")
    with Run(tmp_path / "twice", dict(reversed(CONFIG.items()))) as run:
        assert [key for key in keys if not run.done(key)] == ["a", "b"]
        run.write("b", b"b")
        run.write("a", b"a")
        run.finish(iter(keys))
    assert artefacts(tmp_path / "once") == artefacts(tmp_path / "twice")
    with Run(tmp_path / "twice", CONFIG) as run:
        assert all(run.done(key) for key in keys)
        run.finish(keys)
    assert artefacts(tmp_path / "once") == artefacts(tmp_path / "twice")


@pytest.mark.parametrize("damage", [b"onf", b"", b"one more", None])
def test_a_changed_shard_is_not_done(tmp_path: Path, damage: bytes | None) -> None:
    with Run(tmp_path, CONFIG) as run:
        run.write("a", b"one")
        run.finish(["a"])
    good = artefacts(tmp_path)
    if damage is None:
        (tmp_path / "shards" / "a").unlink()
    else:
        (tmp_path / "shards" / "a").write_bytes(damage)
    with Run(tmp_path, CONFIG) as run:
        assert not run.done("a")
        with pytest.raises((RunError, FileNotFoundError)):
            run.read("a")
        with pytest.raises(RunError, match=r"1 shards .* are not finished: a"):
            run.finish(["a"])
        run.write("a", b"one")
        run.finish(["a"])
    assert artefacts(tmp_path) == good


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({"seed": 2, "levels": [0.05, 0.95]}, "1", "config differs in seed"),
        ({"seed": 1}, "1", "config differs in levels"),
        ({"seed": 1.0, "levels": [0.05, 0.95]}, "1", "config differs in the type of a value"),
        (CONFIG, "2", "made by version 1 of the code, and this is 2"),
    ],
)
def test_another_run_is_refused_or_recomputed(tmp_path: Path, config: dict, code: str, message: str) -> None:
    with Run(tmp_path, CONFIG, code="1") as run:
        run.write("a", b"one")
        run.finish(["a"])
        run.write("b", b"two")
    before = artefacts(tmp_path)
    with pytest.raises(RunError, match=message), Run(tmp_path, config, code=code):
        pass
    assert artefacts(tmp_path) == before
    with Run(tmp_path, config, code=code, changed="recompute") as run:
        assert not run.done("a")
        assert not run.done("b")
        assert os.listdir(tmp_path / "shards") == []
        run.write("a", b"new")
        run.finish(["a"])
    with Run(tmp_path, config, code=code) as run:
        assert run.read("a") == b"new"


def test_same_config_is_never_recomputed(tmp_path: Path) -> None:
    with Run(tmp_path, CONFIG) as run:
        run.write("a", b"one")
    with Run(tmp_path, CONFIG, changed="recompute") as run:
        assert run.done("a")


def test_a_damaged_manifest_is_said_to_be_so(tmp_path: Path) -> None:
    with Run(tmp_path, CONFIG) as run:
        run.write("a", b"one")
    for damage in (b"", b"{}\n", b"\xff", (tmp_path / "manifest.json").read_bytes()[:-5]):
        (tmp_path / "manifest.json").write_bytes(damage)
        with pytest.raises(RunError, match=r"manifest\.json"), Run(tmp_path, CONFIG):
            pass
    with Run(tmp_path, CONFIG, changed="recompute") as run:
        assert not run.done("a")


def test_a_journal_cut_short_loses_only_its_last_line(tmp_path: Path) -> None:
    with Run(tmp_path, CONFIG) as run:
        run.write("a", b"one")
        run.write("b", b"two")
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    with Run(tmp_path, CONFIG) as run:
        assert run.done("a")
        assert not run.done("b")
        assert os.listdir(tmp_path / "shards") == ["a"]
        run.write("c", b"three")
    with Run(tmp_path, CONFIG) as run:
        assert [run.done(key) for key in "abc"] == [True, False, True]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "mine").write_text("x")
    with pytest.raises(RunError, match="no run made"), Run(tmp_path, CONFIG):
        pass
    assert (tmp_path / "shards" / "mine").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="is a file"), Run(tmp_path / "file", CONFIG):
        pass


def test_two_runs_on_one_folder(tmp_path: Path) -> None:
    with Run(tmp_path, CONFIG) as run:
        with pytest.raises(FolderInUseError, match=f"process {os.getpid()}"), Run(tmp_path, CONFIG):
            pass
        run.write("a", b"one")
    with Run(tmp_path, CONFIG) as run:
        assert run.done("a")


def test_shards_that_do_not_belong(tmp_path: Path) -> None:
    with Run(tmp_path, CONFIG) as run:
        run.write("a", b"one")
        run.write("b", b"two")
        with pytest.raises(RunError, match="not among the keys of this run: b"):
            run.finish(["a"])


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".hidden", "a b", "é", "x" * 151, 3])
def test_keys_that_are_no_file_names(tmp_path: Path, key: object) -> None:
    with Run(tmp_path, CONFIG) as run:
        with pytest.raises(ValueError, match="cannot be a file name"):
            run.write(key, b"")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="cannot be a file name"):
            run.done(key)  # type: ignore[arg-type]


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="config must be a dict"):
        Run(tmp_path, [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"config\['a'\] is a tuple"):
        Run(tmp_path, {"a": (1,)})
    with pytest.raises(ValueError, match="changed must be"):
        Run(tmp_path, CONFIG, changed="ignore")  # type: ignore[arg-type]
    with pytest.raises(RunError, match="with statement"):
        Run(tmp_path, CONFIG).done("a")
    with Run(tmp_path, CONFIG) as run, pytest.raises(ValueError, match="data must be bytes"):
        run.write("a", "text")  # type: ignore[arg-type]


def test_a_full_disk_leaves_earlier_shards_intact(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from unmet.runs import Run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Run(sys.argv[1], {}, code="1") as run:
    run.write("a", b"one")
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
    for data in (b"x" * 1000, b"y"):  # too large for the shard's own file, then for the journal
        try:
            run.write("b", data)
        except OSError as error:
            print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    assert "cannot write b: the file is larger" in first
    assert "cannot write journal.jsonl" in second
    with Run(tmp_path, {}, code="1") as run:
        assert run.done("a")
        assert not run.done("b")
        run.write("b", b"x" * 1000)
        run.finish(["a", "b"])


SHARDS = 40
WORK = f"""
import hashlib, sys, time
from unmet.runs import Run
keys = [f"shard-{{number}}" for number in range({SHARDS})]
with Run(sys.argv[1], {{"seed": 7}}, code="1") as run:
    print("ready", flush=True)
    for key in keys:
        if run.done(key):
            continue
        run.log(computed=key)
        time.sleep(0.002)
        run.write(key, hashlib.sha512(key.encode()).digest() * 500)
    run.finish(keys)
"""


# The same, with the shards computed by two other processes.
SHARED_WORK = f"""
import hashlib, sys, time
from unmet.runs import Run, run_shards
keys = [f"shard-{{number}}" for number in range({SHARDS})]
def compute(key):
    time.sleep(0.002)
    return hashlib.sha512(key.encode()).digest() * 500
with Run(sys.argv[1], {{"seed": 7}}, code="1") as run:
    todo = [key for key in keys if not run.done(key)]
    list(run_shards(len, ["", ""], jobs=2))
    print("ready", flush=True)
    for index, data in run_shards(compute, todo, jobs=2):
        run.log(computed=todo[index])
        run.write(todo[index], data)
    run.finish(keys)
"""


def killed_at_random(folder: Path, kills: int, seed: int, program: str = WORK) -> None:
    rng = random.Random(seed)
    command = [sys.executable, "-c", program]
    subprocess.run([*command, str(folder / "whole")], check=True, capture_output=True)
    for _ in range(kills):
        with subprocess.Popen([*command, str(folder / "torn")], stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.3))
            worker.send_signal(signal.SIGKILL)
    subprocess.run([*command, str(folder / "torn")], check=True, capture_output=True)
    assert artefacts(folder / "torn") == artefacts(folder / "whole")
    lines = (folder / "torn" / "log.jsonl").read_bytes().splitlines()
    computed = [json.loads(line)["computed"] for line in lines if line.endswith(b"}")]
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
    killed_at_random(tmp_path, kills=10, seed=3, program=SHARED_WORK)
