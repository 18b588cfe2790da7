"""Killed at any moment of `save_model`: the old model or the new one loads, exactly."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unmet.runs import load_model, save_model

MODEL = """
import numpy as np
def model(name):
    values = np.random.default_rng(ord(name)).normal(size=200_000)
    return {"name": name, "first": float(values[0])}, {"w": values, "n": np.arange(3)}
"""

SAVE_FOREVER = (
    MODEL
    + """
import sys
from unmet.runs import save_model
models = [model("A"), model("B")]
print("ready", flush=True)
while True:
    for config, arrays in models:
        save_model(sys.argv[1], config, arrays)
"""
)

# One child for each system call that a save makes; it dies, without any clean-up, just before that call.
DIE_EVERYWHERE = (
    MODEL
    + """
import os, sys
from unmet.runs import load_model, save_model
from unmet.runs._atomic import remove_leftovers
config, arrays = model("B")
save_model(sys.argv[1] + "/warm-up", config, arrays)
died = 0
for moment in range(1000):
    folder = f"{sys.argv[1]}/{moment}"
    save_model(folder, *model("A"))
    child = os.fork()
    if child == 0:
        count = 0
        def die(event, _):
            global count
            if event in {"open", "os.rename", "os.remove", "os.scandir", "os.fsync", "fcntl.flock"}:
                if count == moment:
                    os._exit(9)
                count += 1
        sys.addaudithook(die)
        fsync = os.fsync
        os.fsync = lambda descriptor: (sys.audit("os.fsync"), fsync(descriptor))
        save_model(folder, config, arrays)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found, _ = load_model(folder)
    print(moment, os.waitstatus_to_exitcode(status), found["name"])
    if status == 0:
        break
"""
)


def expected(name: str) -> tuple[dict, dict]:
    values = np.random.default_rng(ord(name)).normal(size=200_000)
    return {"name": name, "first": float(values[0])}, {"w": values, "n": np.arange(3)}


def kill_while_saving(folder: Path, kills: int, seed: int) -> int:
    """Kill a saving process `kills` times, checking the model each time; return how often a save was torn."""
    rng = random.Random(seed)
    save_model(folder, *expected("A"))
    torn = 0
    for _ in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", SAVE_FOREVER, str(folder)], stdout=subprocess.PIPE
        ) as saver:
            assert saver.stdout is not None
            assert saver.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0.0, 0.1))
            saver.send_signal(signal.SIGKILL)
        torn += len(list(folder.iterdir())) > 2
        config, arrays = load_model(folder)
        wanted_config, wanted = expected(config["name"])
        assert config == wanted_config
        assert arrays.keys() == wanted.keys()
        for name, array in wanted.items():
            assert arrays[name].tobytes() == array.tobytes()
    save_model(folder, *expected("B"))
    assert len(list(folder.iterdir())) == 2, "leftovers were not removed by the next save"
    return torn


def test_killed_a_few_times(tmp_path: Path) -> None:
    kill_while_saving(tmp_path / "model", kills=5, seed=1)


@pytest.mark.slow
def test_killed_a_hundred_times(tmp_path: Path) -> None:
    torn = kill_while_saving(tmp_path / "model", kills=100, seed=2)
    assert torn >= 20, "the kills missed the saves, so this test shows nothing"


def test_killed_before_each_system_call(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIE_EVERYWHERE, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[-1][1:] == ["0", "B"]
    assert all(code == "9" for _, code, _ in lines[:-1])
    names = "".join(name for _, _, name in lines)
    assert names == "A" * names.count("A") + "B" * names.count("B"), (
        "one step must separate the old and the new"
    )
    assert names.count("A") >= 4
    assert names.count("B") >= 3
