"""The files and options that decide a panel, and the panel built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.pipeline._options import pairs_of, paths_of
from unmet.pipeline._watching import Watching

if TYPE_CHECKING:
    import duckdb


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
    calendar: bool = True
    holidays: str | None = None
    weather: Path | None = None
    weather_keep: dict[str, str] | None = None
    max_gap: str | None = None
    max_reject_share: float = 0.01
    memory: str = "1GB"

    @classmethod
    def among(cls, options: Mapping[str, Any]) -> PanelInputs:
        """Return the inputs among the options of a command or of `unmet.run`; the names are the same."""
        given = {one.name: options[one.name] for one in fields(cls) if one.name in options}
        for name in ("trips", "status", "stations"):
            given[name] = paths_of(given.get(name))
        for name in ("keep", "columns", "weather_keep"):
            given[name] = pairs_of(given.get(name), name)
        if given.get("weather") is not None:
            given["weather"] = Path(given["weather"])
        if given.get("hubs") is not None:
            given["hubs"] = str(given["hubs"])
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
        return found + ([Path(self.hubs)] if self.hubs and not self.hubs.isdecimal() else [])

    @property
    def settings(self) -> dict[str, Any]:
        """All options but the files, as JSON values; the memory limit changes no result."""
        read = ("trips", "status", "stations", "weather", "memory")
        return {name: value for name, value in asdict(self).items() if name not in read}

    @property
    def source(self) -> dict[str, list[str]]:
        """What a run folder says it was made from."""
        files = {"trips": self.trips, "status": self.status, "stations": self.stations}
        return {name: sorted(path.name for path in paths) for name, paths in files.items()}


@contextmanager
def built_panel(
    inputs: PanelInputs, watching: Watching, *, describe: str | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, Any], Any, str | None]]:
    """Read everything and build table ``panel``.

    Gives the connection, the readers' reports, the panel's report, and the id of the place `describe` (a name
    or an id), whose timeline is then kept.
    """
    from unmet.mobility import build_panel, connect, read_stations, read_status, read_trips

    reports: dict[str, Any] = {}
    zone, times = inputs.zone, inputs.times
    with connect(memory_limit=inputs.memory, inputs=inputs.files) as con:
        if inputs.stations:
            reports["stations"] = read_stations(con, inputs.stations, progress=watching.step("Stations"))
            describe = None if describe is None else _place_called(con, describe)
        reports["trips"] = read_trips(
            con,
            inputs.trips,
            zone=zone,
            times=times,
            columns=inputs.columns,
            keep=inputs.keep,
            max_reject_share=inputs.max_reject_share,
            progress=watching.step("Trips"),
        )
        if inputs.status:
            reports["status"] = read_status(
                con, inputs.status, zone=zone, times=times, progress=watching.step("Status")
            )
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
            max_gap=inputs.max_gap,
            timelines=() if describe is None else (describe,),
            progress=watching.step("Panel"),
        )
        yield con, reports, built, describe


def _place_called(con: Any, name: str) -> str:
    """The id of the one station with this name (people know names, files know ids), else the text itself."""
    found = con.execute("SELECT place FROM stations WHERE lower(name) = lower(?)", [name]).fetchall()
    return found[0][0] if len(found) == 1 else name
