"""`python -m benchmarks.panel.scale`: CPU per ride and memory of panels of 5, 20 and 100 million rides.

One simulated city of about a million rides is written as Parquet and copied as often as asked, each copy
with ids of its own. Cost per ride should not grow, nor memory.
"""

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.panel.config import FULL, PEAK, Config
from benchmarks.panel.data import files, trip_files, write_districts
from benchmarks.panel.meter import Cost, run

_FORM = "modern-parquet"
_BASE = Config(size="city", days=93, districts=1, fewer=1)
_FLAT = 1.2
_TRIPS = """SELECT * REPLACE (
    upper(substr(md5('{number}-' || ride_id), 1, 16)) AS ride_id,
    start_station_name[:-3] || ' {number}' AS start_station_name,
    end_station_name[:-3] || ' {number}' AS end_station_name,
    'D{number:02d}' || substr(start_station_id, 4) AS start_station_id,
    'D{number:02d}' || substr(end_station_id, 4) AS end_station_id) FROM '{base}'"""
_STATUS = "SELECT * REPLACE ('D{number:02d}' || substr(station_id, 4) AS station_id) FROM '{base}'"


def main() -> int:
    """Write the input, build the panels, print the table; 1 if cost or memory grow beyond their limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, nargs="+", default=[5, 20, 100], help="million rides")
    parser.add_argument("--data", type=Path, help="folder for the input, kept; default: a temporary one")
    parser.add_argument("--output", type=Path, help="file for the figures as JSON")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unmet-bench-") as temporary:
        folder = chosen.data or Path(temporary)
        rides = write(folder, max(chosen.millions))
        costs: dict[int, Cost] = {}
        for districts in chosen.millions:
            target = str(folder / "unmet.parquet")
            given = (str(folder), str(districts), _BASE.zone, _FORM, FULL.memory_limit, target)
            costs[districts] = cost = run("benchmarks.panel.with_unmet", *given)
            print(
                f"{districts * rides:12,} rides {cost.seconds:8.1f} s {cost.cpu:8.1f} CPU s "
                f"{1e6 * cost.cpu / (districts * rides):6.2f} us / ride  peak {cost.peak / 1e9:5.2f} GB",
                flush=True,
            )
            before = 0.0
            for step, at in cost.steps.items():
                print(f"    {step:16}{at - before:8.1f} s", flush=True)
                before = at
    each = [cost.cpu / (districts * rides) for districts, cost in costs.items()]
    flat = max(each) / min(each)
    peak = max(cost.peak for cost in costs.values())
    print(
        f"costliest / cheapest ride {flat:.2f} (at most {_FLAT}), "
        f"peak {peak / 1e9:.2f} GB (at most {PEAK / 1e9:g})"
    )
    print(f"on paper, a billion rides: {1e9 * each[-1] / 3600:.1f} CPU hours")
    if chosen.output is not None:
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        figures = {districts * rides: asdict(cost) for districts, cost in costs.items()}
        chosen.output.write_text(json.dumps(figures, indent=1))
    return int(flat > _FLAT or peak > PEAK)


def write(folder: Path, districts: int) -> int:
    """Write trips and status of every district as Parquet, stations as JSON; return the rides of one."""
    import duckdb

    rides = write_districts(_BASE, folder / "base")
    trips, status = trip_files(folder / "base", _FORM, 1)[0], files(folder / "base", "status", 1)[0]
    stations = files(folder / "base", "stations", 1)[0].read_text()
    with duckdb.connect() as con:
        con.execute("SET threads = 1")
        for number, path in enumerate(trip_files(folder, _FORM, districts)):
            if path.exists():
                continue
            named = stations.replace('"D00-', f'"D{number:02d}-').replace(' 0",', f' {number}",')
            (folder / f"stations-{number:02d}.json").write_text(named)
            query = _STATUS.format(number=number, base=status)
            con.execute(f"COPY ({query}) TO '{folder}/status-{number:02d}.parquet' (FORMAT parquet)")
            query = _TRIPS.format(number=number, base=trips)
            con.execute(f"COPY ({query}) TO '{path}.part' (FORMAT parquet)")
            Path(f"{path}.part").rename(path)
    return rides


if __name__ == "__main__":
    raise SystemExit(main())
