"""Time and memory of a contender, measured in a process of its own, with all that it starts."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock (imports excluded) and of CPU, peak memory in bytes, seconds after each step.

    CPU time and memory are those of the contender and of the processes that it started. The peak is the
    larger of the contender's own and of the sums that were seen ten times a second, in which memory that
    processes share counts once for each.
    """

    seconds: float
    cpu: float
    peak: int
    steps: dict[str, float]


def metered(steps: Iterator[str]) -> None:
    """Run a contender to its end and print what it cost as one line of JSON."""
    begin, cpu = time.perf_counter(), _cpu()
    done = {name: time.perf_counter() - begin for name in steps}
    total, cpu = time.perf_counter() - begin, _cpu() - cpu
    scale = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    print(json.dumps({"seconds": total, "cpu": cpu, "peak": peak, "steps": done}))


def _cpu() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def run(module: str, *arguments: str, source: str | None = None) -> Cost:
    """Run a module of this package in a fresh interpreter, with `unmet` from the folder `source` if given."""
    path = os.pathsep.join(item for item in (source, os.environ.get("PYTHONPATH")) if item)
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "PYTHONPATH": path} if path else None
    sums = [0]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        watcher = threading.Thread(target=_watch, args=(process, sums))
        watcher.start()
        output, _ = process.communicate()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    cost = Cost(**json.loads(output.splitlines()[-1]))
    return replace(cost, peak=max(cost.peak, *sums))


def _watch(process: subprocess.Popen[str], sums: list[int]) -> None:
    """Note the memory of a process and of those that it started, ten times a second."""
    import psutil

    while process.poll() is None:
        try:
            first = psutil.Process(process.pid)
            sums.append(sum(one.memory_info().rss for one in [first, *first.children(recursive=True)]))
        except psutil.Error:  # one of them has just ended
            sums.append(0)
        time.sleep(0.1)
