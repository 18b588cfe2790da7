"""A run that is killed again and again, and goes on each time with what it had finished."""

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_POLL = 0.02
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

    A moment is drawn from what is left of the undisturbed run: so long after the last stage that had ended
    there by then. The kill comes so long after that stage has ended here. So kills reach every stage, however
    slow the machine has become since.

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
    rng, wanted, ends = np.random.default_rng(seed), contents(folder / "whole"), timeline(folder / "whole")
    different = set(differences(contents(folder / "first"), wanted)) if warm else set()
    killed: list[int] = []
    outputs = [folder / "killed-0"]
    while True:
        process = subprocess.Popen(command(outputs[-1]))
        if len(killed) < kills:
            passed = max((ends[name] for name in finished(outputs[-1]) if name in ends), default=0.0)
            _wait_until(process, rng.uniform(passed, seconds), ends, outputs[-1])
            process.send_signal(signal.SIGKILL)
        code = process.wait()
        if code == -signal.SIGKILL:
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


def timeline(output: Path) -> dict[str, float]:
    """Return the seconds from the start of an undisturbed run to the end of each of its steps and stages."""
    entries = _costs(output)
    began = min(entry["time"] - entry["seconds"] for entry in entries)
    return {_name(entry): entry["time"] - began for entry in entries}


def _wait_until(
    process: subprocess.Popen[bytes], moment: float, ends: dict[str, float], output: Path
) -> None:
    """Wait until a run is where the undisturbed one was at this moment, or until it has ended."""
    before = {name: end for name, end in ends.items() if end <= moment}
    while before.keys() - set(finished(output)) and process.poll() is None:
        time.sleep(_POLL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=moment - max(before.values(), default=0.0))


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
    return [_name(entry) for entry in _costs(output)]


def _costs(output: Path) -> list[dict[str, Any]]:
    log = output / "log.jsonl"
    if not log.exists():
        return []
    lines = log.read_bytes().split(b"\n")[:-1]  # a kill may have cut the last one
    entries = [json.loads(line) for line in lines]
    # "lost" is the last stage and ends with its step; a kill between both does it again.
    return [entry for entry in entries if "cpu" in entry and entry.get("stage") != "lost"]


def _name(entry: dict[str, Any]) -> str:
    return f"{entry['step']}: {entry['stage']}" if "stage" in entry else str(entry["step"])
