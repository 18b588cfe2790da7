"""`python -m benchmarks.cluster`: a panel and a fit alone, on two Dask workers, and in a storm of kills.

The bytes must be the same. Costs are CPU seconds of the program and of the workers apart, beside the clock:
what the program itself costs bounds what more workers can gain.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cluster.model import table
from benchmarks.cluster.processes import Processes, Storm
from benchmarks.panel.config import Config
from benchmarks.panel.data import files, trip_files, write_districts

Costs = dict[str, dict[str, float]]
_ZONE = "America/New_York"
_CITY = """
import sys
from unmet.datasets import make_city
from unmet.pipeline import PanelInputs, Watching, panel_step
from unmet.runs import Steps
places, days, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
make_city("city", places=places, days=days, demand=2.4, seed=1).write(folder, snapshots=None, compress=False)
names = {"trips": "trips.csv", "status": "station_status_events.csv", "stations": "station_information.json"}
given = {key: f"{folder}/{name}" for key, name in names.items()}
inputs = PanelInputs.among({**given, "zone": "America/New_York"})
with Steps(f"{folder}/run", source=inputs.source) as steps, Watching(shown=False) as watching:
    panel_step(steps, inputs, watching, cache=False)
"""
_PANEL = """
import json, os, sys
from unmet.pipeline import panel
from unmet.runs import Cluster, connected
given, costs = json.loads(sys.argv[1]), sys.argv[2]
address = sys.argv[4] if sys.argv[3:] else None
shared = None if address is None else os.path.dirname(costs) + "/shared"
with connected(address, shared) as cluster:
    panel(**given, progress=False, cluster=cluster)
    if cluster is not None:
        with open(costs, "w") as file:
            json.dump(cluster.costs, file)
"""
_NOTHING = """
import sys, time
from unmet.runs import Cluster, KeptTasks, Task
def nothing(common, number, keep): return None
with Cluster(sys.argv[1], folder=sys.argv[2]) as cluster:
    for tasks in (20, 200):
        began = time.perf_counter()
        kept = KeptTasks(cluster, nothing, tasks, [Task(str(k), k) for k in range(tasks)])
        list(kept.results()), kept.forget()
print((time.perf_counter() - began) / tasks)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, and of CPU: of the program, and of the workers of its cluster."""

    seconds: float
    program: float
    workers: float | None
    killed: int = 0


def main() -> int:
    """Measure, compare, print; 1 if bytes differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rides", type=int, default=2, help="million rides in the panel; 0: no panel")
    parser.add_argument("--places", type=int, default=200, help="places in the fit; 0: no fit")
    parser.add_argument("--days", type=int, default=90, help="days in the fit")
    parser.add_argument("--workers", type=int, default=2)
    storm = "also kill a worker every so many seconds, and the scheduler once"
    parser.add_argument("--storm", type=float, help=storm)
    parser.add_argument("--spare", type=float, default=0.0, help="but no worker before it had so many CPU s")
    parser.add_argument("--data", type=Path, help="folder for the input, kept; default: a temporary one")
    parser.add_argument("--output", type=Path, help="file for the figures as JSON")
    chosen = parser.parse_args()
    same, found = True, {}
    with tempfile.TemporaryDirectory(prefix="unmet-bench-") as temporary:
        data = (chosen.data or Path(temporary)).resolve()
        with Processes(1) as processes:
            each = _task_cost(processes, Path(temporary))
        print(f"a task that does nothing: {1000 * each:.1f} ms")
        jobs = {}
        if chosen.rides:
            jobs["panel"] = _panel(data / f"rides-{chosen.rides}", chosen.rides, Path(temporary))
        if chosen.places:
            jobs["fit"] = _fit(data / f"city-{chosen.places}-{chosen.days}", chosen, Path(temporary))
        for name, (command, result) in jobs.items():
            costs, digests, tasks = {}, {}, {}
            ways = ["alone", "cluster", *(["storm"] if chosen.storm else [])]
            for way in ways:
                costs[way] = _run(command, way, chosen)
                digests[way], tasks[way] = result()
                cost = costs[way]
                words = f"{name:6}{way:8}{cost.seconds:9.1f} s{cost.program:9.1f} CPU s of the program"
                words += f"{cost.workers:9.1f} of {chosen.workers} workers" if cost.workers else ""
                print(words + (f", {cost.killed} kills" if cost.killed else ""), flush=True)
            equal = len(set(digests.values())) == 1
            same &= equal
            print(f"{'the same bytes' if equal else 'DIFFERENT BYTES'}")
            for kind, cost in tasks["cluster"].items():
                print(
                    f"  {cost['tasks']:.0f} {kind}: {cost['seconds']:.1f} s, longest {cost['longest']:.1f} s"
                )
            found[name] = {way: asdict(cost) for way, cost in costs.items()} | {"tasks": tasks["cluster"]}
            print(table(costs["cluster"].program, tasks["cluster"], each))
    if chosen.output is not None:
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        chosen.output.write_text(json.dumps({"task": each, "costs": found, "same": same}, indent=1))
    return int(not same)


def _panel(folder: Path, rides: int, temporary: Path):  # type: ignore[no-untyped-def]
    """Return the command that builds a panel of copies of a city, and what takes the digest of its file."""
    write_districts(Config(size="city", days=93, districts=rides, fewer=0), folder)
    output = temporary / "panel.parquet"
    given = {"trips": trip_files(folder, "modern", rides), "zone": _ZONE, "output": str(output)}
    given |= {kind: files(folder, kind, rides) for kind in ("status", "stations")}
    costs = temporary / "costs.json"
    command = [sys.executable, "-c", _PANEL, json.dumps(given, default=str), str(costs)]

    def result() -> tuple[str, Costs]:
        found = hashlib.sha256(output.read_bytes()).hexdigest()
        output.unlink()
        return found, json.loads(costs.read_text()) if costs.exists() else {}

    return lambda: command, result


def _fit(folder: Path, chosen: argparse.Namespace, temporary: Path):  # type: ignore[no-untyped-def]
    """Return what makes the command that fits a city whose panel is built, and the digest of its results."""
    if not (folder / "run" / "panel.parquet").exists():
        given = [str(chosen.places), str(chosen.days), str(folder)]
        subprocess.run([sys.executable, "-c", _CITY, *given], check=True)
    run = temporary / "run"

    def command() -> list[str]:
        shutil.copytree(folder / "run", run)
        return [sys.executable, "-m", "unmet", "fit", str(run), "-q", "--memory", "8GB"]

    def result() -> tuple[str, Costs]:
        digest = hashlib.sha256()
        for path in sorted(run.rglob("*")):
            if path.is_file() and path.name != "log.jsonl":
                digest.update(str(path.relative_to(run)).encode() + path.read_bytes())
        lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
        shutil.rmtree(run)
        return digest.hexdigest(), next((line["cluster"] for line in lines if "cluster" in line), {})

    return command, result


def _run(make, way: str, chosen: argparse.Namespace) -> Cost:  # type: ignore[no-untyped-def]
    """Run a command in one of three ways: alone, on a cluster, or there in a storm."""
    command = make()
    if way == "alone":
        return _timed(command)
    with Processes(chosen.workers) as processes:
        time.sleep(5)  # let them import
        storm = (
            Storm(processes, chosen.storm, 2 * chosen.storm, chosen.spare)
            if way == "storm"
            else nullcontext()
        )
        with storm:
            before = processes.cpu()
            cost = _timed([*command, "--cluster", processes.address])
            spent = processes.cpu() - before
        killed = len(storm.killed) if isinstance(storm, Storm) else 0
        # Of workers that were killed nobody knows what they spent.
        return Cost(cost.seconds, cost.program, None if killed else spent, killed)


def _timed(command: list[str]) -> Cost:
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Cost(seconds, used.ru_utime + used.ru_stime, 0.0)


def _task_cost(processes: Processes, temporary: Path) -> float:
    """Return the seconds that a task costs which does nothing, on one worker."""
    command = [sys.executable, "-c", _NOTHING, processes.address, str(temporary / "nothing")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    raise SystemExit(main())
