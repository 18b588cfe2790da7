"""`python -m benchmarks.panel`: twenty million rides to an hourly panel, by `unmet` and by pandas."""

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.panel.config import FASTER, FULL, GROWTH, MEDIUM, PEAK, SMALL, Config
from benchmarks.panel.data import write_districts
from benchmarks.panel.meter import Cost, run

_COMPARED = ("y", "returns", "deliveries", "removals", "stock_start", "supply", "threshold", "censored")
_JOB = """\
both: CSV files in; ids as text, mapped by the station information; local stamps to UTC; rows that make no
      sense counted and left out; equal rides and records once; ten columns per place and hour out
unmet besides: lines checked against the bytes, rejects kept with line and reason, records reconciled with
      rides (pandas takes every change of stock to have its record), five more columns"""


def main() -> int:
    """Write the input, run both contenders, compare their panels, print the table."""
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
    large, fewer = config.districts * rides, config.fewer * rides
    print(
        f"input: {config.districts} districts, copies of one simulated city of {rides:,} rides with own ids"
    )

    print(_JOB)

    def unmet(districts: int, name: str) -> Cost:
        arguments = [str(folder), str(districts), config.zone, config.memory_limit, str(folder / name)]
        return run("benchmarks.panel.with_unmet", *arguments)

    few, many = unmet(config.fewer, "unmet-fewer.parquet"), unmet(config.districts, "unmet.parquet")
    unmet(config.fewer, "unmet-again.parquet")
    once, again = (folder / f"unmet-{name}.parquet" for name in ("fewer", "again"))
    same_bytes = once.read_bytes() == again.read_bytes()
    other = run(
        "benchmarks.panel.with_pandas",
        str(folder),
        str(config.districts),
        config.zone,
        str(folder / "pandas.parquet"),
    )
    for name, cost, count in (
        ("unmet", few, fewer),
        ("unmet", many, large),
        ("pandas", other, large),
    ):
        steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in cost.steps.items())
        print(
            f"{name:7}{count:>12,} rides {cost.seconds:8.1f} s {cost.cpu:8.1f} CPU s "
            f"{1e6 * cost.seconds / count:7.2f} µs/ride  peak {cost.peak / 1e9:5.2f} GB   ({steps})"
        )
    growth = (many.seconds / large) / (few.seconds / fewer)
    print(
        f"pandas / unmet: {other.seconds / many.seconds:.2f} × the time, "
        f"{other.cpu / many.cpu:.2f} × the CPU time, {other.peak / many.peak:.2f} × the memory"
    )
    print(f"cost per ride, {large:,} against {fewer:,} rides: {growth:.2f}")
    different = differences(folder / "unmet.parquet", folder / "pandas.parquet")
    print("rows that differ: " + ", ".join(f"{name} {count:,}" for name, count in different.items()))
    reached = {
        f"at least {FASTER:g} × faster than pandas": other.seconds / many.seconds >= FASTER,
        f"peak memory under {PEAK / 1e9:g} GB": many.peak < PEAK,
        f"cost per ride at most {GROWTH:g} × that of fewer rides": growth <= GROWTH,
        "the same panel": not any(different.values()),
        "the same input twice, the same bytes": same_bytes,
    }
    for name, good in reached.items():
        print(f"{'reached' if good else 'missed '}  {name}")
    if output is not None:
        figures = {
            "config": asdict(config),
            "rides": {"large": large, "fewer": fewer},
            "unmet": asdict(many),
            "unmet_fewer": asdict(few),
            "pandas": asdict(other),
            "different": different,
            "reached": reached,
        }
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(figures, indent=1) + "\n")
    exact = reached["the same panel"] and same_bytes
    return int(not all(reached.values()) if config.floors else not exact)


def differences(one: Path, two: Path) -> dict[str, int]:
    """Rows in only one panel, and rows on which a column differs."""
    import duckdb

    counts = ", ".join(f"count(*) FILTER (a.{name} IS DISTINCT FROM b.{name})" for name in _COMPARED)
    row = duckdb.execute(f"""
        SELECT count(*) FILTER (a.y IS NULL OR b.y IS NULL), {counts},
               count(*) FILTER (abs(a.exposure - b.exposure) > 1e-9)
        FROM '{one}' a FULL JOIN '{two}' b ON a.unique_id = b.unique_id AND a.ds = b.ds""").fetchone()
    assert row is not None
    return dict(zip(("rows", *_COMPARED, "exposure"), row))


if __name__ == "__main__":
    raise SystemExit(main())
