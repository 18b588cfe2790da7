"""From trips and feeds to a demand panel that knows what it did not see."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.mobility.panel._availability import availability
    from unmet.mobility.panel._build import PanelReport, build_panel
    from unmet.mobility.panel._columns import PANEL_COLUMNS
    from unmet.mobility.panel._covariates import read_covariates
    from unmet.mobility.panel._features import add_features
    from unmet.mobility.panel._file import Panel, read_panel, write_panel
    from unmet.mobility.panel._fleet_reduction import reduce_fleet
    from unmet.mobility.panel._hubs import superhubs, weighted_kmeans
    from unmet.mobility.panel._inferred_stock import FROM_COUNTS
    from unmet.mobility.panel._lowered import lowered_columns
    from unmet.mobility.panel._places import COUNTED, place_table
    from unmet.mobility.sources import read_stations, read_status, read_trips
    from unmet.tables import connect

# Where each public name lives; modules load when a name is first used, because DuckDB is heavy to import.
_HOMES = {
    "connect": "unmet.tables",
    "read_trips": "sources",
    "read_status": "sources",
    "read_stations": "sources",
    "availability": "panel._availability",
    "build_panel": "panel._build",
    "PanelReport": "panel._build",
    "write_panel": "panel._file",
    "read_panel": "panel._file",
    "Panel": "panel._file",
    "superhubs": "panel._hubs",
    "weighted_kmeans": "panel._hubs",
    "place_table": "panel._places",
    "lowered_columns": "panel._lowered",
    "add_features": "panel._features",
    "reduce_fleet": "panel._fleet_reduction",
    "COUNTED": "panel._places",
    "FROM_COUNTS": "panel._inferred_stock",
    "PANEL_COLUMNS": "panel._columns",
    "read_covariates": "panel._covariates",
}

__all__ = [
    "COUNTED",
    "FROM_COUNTS",
    "PANEL_COLUMNS",
    "Panel",
    "PanelReport",
    "add_features",
    "availability",
    "build_panel",
    "connect",
    "lowered_columns",
    "place_table",
    "read_covariates",
    "read_panel",
    "read_stations",
    "read_status",
    "read_trips",
    "reduce_fleet",
    "superhubs",
    "weighted_kmeans",
    "write_panel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.mobility' has no attribute {name!r}")
    from unmet.runs import naming_extras

    home = _HOMES[name]
    with naming_extras():
        return getattr(import_module(home if home.startswith("unmet.") else f"unmet.mobility.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
