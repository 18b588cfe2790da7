"""Read trips, status, stations and weather in the formats that operators publish."""

from unmet.mobility.sources._account import StationsReport, StatusReport, TripsReport
from unmet.mobility.sources._belonging import Area, leave_out_places
from unmet.mobility.sources._formats import Format, format_page, format_rows
from unmet.mobility.sources._recognition import NotRecognised
from unmet.mobility.sources._stations import read_stations
from unmet.mobility.sources._status import read_status
from unmet.mobility.sources._store import ReadStore
from unmet.mobility.sources._trips import read_trips
from unmet.mobility.sources._weather import WeatherReport, read_weather

__all__ = [
    "Area",
    "Format",
    "NotRecognised",
    "ReadStore",
    "StationsReport",
    "StatusReport",
    "TripsReport",
    "WeatherReport",
    "format_page",
    "format_rows",
    "leave_out_places",
    "read_stations",
    "read_status",
    "read_trips",
    "read_weather",
]
