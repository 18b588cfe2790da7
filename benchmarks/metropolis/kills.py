"""A run that is killed again and again, and goes on each time with what it had finished."""

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Shortest and longest time to a kill, as shares of the time of a whole run: long enough for stages to end.
_SOONEST, _LATEST = 0.05, 0.5
Command = Callable[[Path], list[str]]


@dataclass(frozen=True)
class Storm:
    """What a number of kills left behind.

    Attributes
    ----------
    seconds : of a run that nobody kills.
    killed : steps and stages that were finished when each kill came.
    runs : runs that came to their end.
    different : files whose bytes differ from those of the run that nobody killed.
    twice : stages that were finished more than once in a run.
    """

    seconds: float
    killed: list[int]
    runs: int
    different: list[str]
    twice: list[str]


def blow(command: Command, folder: Path, kills: int, *, warm: bool = False, seed: int = 0) -> Storm:
    """Run a command once to its end, then kill it at random moments until it was killed so often.

    Parameters
    ----------
    command : takes the output folder and returns the command.
    folder : new folders are made in it.
    warm : run it twice before: the first run compiles, and by its time the others would be killed too late.
    """
    for name in ("first", "whole") if warm else ("whole",):
        began = time.monotonic()
        subprocess.run(command(folder / name), check=True)
        seconds = time.monotonic() - began
    rng, wanted = np.random.default_rng(seed), contents(folder / "whole")
    different = set(differences(contents(folder / "first"), wanted)) if warm else set()
    killed: list[int] = []
    outputs = [folder / "killed-0"]
    while True:
        process = subprocess.Popen(command(outputs[-1]))
        try:
            left = rng.uniform(_SOONEST, _LATEST) * seconds if len(killed) < kills else None
            code = process.wait(timeout=left)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed.append(len(finished(outputs[-1])))
            continue
        if code:
            raise subprocess.CalledProcessError(code, process.args)
        different |= set(differences(contents(outputs[-1]), wanted))
        if len(killed) == kills:
            break
        outputs.append(folder / f"killed-{len(outputs)}")
    twice = [name for output in outputs for name, times in Counter(finished(output)).items() if times > 1]
    return Storm(seconds, killed, len(outputs), sorted(different), twice)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a run but those that tell of time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "log.jsonl" and ".unmet-read" not in path.parts
    }


def differences(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]


def finished(output: Path) -> list[str]:
    """Return the steps and stages that a run has noted as finished, each as often as it was."""
    log = output / "log.jsonl"
    if not log.exists():
        return []
    lines = log.read_bytes().split(b"\n")[:-1]  # a kill may have cut the last one
    entries = [json.loads(line) for line in lines]
    # "lost" is the last stage and ends with its step; a kill between both does it again.
    return [
        f"{one['step']}: {one['stage']}" if "stage" in one else one["step"]
        for one in entries
        if "cpu" in one and one.get("stage") != "lost"
    ]
