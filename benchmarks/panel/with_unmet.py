"""The panel by `unmet`: read, reconcile, build, write."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.panel.data import files, trip_files
from benchmarks.panel.meter import metered


def build(
    folder: Path, districts: int, zone: str, form: str, memory_limit: str, output: Path
) -> Iterator[str]:
    """Write the panel, naming each step as it is done."""
    from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips, write_panel

    con = connect(memory_limit=memory_limit)
    read_stations(con, files(folder, "stations", districts))
    read_trips(con, trip_files(folder, form, districts), zone=zone)
    yield "trips read"
    read_status(con, files(folder, "status", districts))
    yield "status read"
    build_panel(con, by="hour", zone=zone)
    yield "panel built"
    write_panel(con, output)
    yield "panel written"
    con.close()


if __name__ == "__main__":
    folder, districts, zone, form, memory_limit, output = sys.argv[1:]
    metered(build(Path(folder), int(districts), zone, form, memory_limit, Path(output)))
