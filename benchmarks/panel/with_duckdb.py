"""The panel by a plain DuckDB program that believes every row, in front of the same `build_panel`."""

import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.panel.data import files, trip_files
from benchmarks.panel.meter import metered

_MODERN = (
    "ride_id::VARCHAR, NULL, {start}, {end}, start_station_id::VARCHAR, end_station_id::VARCHAR, "
    "start_lat, start_lng, end_lat, end_lng"
)
_QUOTED = (
    'NULL, bikeid::VARCHAR, {start}, {end}, "start station id"::VARCHAR, "end station id"::VARCHAR, '
    '"start station latitude", "start station longitude", "end station latitude", "end station longitude"'
)


def build(
    folder: Path, districts: int, zone: str, form: str, memory_limit: str, output: Path
) -> Iterator[str]:
    """Write the panel, naming each step as it is done."""
    from unmet.mobility import build_panel, connect, read_stations, write_panel

    con = connect(memory_limit=memory_limit)
    read_stations(con, files(folder, "stations", districts))  # also makes the tables
    names = ("starttime", "stoptime") if form.startswith("quoted") else ("started_at", "ended_at")
    start, end = (f"({name} AT TIME ZONE '{zone}') AT TIME ZONE 'UTC'" for name in names)
    select = (_QUOTED if form.startswith("quoted") else _MODERN).format(start=start, end=end)
    flag = f"CASE WHEN {names[0]} = {names[1]} THEN 'zero-length' END"
    for path in trip_files(folder, form, districts):
        with tempfile.TemporaryDirectory(prefix="unmet-bench-") as place:
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    path = Path(archive.extract(archive.namelist()[0], place))
            con.execute(f"INSERT INTO trips SELECT {select}, {flag}, '', 0 FROM '{path}'")
    yield "trips read"
    for path in files(folder, "status", districts):
        con.execute(
            "INSERT INTO status SELECT station_id::VARCHAR, make_timestamp(last_reported * 1000000), "
            "num_bikes_available, num_docks_available, is_renting::BOOLEAN AND is_installed::BOOLEAN, "
            f"is_returning::BOOLEAN AND is_installed::BOOLEAN FROM read_csv('{path}')"
        )
    yield "status read"
    build_panel(con, by="hour", zone=zone)
    yield "panel built"
    write_panel(con, output)
    yield "panel written"
    con.close()


if __name__ == "__main__":
    folder, districts, zone, form, memory_limit, output = sys.argv[1:]
    metered(build(Path(folder), int(districts), zone, form, memory_limit, Path(output)))
