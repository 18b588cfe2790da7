"""`python -m benchmarks.panel`: trips and status to an hourly panel, by `unmet`, pandas and plain DuckDB."""

import argparse
import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.panel.compare import differences, middle, ratios, verdicts
from benchmarks.panel.config import FORMS, FULL, SMALL, Config
from benchmarks.panel.data import write_districts
from benchmarks.panel.meter import Cost, run

_JOB = """\
unmet:   lines checked against the bytes, rejects kept with line and reason, ids mapped, equal rides and
         records once, records reconciled with rides, fifteen columns
pandas:  the same checks without lines and reasons, no reconciliation, ten columns
duckdb:  a plain program that believes every row, in front of the same build_panel
other:   `unmet` of another checkout (--against)"""


def main() -> int:
    """Write the input, run the contenders, compare their panels, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes, for CI")
    parser.add_argument("--districts", type=int, help="million rides in the plain modern form")
    parser.add_argument("--fewer", type=int, help="million rides in every form")
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    parser.add_argument("--turns", type=int, default=1, help="how often `unmet` is run on each input")
    parser.add_argument("--against", metavar="SRC", help="folder src of another checkout to compare with")
    parser.add_argument("--data", type=Path, help="folder for the input, kept; default: a temporary one")
    parser.add_argument("--output", type=Path, help="file for the figures as JSON")
    chosen = parser.parse_args()
    config = SMALL if chosen.small else FULL
    config = replace(
        config, districts=chosen.districts or config.districts, fewer=chosen.fewer or config.fewer
    )
    with tempfile.TemporaryDirectory(prefix="unmet-bench-") as folder:
        place = chosen.data or Path(folder)
        return compare(config, place, chosen.forms, chosen.turns, chosen.against, chosen.output)


def compare(
    config: Config, folder: Path, forms: list[str], turns: int, against: str | None, output: Path | None
) -> int:
    """Run the contenders on every input; 1 if their panels differ or a floor is missed."""
    rides = write_districts(config, folder)
    print(f"input: copies of one simulated city of {rides:,} rides with ids of their own\n{_JOB}")
    found: dict[str, dict[str, Cost]] = {}
    different: dict[str, dict[str, int]] = {}
    inputs = {form: (form, config.fewer) for form in forms}
    if config.districts > config.fewer:
        inputs["modern, all rides"] = ("modern", config.districts)
    for name, (form, districts) in inputs.items():
        print(f"{name}: {districts * rides:,} rides", flush=True)
        found[name] = measure(config, folder, form, districts, turns, against)
        ours = folder / "unmet.parquet"
        for rival in found[name]:
            if rival not in ("unmet", "duckdb"):
                different[f"{name}, {rival}"] = differences(ours, folder / f"{rival}.parquet")
        for rival, times in ratios(found[name]).items():
            print(f"  {rival} / unmet: " + ", ".join(f"{what} × {x:.2f}" for what, x in times.items()))
    reached = verdicts(found, different)
    for words, good in reached.items():
        print(f"{'reached' if good else 'MISSED '}  {words}")
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        costs = {name: {who: asdict(cost) for who, cost in costs.items()} for name, costs in found.items()}
        output.write_text(json.dumps({"costs": costs, "different": different, "reached": reached}, indent=1))
    return int(not reached["the same panel"] or (config.floors and not all(reached.values())))


def measure(
    config: Config, folder: Path, form: str, districts: int, turns: int, against: str | None
) -> dict[str, Cost]:
    """Run every contender on one input."""

    def once(name: str, module: str, option: str, source: str | None = None) -> Cost:
        target = str(folder / f"{name}.parquet")
        arguments = (str(folder), str(districts), config.zone, form, option, target)
        cost = run(f"benchmarks.panel.{module}", *arguments, source=source)
        print(
            f"  {name:8}{cost.seconds:8.1f} s {cost.cpu:8.1f} CPU s  peak {cost.peak / 1e9:5.2f} GB",
            flush=True,
        )
        return cost

    ours, others = [], []
    for _ in range(turns):  # in turn, because other work comes and goes on most machines
        ours.append(once("unmet", "with_unmet", config.memory_limit))
        if against is not None:
            others.append(once("other", "with_unmet", config.memory_limit, against))
    costs = {"unmet": middle(ours)} | ({"other": middle(others)} if others else {})
    costs["duckdb"] = once("duckdb", "with_duckdb", config.memory_limit)
    # PyArrow's engine is the faster one, but reads no zip archives.
    engine = "c" if form.endswith("zip") and form != "modern-gzip" else "pyarrow"
    costs["pandas"] = once("pandas", "with_pandas", engine)
    return costs


if __name__ == "__main__":
    raise SystemExit(main())
