"""Read trips, status and stations in the formats that operators publish."""

from unmet.mobility.sources._account import StationsReport, StatusReport, TripsReport
from unmet.mobility.sources._stations import read_stations
from unmet.mobility.sources._status import read_status
from unmet.mobility.sources._trips import read_trips

__all__ = ["StationsReport", "StatusReport", "TripsReport", "read_stations", "read_status", "read_trips"]
