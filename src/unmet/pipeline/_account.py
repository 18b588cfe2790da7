"""The account of what a panel was read from: every line of the inputs is counted once."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def account_of(reports: dict[str, Any], built: Any) -> dict[str, Any]:
    """Return the readers' reports and the panel's as plain data.

    lines = headers + rides + duplicates + left_out + rejected, for the trip files.
    """
    data: dict[str, Any] = {}
    for name, report in reports.items():
        data[name] = {
            "lines": report.lines,
            "headers": report.headers,
            "accepted": report.accepted,
            "rejected": report.rejected,
            "reasons": report.reasons,
            "formats": report.formats,
            "notes": list(report.notes),
        }
    trips = reports["trips"]
    data["trips"] |= {
        "rides": trips.rides,
        "duplicates": trips.duplicates,
        "left_out": trips.left_out,
        "flags": trips.flags,
        "vehicles": trips.vehicles,
        "not_counted": trips.rides - built.rides,
    }
    if "status" in reports:
        status = reports["status"]
        data["status"] |= {"rows": status.rows, "duplicates": status.duplicates}
    if "weather" in reports:
        weather = reports["weather"]
        data["weather"] |= {"missing": weather.missing, "unreadable": weather.unreadable}
    data["panel"] = {name: value for name, value in asdict(built).items() if name != "weather"}
    return data
