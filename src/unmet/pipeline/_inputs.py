"""The files and options that decide a panel, and the panel built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.pipeline._options import MEMORY, pairs_of, paths_of, seconds_of
from unmet.pipeline._watching import Watching
from unmet.tables import columns_of

if TYPE_CHECKING:
    import duckdb

    from unmet.mobility.sources import ReadStore
    from unmet.runs import Cluster


@dataclass(frozen=True, kw_only=True)
class PanelInputs:
    """Files and options that decide a panel; `PanelInputs.among` takes them as people give them."""

    trips: tuple[Path, ...]
    status: tuple[Path, ...] = ()
    stations: tuple[Path, ...] = ()
    by: str = "hour"
    zone: str | None = None
    times: str = "local"
    hubs: str | None = None
    cells: int | None = None
    keep: dict[str, str] | None = None
    columns: dict[str, str] | None = None
    status_columns: dict[str, str] | None = None
    encoding: str | None = None
    day_first: bool | None = None
    min_duration: float = 60.0
    area: str | None = None
    calendar: bool = True
    holidays: str | None = None
    weather: Path | None = None
    weather_keep: dict[str, str] | None = None
    max_gap: str | None = None
    max_reject_share: float = 0.01
    memory: str = MEMORY

    @classmethod
    def among(cls, options: Mapping[str, Any]) -> PanelInputs:
        """Return the inputs among the options of a command or of `unmet.run`; the names are the same."""
        given = {one.name: options[one.name] for one in fields(cls) if one.name in options}
        for name in ("trips", "status", "stations"):
            given[name] = paths_of(given.get(name))
        for name in ("keep", "weather_keep"):
            given[name] = pairs_of(given.get(name), name)
        for name in ("columns", "status_columns"):
            given[name] = columns_of(given.get(name), name)
        if "min_duration" in given:
            given["min_duration"] = seconds_of(given["min_duration"], "min_duration")
        if given.get("area") is not None:
            area = given["area"]
            given["area"] = str(area) if isinstance(area, str | Path) else ",".join(map(str, area))
        if given.get("weather") is not None:
            given["weather"] = Path(given["weather"])
        if given.get("hubs") is not None:
            given["hubs"] = str(given["hubs"])
        if given.get("memory") is None:
            given["memory"] = MEMORY
        if not given["trips"]:
            raise ValueError("trips must name at least one file or folder")
        if given.get("hubs") is not None and given.get("cells") is not None:
            raise ValueError("hubs= and cells= exclude each other: hubs are groups of stations")
        return cls(**given)

    @property
    def kind(self) -> str:
        """What a place is: hub, h3 or station."""
        return "hub" if self.hubs else "h3" if self.cells is not None else "station"

    @property
    def files(self) -> list[Path]:
        """All files and folders that are read."""
        found = [*self.trips, *self.status, *self.stations]
        found += [] if self.weather is None else [self.weather]
        found += [Path(self.area)] if self.area and Path(self.area).is_file() else []
        return found + ([Path(self.hubs)] if self.hubs and not self.hubs.isdecimal() else [])

    @property
    def settings(self) -> dict[str, Any]:
        """All options but the files, as JSON values; the memory limit changes no result."""
        read = ("trips", "status", "stations", "weather", "memory")
        return {name: value for name, value in asdict(self).items() if name not in read}

    @property
    def source(self) -> dict[str, list[Path]]:
        """What a run is made from: files, by their content."""
        files = {"trips": self.trips, "status": self.status, "stations": self.stations}
        return {name: [file for path in paths for file in _inside(path)] for name, paths in files.items()}


def _inside(path: Path) -> list[Path]:
    """Return the files of a folder, so that a run knows which of them it was made from; else the path."""
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
    return found or [path]


@contextmanager
def built_panel(
    inputs: PanelInputs,
    watching: Watching,
    *,
    describe: str | None = None,
    store: ReadStore | None = None,
    lowered: bool = False,
    cluster: Cluster | None = None,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, Any], Any, str | None]]:
    """Read everything and build table ``panel``.

    Gives the connection, the readers' reports, the panel's report, and the id of the place `describe` (a name
    or an id), whose timeline is then kept. With `lowered`, table ``lowered`` is written too. The workers of
    `cluster` read the files, if `store` has it too, and compute the rows.
    """
    from unmet.mobility import COUNTED, build_panel, connect, read_stations, read_status, read_trips
    from unmet.mobility.sources import Area, leave_out_places

    reports: dict[str, Any] = {}
    zone = inputs.zone
    area = None if inputs.area is None else Area.of(inputs.area)
    both: dict[str, Any] = {
        "zone": zone,
        "times": inputs.times,
        "encoding": inputs.encoding,
        "day_first": inputs.day_first,
        "store": store,
    }
    kept = [] if store is None else [store.folder]
    with connect(memory_limit=inputs.memory, inputs=[*inputs.files, *kept]) as con:
        if inputs.stations:
            reports["stations"] = read_stations(
                con,
                inputs.stations,
                encoding=inputs.encoding,
                max_reject_share=inputs.max_reject_share,
                progress=watching.step("Stations"),
            )
            describe = None if describe is None else _place_called(con, describe)
        reports["trips"] = read_trips(
            con,
            inputs.trips,
            columns=inputs.columns,
            keep=inputs.keep,
            min_duration=inputs.min_duration,
            area=area,
            max_reject_share=inputs.max_reject_share,
            progress=watching.step("Trips"),
            **both,
        )
        if inputs.status:
            reports["status"] = read_status(
                con,
                inputs.status,
                columns=inputs.status_columns,
                max_reject_share=inputs.max_reject_share,
                progress=watching.step("Status"),
                **both,
            )
            if inputs.kind != "h3":  # cells do not use the status of stations
                notes = leave_out_places(con, keep=inputs.keep, area=area, counted=COUNTED)
                reports["status"] = replace(reports["status"], notes=(*reports["status"].notes, *notes))
        if store is not None:
            store.prune()
        hubs = inputs.hubs
        built = build_panel(
            con,
            by=inputs.by,
            zone=zone or "UTC",
            places=inputs.kind,
            hubs=None if hubs is None else int(hubs) if hubs.isdecimal() else hubs,
            h3_resolution=8 if inputs.cells is None else inputs.cells,
            covariates=("calendar",) if inputs.calendar else (),
            holidays=inputs.holidays,
            weather=inputs.weather,
            weather_keep=inputs.weather_keep,
            max_reject_share=inputs.max_reject_share,
            max_gap=inputs.max_gap,
            timelines=() if describe is None else (describe,),
            reserve="auto" if lowered else None,
            progress=watching.step("Panel"),
            cluster=cluster,
        )
        if built.weather is not None:
            reports["weather"] = built.weather
        yield con, reports, built, describe


def _place_called(con: Any, name: str) -> str:
    """The id of the one station with this name (people know names, files know ids), else the text itself."""
    found = con.execute("SELECT place FROM stations WHERE lower(name) = lower(?)", [name]).fetchall()
    return found[0][0] if len(found) == 1 else name
