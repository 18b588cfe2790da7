"""Input of the benchmark: one simulated city, repeated as districts with own ids, in several forms."""

import gzip
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

from benchmarks.panel.config import FORMS, Config
from unmet.datasets import city as cities

_MODERN = """upper(substr(md5('{number}-' || row_number() OVER ()), 1, 16)) AS ride_id,
    'classic_bike' AS rideable_type,
    substr(starttime, 1, 19) AS started_at, substr(stoptime, 1, 19) AS ended_at,
    "start station name" AS start_station_name, "start station id" AS start_station_id,
    "end station name" AS end_station_name, "end station id" AS end_station_id,
    "start station latitude" AS start_lat, "start station longitude" AS start_lng,
    "end station latitude" AS end_lat, "end station longitude" AS end_lng, 'member' AS member_casual"""
_TYPES = """* REPLACE (started_at::TIMESTAMP AS started_at, ended_at::TIMESTAMP AS ended_at,
    start_lat::DOUBLE AS start_lat, start_lng::DOUBLE AS start_lng,
    end_lat::DOUBLE AS end_lat, end_lng::DOUBLE AS end_lng)"""


def write_districts(config: Config, folder: Path) -> int:
    """Write trips, status events and station information of every district; return the rides of one."""
    mark = folder / "written.json"
    wanted = {"size": config.size, "days": config.days, "districts": config.districts, "fewer": config.fewer}
    if mark.exists() and json.loads(mark.read_text())["config"] == wanted:
        return int(json.loads(mark.read_text())["rides"])
    folder.mkdir(parents=True, exist_ok=True)
    base = cities.make_city(config.size, days=config.days, seed=1, zone=config.zone)
    events = cities.status_events(base)
    for number in range(config.districts):
        city = _district(base, number)
        cities.copy_trips(city, folder, "one", "local")
        _write_forms(folder, number, every=number < config.fewer)
        cities.copy_status(city, folder / f"status-{number:02d}.csv", *events)
        (folder / f"stations-{number:02d}.json").write_text(json.dumps(cities.station_information(city)))
    mark.write_text(json.dumps({"config": wanted, "rides": len(base.rides)}))
    return len(base.rides)


def _district(base: cities.City, number: int) -> cities.City:
    map_ = replace(
        base.map,
        ids=tuple(f"D{number:02d}-{place}" for place in base.map.ids),
        names=tuple(f"{name} {number}" for name in base.map.names),
    )
    rides = replace(base.rides, vehicle=base.rides.vehicle + number * base.settings.vehicles)
    return replace(base, map=map_, rides=rides)


def _write_forms(folder: Path, number: int, every: bool) -> None:
    """Turn ``trips.csv``, in the older layout, into the plain modern form, and into every other if asked."""
    import duckdb

    written, modern = folder / "trips.csv", trip_files(folder, "modern", number + 1)[number]
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW old AS FROM read_csv('{written}', all_varchar=true, header=true)")
        con.execute(f"COPY (SELECT {_MODERN.format(number=number)} FROM old) TO '{modern}' (HEADER)")
        if every:
            others = {form: trip_files(folder, form, number + 1)[number] for form in FORMS}
            table = f"read_csv('{modern}', all_varchar=true, header=true)"
            con.execute(
                f"COPY (SELECT {_TYPES} FROM {table}) TO '{others['modern-parquet']}' (FORMAT parquet)"
            )
            quoted = folder / "quoted.csv"
            con.execute(f"COPY old TO '{quoted}' (HEADER, FORCE_QUOTE *)")
            _zip(quoted, others["quoted-zip"])
            _zip(modern, others["modern-zip"])
            with open(modern, "rb") as source, gzip.open(others["modern-gzip"], "wb", 6) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            quoted.unlink()
    written.unlink()


def _zip(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(source, source.name)


def trip_files(folder: Path, form: str, districts: int) -> list[Path]:
    """Return the trip files of the first districts in one form."""
    return [folder / f"trips-{form}-{number:02d}.{FORMS[form]}" for number in range(districts)]


def files(folder: Path, kind: str, districts: int) -> list[Path]:
    """Return the files of status or stations of the first districts; status may be Parquet."""
    ending = "json" if kind == "stations" else "csv"
    if (folder / f"{kind}-00.parquet").exists():
        ending = "parquet"
    return [folder / f"{kind}-{number:02d}.{ending}" for number in range(districts)]
