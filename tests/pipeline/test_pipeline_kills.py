"""A run that is killed again and again ends in the same bytes, and does no finished stage twice."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

_KILLS = 30


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but those that tell of time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "log.jsonl" and ".unmet-read" not in path.parts
    }


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_kills_at_any_moment_lose_the_stage_under_way_and_no_more(city: Path, tmp_path: Path):
    def start(output: Path) -> subprocess.Popen[bytes]:
        files = [city / "trips.csv.gz", "--status", city / "station_status_events.csv.gz"]
        files += ["--stations", city / "station_information.json", "--zone", "America/New_York"]
        command = [
            sys.executable,
            "-m",
            "unmet",
            "run",
            *map(str, files),
            "-o",
            str(output),
            "--jobs",
            "1",
            "-q",
        ]
        return subprocess.Popen(command)

    for name in ("first", "whole"):  # the first one compiles: by its time the others would be killed too late
        began = time.monotonic()
        assert start(tmp_path / name).wait() == 0
        seconds = time.monotonic() - began
    assert contents(tmp_path / "first") == contents(tmp_path / "whole")
    rng, killed, output = np.random.default_rng(0), 0, tmp_path / "killed"
    rounds = 0
    while killed < _KILLS:
        rounds += 1
        process = start(output)
        try:
            code = process.wait(timeout=float(rng.uniform(0.05, 1.0) * seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            continue
        assert code == 0
        assert contents(output) == contents(tmp_path / "whole")
        output = tmp_path / f"killed-{rounds}"
    assert start(output).wait() == 0
    assert contents(output) == contents(tmp_path / "whole")
    for folder in tmp_path.glob("killed*"):
        lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        done = Counter((line["step"], line.get("stage")) for line in lines if "cpu" in line)
        # "lost" is the last stage and ends with its step; a kill between both does it again.
        twice = [key for key, times in done.items() if times > 1 and key[1] != "lost"]
        assert not twice
