"""Readers of trips, status and stations in the formats that operators publish."""

from importlib import import_module
from typing import Any

# Where each public name lives; a process that only parses needs no DuckDB, which is heavy to import.
_HOMES = {
    "StationsReport": "_report",
    "StatusReport": "_report",
    "TripsReport": "_report",
    "read_stations": "_stations",
    "read_status": "_status",
    "read_trips": "_trips",
}

__all__ = ["StationsReport", "StatusReport", "TripsReport", "read_stations", "read_status", "read_trips"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.mobility.readers' has no attribute {name!r}")
    return getattr(import_module(f"unmet.mobility.readers.{_HOMES[name]}"), name)
