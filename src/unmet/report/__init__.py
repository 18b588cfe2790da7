"""The report: one HTML file without any network, built from a run folder.

`read_run` gathers what the page shows, `render_page` turns it into HTML, `write_report` does both and
writes the file. `Live` is the place where a service hangs its own panel into the same page.
"""

from unmet.report._data import CurveData, Interval, PlaceTotals, ReportData
from unmet.report._page import Live, render_page
from unmet.report._read import read_run
from unmet.report._script_json import script_json
from unmet.report._write import write_report

__all__ = [
    "CurveData",
    "Interval",
    "Live",
    "PlaceTotals",
    "ReportData",
    "read_run",
    "render_page",
    "script_json",
    "write_report",
]
