"""Time and memory of a contender, measured in a process of its own."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock (imports excluded) and of CPU, peak memory in bytes, seconds after each step."""

    seconds: float
    cpu: float
    peak: int
    steps: dict[str, float]


def metered(steps: Iterator[str]) -> None:
    """Run a contender to its end and print what it cost as one line of JSON."""
    begin, cpu = time.perf_counter(), time.process_time()
    done = {name: time.perf_counter() - begin for name in steps}
    total, cpu = time.perf_counter() - begin, time.process_time() - cpu
    scale = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    print(json.dumps({"seconds": total, "cpu": cpu, "peak": peak, "steps": done}))


def run(module: str, *arguments: str) -> Cost:
    """Run a module of this package in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return Cost(**json.loads(done.stdout.splitlines()[-1]))
