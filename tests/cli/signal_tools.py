"""Commands that get signals at random moments, and what must hold afterwards."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from unmet.runs import TemporaryFolder

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
SHARED_MEMORY = Path("/dev/shm")
PATIENCE = 300  # seconds that a busy machine may take for what takes one


@dataclass
class Ended:
    """How a command ended after a signal."""

    number: signal.Signals
    code: int
    told: str


@dataclass
class Storm:
    """Sends signals to one command again and again.

    Parameters
    ----------
    arguments : the command.
    scratch : its temporary folder.
    most : seconds within which the signals come; less once a command has been seen to end sooner.
    """

    arguments: list[str]
    scratch: Path
    most: float
    seed: int = 0
    ended: list[Ended] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scratch.mkdir(exist_ok=True)
        self.chance = random.Random(self.seed)

    def send(self, number: signal.Signals, at_once: bool = False) -> Ended:
        """Start the command, send a signal at once or at a random moment, and check what it leaves."""
        process = subprocess.Popen(
            [sys.executable, "-m", "unmet", *self.arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.scratch), "PYTHONFAULTHANDLER": "1"},
            start_new_session=True,
        )
        while not catches_signals(process.pid):  # before main has begun, signals are Python's own affair
            time.sleep(0.01)
        began = time.monotonic()
        moment = began + self.chance.uniform(0.0, 0.0 if at_once else self.most)
        while time.monotonic() < moment and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is not None:
            self.most = min(self.most, 1.2 * (time.monotonic() - began))
        if number is signal.SIGINT and self.chance.random() < 0.5:  # as a terminal does
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)
        ended = Ended(number, process.returncode, told)
        self.ended.append(ended)
        self._check(ended, process.pid)
        return ended

    def _check(self, ended: Ended, session: int) -> None:
        assert "Traceback" not in ended.told, ended.told
        assert ended.code in (0, CODES[ended.number]), ended
        if ended.number is not signal.SIGKILL:
            assert len(ended.told.strip().splitlines()) <= (ended.code > 0), ended.told
        deadline = time.monotonic() + PATIENCE
        while alive(session) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(session), f"processes outlive their command: {alive(session)}"
        if ended.number is signal.SIGKILL:
            for made in self.scratch.iterdir():  # one without a lock has a minute to get one
                os.utime(made, (0, 0))
            TemporaryFolder(self.scratch).close()  # what the next start does
        assert not list(self.scratch.iterdir()), ended
        # Parcels bear the number of the process that made them; other tests make some as well.
        left = list(SHARED_MEMORY.glob(f"unmet-{session}-*"))
        assert not left or ended.number is signal.SIGKILL, left

    def counts(self) -> str:
        """Say how the commands ended, for the log."""
        found: dict[tuple[str, int], int] = {}
        for one in self.ended:
            found[one.number.name, one.code] = found.get((one.number.name, one.code), 0) + 1
        return ", ".join(f"{name} → {code}: {times}" for (name, code), times in sorted(found.items()))


def catches_signals(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM, or is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return True
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    gone = any(line.startswith("State:\tZ") for line in lines)
    return gone or bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def alive(session: int) -> list[str]:
    """Command lines of the processes in a session."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if entry.name.isdecimal():
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(parts[3]) == session and parts[0] != "Z":
                    found.append(f"{entry.name} {(entry / 'cmdline').read_bytes()[:200]!r}")
    return found
