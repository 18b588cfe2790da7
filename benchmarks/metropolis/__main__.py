"""`python -m benchmarks.metropolis --places N --days D`: what each step and stage of `unmet run` costs.

A simulated city is written as plain files and read back. The city is kept in `--data` for the next time.
Then the estimates are held against the truth of the city, and the page is opened in a browser.
With `--kills N` the run is instead killed at N random moments, and must end in the same bytes.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.metropolis.kills import blow
from benchmarks.metropolis.page import open_page
from benchmarks.metropolis.truth import compare, words

_CITY = """
import sys
from unmet.datasets import make_city
places, days, demand, folder = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
city = make_city("city", places=places, days=days, demand=demand, seed=1)
city.write(folder, snapshots=None, compress=False)
"""


@dataclass(frozen=True)
class Cost:
    """A step or a stage of one: seconds by the clock and of CPU, and most memory held meanwhile, in bytes."""

    name: str
    seconds: float
    cpu: float
    peak: int


def main() -> int:
    """Simulate, run, print a table; 1 if the run failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=250)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--demand", type=float, default=2.4, help="mean requests per place and hour")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--data", type=Path, help="folder for the city, kept; default: a temporary one")
    parser.add_argument("--keep", type=Path, help="folder for the run, kept; default: a temporary one")
    parser.add_argument(
        "--again", action="store_true", help="look at the run in --keep once more, run nothing"
    )
    parser.add_argument("--kills", type=int, default=0, metavar="N", help="kill the run at N random moments")
    parser.add_argument("--output", type=Path, help="file for the figures as JSON")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unmet-bench-") as temporary:
        folder = chosen.data or Path(temporary)
        city = folder / f"city-{chosen.places}-{chosen.days}-{chosen.demand:g}"
        if not (city / "city.json").exists():
            given = [str(chosen.places), str(chosen.days), str(chosen.demand), str(city)]
            subprocess.run([sys.executable, "-c", _CITY, *given], check=True)
        rides = json.loads((city / "city.json").read_text())["rides"]
        if chosen.kills:
            return _kill(city, Path(temporary), chosen.jobs, chosen.kills)
        run = chosen.keep or Path(temporary) / "out"
        costs = read_costs(run, []) if chosen.again else measure(city, run, chosen.jobs)
        page = (run / "report.html").stat().st_size
        found, opened = compare(run, city), open_page(run / "report.html")
    rows = chosen.places * chosen.days * 24
    steps = [one for one in costs if not one.name.startswith(" ")]
    both = (sum(one.seconds for one in steps), sum(one.cpu for one in steps))
    whole = Cost("all", *both, max(one.peak for one in costs))
    print(f"{chosen.places:,} places x {chosen.days} days, {rides:,} rides, page of {page / 1e6:.1f} MB")
    print(f"{'':24}{'seconds':>10}{'CPU s':>10}{'us / row':>10}{'peak GB':>10}")
    for one in [*costs, whole]:
        per_row = 1e6 * one.cpu / rows
        print(f"{one.name:24}{one.seconds:10.1f}{one.cpu:10.1f}{per_row:10.2f}{one.peak / 1e9:10.2f}")
    print("\n".join(words(found)))
    if opened is not None:
        print(
            f"the page opens in {opened.seconds:.2f} s, at a quarter of the speed in {opened.slow:.2f} s; "
            f"{opened.places - len(opened.missing):,} of {opened.places:,} places found, "
            f"{1000 * opened.find:.0f} ms each"
        )
    if chosen.output is not None:
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        figures = {"places": chosen.places, "days": chosen.days, "rides": rides, "page": page}
        figures |= {"truth": found, "opened": None if opened is None else asdict(opened)}
        chosen.output.write_text(json.dumps({**figures, "costs": [vars(one) for one in [*costs, whole]]}))
    return 0


def _command(city: Path, output: Path, jobs: int) -> list[str]:
    command = [sys.executable, "-m", "unmet", "run", str(city / "trips.csv")]
    command += ["--status", str(city / "station_status_events.csv")]
    command += ["--stations", str(city / "station_information.json"), "--weather", str(city / "weather.csv")]
    return [
        *command,
        "--zone",
        "America/New_York",
        "-o",
        str(output),
        "--jobs",
        str(jobs),
        "--no-cache",
        "-q",
    ]


def _kill(city: Path, folder: Path, jobs: int, kills: int) -> int:
    """Kill runs of the city and tell what came of it; 1 if bytes differ or a stage was done twice."""
    found = blow(lambda output: _command(city, output, jobs), folder, kills)
    print(f"{found.seconds:.0f} s for a run that nobody kills")
    print(f"{len(found.killed)} kills in {found.runs} runs; finished steps and stages then: {found.killed}")
    print(f"files that differ: {', '.join(found.different) or 'none'}")
    print(f"steps and stages done twice: {', '.join(found.twice) or 'none'}")
    return int(bool(found.different or found.twice))


def measure(city: Path, output: Path, jobs: int) -> list[Cost]:
    """Run the pipeline on a city in a process of its own and return the costs in the order of the log."""
    command = _command(city, output, jobs)
    shutil.rmtree(output, ignore_errors=True)
    seen: list[tuple[float, int]] = []
    with subprocess.Popen(command) as process:
        watcher = threading.Thread(target=_watch, args=(process, seen))
        watcher.start()
        process.wait()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return read_costs(output, seen)


def read_costs(output: Path, seen: list[tuple[float, int]]) -> list[Cost]:
    """Return the costs of steps and stages that a run noted, with the most memory that was seen meanwhile."""
    costs = []
    for line in (output / "log.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if "cpu" in entry:
            began = entry["time"] - entry["seconds"]
            peak = max((memory for at, memory in seen if began <= at <= entry["time"]), default=0)
            name = f"  {entry['step']}: {entry['stage']}" if "stage" in entry else entry["step"]
            costs.append(Cost(name, entry["seconds"], entry["cpu"], peak))
    return costs


def _watch(process: subprocess.Popen[bytes], seen: list[tuple[float, int]]) -> None:
    """Note the memory of a process and of those that it started, five times a second."""
    import psutil

    while process.poll() is None:
        try:
            first = psutil.Process(process.pid)
            held = sum(one.memory_info().rss for one in [first, *first.children(recursive=True)])
            seen.append((time.time(), held))
        except psutil.Error:  # one of them has just ended
            pass
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
