"""From the options of a command to a panel: what `unmet panel` and `unmet run` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.cli._options import pairs
from unmet.cli._panel_summary import Watching

if TYPE_CHECKING:
    import duckdb

    from unmet.mobility import PanelReport


@dataclass(frozen=True, kw_only=True)
class PanelInputs:
    """Files and options that decide a panel."""

    trips: Sequence[Path]
    status: Sequence[Path] | None = None
    stations: Sequence[Path] | None = None
    by: str = "hour"
    zone: str | None = None
    times: str = "local"
    hubs: str | None = None
    cells: int | None = None
    keep: list[str] | None = None
    columns: str | None = None
    calendar: bool = True
    holidays: str | None = None
    weather: Path | None = None
    weather_keep: list[str] | None = None
    max_gap: str | None = None
    max_reject_share: float = 0.01
    memory: str = "1GB"

    def __post_init__(self) -> None:
        if self.hubs is not None and self.cells is not None:
            raise ValueError("--hubs and --cells exclude each other: hubs are groups of stations")

    @classmethod
    def among(cls, options: Mapping[str, Any]) -> PanelInputs:
        """Those of the options of a command that decide a panel; the names are the same."""
        return cls(**{one.name: options[one.name] for one in fields(cls) if one.name in options})

    @property
    def kind(self) -> str:
        return "hub" if self.hubs else "h3" if self.cells is not None else "station"

    @property
    def files(self) -> list[Path]:
        """All files and folders that are read."""
        found = [*self.trips, *(self.status or ()), *(self.stations or ())]
        found += [] if self.weather is None else [self.weather]
        return found + ([Path(self.hubs)] if self.hubs and not self.hubs.isdecimal() else [])

    @property
    def settings(self) -> dict[str, Any]:
        """All options but the files, as JSON values; the memory limit changes no result."""
        read = ("trips", "status", "stations", "weather", "memory")
        return {name: value for name, value in asdict(self).items() if name not in read}


@contextmanager
def built_panel(
    inputs: PanelInputs, watching: Watching, *, describe: str | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, Any], PanelReport, str | None]]:
    """Read everything and build table ``panel``; gives the connection, the readers' reports and the panel's.

    `describe` is the name or id of a place whose timeline is to be kept; its id comes back last.
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
            columns=pairs(inputs.columns.split(",") if inputs.columns else None, "--columns"),
            keep=pairs(inputs.keep, "--keep"),
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
            weather_keep=pairs(inputs.weather_keep, "--weather-keep"),
            max_gap=inputs.max_gap,
            timelines=() if describe is None else (describe,),
            progress=watching.step("Panel"),
        )
        yield con, reports, built, describe


def _place_called(con: Any, name: str) -> str:
    """The id of the one station with this name (people know names, files know ids), else the text itself."""
    found = con.execute("SELECT place FROM stations WHERE lower(name) = lower(?)", [name]).fetchall()
    return found[0][0] if len(found) == 1 else name
