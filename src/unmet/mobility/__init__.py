"""From trips and feeds to a demand panel that knows what it did not see."""

from importlib import import_module
from typing import Any

# Where each public name lives; modules load when a name is first used, because DuckDB is heavy to import.
_HOMES = {
    "connect": "unmet.tables",
    "read_trips": "sources",
    "read_status": "sources",
    "read_stations": "sources",
    "availability": "_availability",
    "build_panel": "_panel",
    "write_panel": "_panel_file",
    "read_panel": "_panel_file",
    "superhubs": "_hubs",
    "place_table": "_place_table",
    "add_features": "_features",
    "reduce_fleet": "_fleet",
}

__all__ = [
    "add_features",
    "availability",
    "build_panel",
    "connect",
    "place_table",
    "read_panel",
    "read_stations",
    "read_status",
    "read_trips",
    "reduce_fleet",
    "superhubs",
    "write_panel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.mobility' has no attribute {name!r}")
    home = _HOMES[name]
    return getattr(import_module(home if "." in home else f"unmet.mobility.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
