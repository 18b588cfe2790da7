"""`python -m benchmarks.panel`: twenty million rides to an hourly panel, by `unmet` and by pandas."""

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.panel.compare import OURS, differences, verdicts
from benchmarks.panel.config import FULL, MEDIUM, SMALL, Config
from benchmarks.panel.data import write_districts, write_parquet
from benchmarks.panel.meter import Cost, run

_JOB = """\
both:             files in; ids as text; local stamps to UTC; ten columns per place and hour out
pandas + checks:  also ids mapped by the station information; rows that make no sense counted and left
                  out; equal rides and records once; rides of test stations left out; PyArrow's
                  engine on all cores, the faster one (with fewer rides pandas' own, too)
pandas plain:     none of that: reads only the columns that the panel needs, by PyArrow's engine, and
                  believes every row
unmet:            all of that, and: lines checked against the bytes, rejects kept with line and reason,
                  all columns of the rides kept, records reconciled with rides (pandas takes every change
                  of stock to have its record), five more columns"""


def main() -> int:
    """Write the input, run the contenders, compare their panels, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true", help="seconds instead of minutes, for CI")
    size.add_argument("--medium", action="store_true", help="four million rides")
    parser.add_argument("--data", type=Path, help="folder for the input, kept; default: a temporary one")
    parser.add_argument("--output", type=Path, help="file for the figures as JSON")
    chosen = parser.parse_args()
    config = SMALL if chosen.small else MEDIUM if chosen.medium else FULL
    if chosen.data is not None:
        return compare(config, chosen.data, chosen.output)
    with tempfile.TemporaryDirectory(prefix="unmet-bench-") as folder:
        return compare(config, Path(folder), chosen.output)


def compare(config: Config, folder: Path, output: Path | None) -> int:
    """Run the contenders on one input; 1 if their panels differ or a floor is missed."""
    rides = write_districts(config, folder)
    write_parquet(folder, config.fewer)
    large, fewer = config.districts, config.fewer
    print(f"input: {large} districts, copies of one simulated city of {rides:,} rides with own ids")
    print(_JOB)
    costs: dict[str, Cost] = {}

    def measure(name: str, districts: int, module: str, *arguments: str) -> None:
        target = str(folder / f"{name}.parquet")
        cost = run(f"benchmarks.panel.{module}", str(folder), str(districts), config.zone, *arguments, target)
        costs[name] = cost
        steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in cost.steps.items())
        print(
            f"{name:14}{districts * rides:>12,} rides {cost.seconds:7.1f} s {cost.cpu:7.1f} CPU s "
            f"{1e6 * cost.seconds / districts / rides:6.2f} µs/ride peak {cost.peak / 1e9:5.2f} GB ({steps})",
            flush=True,
        )

    measure("unmet-fewer", fewer, "with_unmet", config.memory_limit, "csv")
    # Other work comes and goes on most machines: ours is run before, between and after the long ones.
    measure("unmet", large, "with_unmet", config.memory_limit, "csv")
    measure("pandas-plain", large, "with_pandas", "plain", "pyarrow", "csv")
    measure("unmet-second", large, "with_unmet", config.memory_limit, "csv")
    measure("pandas-checks", large, "with_pandas", "checks", "pyarrow", "csv")
    measure("unmet-third", large, "with_unmet", config.memory_limit, "csv")
    measure("unmet-again", fewer, "with_unmet", config.memory_limit, "csv")
    measure("checks-fewer", fewer, "with_pandas", "checks", "c", "csv")
    measure("checks-arrow", fewer, "with_pandas", "checks", "pyarrow", "csv")
    measure("unmet-typed", fewer, "with_unmet", config.memory_limit, "parquet")
    measure("pandas-typed", fewer, "with_pandas", "plain", "pyarrow", "parquet")
    panels = {name: folder / f"{name}.parquet" for name in costs}
    different = {
        "pandas + checks": differences(panels["unmet"], panels["pandas-checks"]),
        "pandas plain": differences(panels["unmet"], panels["pandas-plain"]),
        "pandas + checks, PyArrow": differences(panels["unmet-fewer"], panels["checks-arrow"]),
        "trips as Parquet": differences(panels["unmet-fewer"], panels["unmet-typed"]),
        "trips as Parquet, pandas": differences(panels["unmet-typed"], panels["pandas-typed"]),
    }
    for name, counts in different.items():
        some = ", ".join(f"{column} {count:,}" for column, count in counts.items() if count)
        print(f"rows that differ, {name}: {some or 'none'}")
    same_bytes = all(
        len({panels[name].read_bytes() for name in names}) == 1
        for names in (OURS, ("unmet-fewer", "unmet-again"))
    )
    figures, reached = verdicts(costs, large / fewer, different, same_bytes)
    for name, value in figures.items():
        print(f"{value:8.2f}  {name}")
    for name, good in reached.items():
        print(f"{'reached' if good else 'missed '}  {name}")
    if output is not None:
        found = {
            "config": asdict(config),
            "rides": {"large": large * rides, "fewer": fewer * rides},
            "costs": {name: asdict(cost) for name, cost in costs.items()},
            "figures": figures,
            "different": different,
            "reached": reached,
        }
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(found, indent=1) + "\n")
    exact = reached["the same panel"] and same_bytes
    return int(not all(reached.values()) if config.floors else not exact)


if __name__ == "__main__":
    raise SystemExit(main())
