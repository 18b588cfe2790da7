"""Readers of trips, status and stations in the formats that operators publish."""

from unmet.mobility.readers._report import StationsReport, StatusReport, TripsReport
from unmet.mobility.readers._stations import read_stations
from unmet.mobility.readers._status import read_status
from unmet.mobility.readers._trips import read_trips

__all__ = ["StationsReport", "StatusReport", "TripsReport", "read_stations", "read_status", "read_trips"]
