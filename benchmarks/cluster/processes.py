"""A Dask scheduler and its workers as processes that are started again when they end, like containers."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Processes:
    """A scheduler and workers of one thread each on this computer.

    Parameters
    ----------
    workers : number of worker processes.
    log : file for what they say; None: nowhere.
    """

    def __init__(self, workers: int = 2, log: Path | None = None) -> None:
        self._log = log
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._names = ["scheduler", *(f"worker-{number}" for number in range(workers))]
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.restarts = 0

    def __enter__(self) -> "Processes":
        self._folder = tempfile.TemporaryDirectory(prefix="unmet-dask-")
        for name in self._names:
            self._running[name] = self._start(name)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()
        for process in self._running.values():
            process.kill()
            process.wait()
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    def cpu(self, only: str | None = None) -> float:
        """Return the CPU seconds of all workers that run now, or of one."""
        import psutil

        spent = 0.0
        with self._lock:
            for name, process in self._running.items():
                if name != "scheduler" and only in (None, name):
                    with contextlib.suppress(psutil.Error):
                        times = psutil.Process(process.pid).cpu_times()
                        spent += times.user + times.system
        return spent

    def kill(self, name: str) -> None:
        """Kill a process without a word; it is started again at once."""
        with self._lock:
            self._running[name].send_signal(signal.SIGKILL)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        if name == "scheduler":
            options = ["scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard"]
        else:
            options = ["worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            options += ["--memory-limit", "0", "--host", "127.0.0.1", "--local-directory", self._folder.name]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        out: Any = subprocess.DEVNULL if self._log is None else open(self._log, "ab")  # noqa: SIM115
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *options], env=environment, stdout=out, stderr=out
        )

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            with self._lock:
                for name, process in self._running.items():
                    if process.poll() is not None:
                        self._running[name] = self._start(name)
                        self.restarts += 1


class Storm:
    """Kills a worker every few seconds in turn, and the scheduler once, until it is left.

    Parameters
    ----------
    every : seconds between two kills.
    scheduler_at : seconds after which the scheduler is killed.
    spare : CPU seconds that a worker gets before it is killed: on a busy computer a few seconds by the clock
        do not suffice to import what a task needs.
    """

    def __init__(self, processes: Processes, every: float, scheduler_at: float, spare: float = 0.0) -> None:
        self._processes, self._every, self._at, self._spare = processes, every, scheduler_at, spare
        self._over = threading.Event()
        self.killed: list[str] = []

    def __enter__(self) -> "Storm":
        self._thread = threading.Thread(target=self._blow, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _blow(self) -> None:
        began, number = time.monotonic(), 0
        workers = [name for name in self._processes._names if name != "scheduler"]
        kill: Callable[[str], None] = self._processes.kill
        while not self._over.wait(self._every):
            name = workers[number % len(workers)]
            if "scheduler" not in self.killed and time.monotonic() - began >= self._at:
                name = "scheduler"
            elif self._processes.cpu(name) < self._spare:
                continue
            else:
                number += 1
            kill(name)
            self.killed.append(name)
