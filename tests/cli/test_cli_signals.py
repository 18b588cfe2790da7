"""Signals at random moments: one line, the right exit code, nothing left behind."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def catches_signals(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM, or is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return True
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    gone = any(line.startswith("State:\tZ") for line in lines)
    return gone or bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def send(arguments: list[str], number: signal.Signals, after: float, scratch: Path) -> tuple[int, str]:
    environment = {**os.environ, "TMPDIR": str(scratch)}
    process = subprocess.Popen(
        [sys.executable, "-m", "unmet", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    while not catches_signals(process.pid):  # before main has begun, signals are Python's own affair
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from unmet.datasets import make_city

    folder = tmp_path_factory.mktemp("city") / "files"
    make_city("village", days=28, seed=3).write(folder, snapshots=None)
    return folder


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
@pytest.mark.parametrize("times", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_a_panel_that_is_stopped(city: Path, tmp_path: Path, number: signal.Signals, times: int) -> None:
    scratch, panel = tmp_path / "scratch", tmp_path / "panel.parquet"
    scratch.mkdir()
    files = [str(path) for path in sorted(city.glob("trips*"))]
    arguments = ["panel", *files, "--zone", "America/New_York", "-q", "-o", str(panel)]
    chance = random.Random(times)
    seen = set()
    for _ in range(times):
        code, told = send(arguments, number, chance.uniform(0.0, 1.5), scratch)
        assert "Traceback" not in told, told
        assert code in (0, CODES[number]), (code, told)
        if code:
            assert told.strip().splitlines()[-1].startswith("unmet panel: ")
        assert not list(scratch.iterdir())
        seen.add(code)
        panel.unlink(missing_ok=True)
    assert CODES[number] in seen
