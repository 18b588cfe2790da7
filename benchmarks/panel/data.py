"""Input of the benchmark: one simulated city, repeated as districts with ids of their own.

Simulating twenty million rides takes minutes; a copy of a district takes seconds and costs every contender
the same work as a simulated one, because ids, vehicles and files are its own.
"""

import json
from dataclasses import replace
from pathlib import Path

from benchmarks.panel.config import Config
from unmet.datasets.city import City, copy_status, copy_trips, make_city, station_information, status_events


def write_districts(config: Config, folder: Path) -> int:
    """Write trips, status events and station information of every district; return the rides of one."""
    mark = folder / "written.json"
    wanted = {"size": config.size, "days": config.days, "districts": config.districts}
    if mark.exists() and json.loads(mark.read_text())["config"] == wanted:
        return int(json.loads(mark.read_text())["rides"])
    folder.mkdir(parents=True, exist_ok=True)
    base = make_city(config.size, days=config.days, seed=1, zone=config.zone)
    events = status_events(base)
    for number in range(config.districts):
        city = _district(base, number)
        copy_trips(city, folder, "one", "local")
        (folder / "trips.csv").rename(folder / f"trips-{number:02d}.csv")
        copy_status(city, folder / f"status-{number:02d}.csv", *events)
        (folder / f"stations-{number:02d}.json").write_text(json.dumps(station_information(city)))
    mark.write_text(json.dumps({"config": wanted, "rides": len(base.rides)}))
    return len(base.rides)


def _district(base: City, number: int) -> City:
    map_ = replace(
        base.map,
        ids=tuple(f"D{number:02d}-{place}" for place in base.map.ids),
        names=tuple(f"{name} {number}" for name in base.map.names),
    )
    rides = replace(base.rides, vehicle=base.rides.vehicle + number * base.settings.vehicles)
    return replace(base, map=map_, rides=rides)


def write_parquet(folder: Path, districts: int) -> None:
    """Write the trips of the first districts as typed Parquet too: stamps are stamps, degrees are numbers."""
    import duckdb

    for path in files(folder, "trips", districts):
        target = path.with_suffix(".parquet")
        if not target.exists():
            part = path.with_suffix(".part")
            duckdb.connect().execute(f"""
                COPY (SELECT * FROM read_csv('{path}', types={{
                    'starttime': 'TIMESTAMP', 'stoptime': 'TIMESTAMP', 'start station id': 'VARCHAR',
                    'end station id': 'VARCHAR', 'bikeid': 'VARCHAR'}})) TO '{part}' (FORMAT parquet)""")
            part.rename(target)


def files(folder: Path, kind: str, districts: int, ending: str = "") -> list[Path]:
    """The files of one kind (trips, status, stations) of the first districts."""
    ending = ending or ("json" if kind == "stations" else "csv")
    return [folder / f"{kind}-{number:02d}.{ending}" for number in range(districts)]
