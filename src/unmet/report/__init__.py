"""The report: a run on one HTML page that needs no network.

`read_run` gathers what the page shows, `render_page` turns it into HTML, `write_report` does both and writes
the file. `Live` adds the panel of a service to the same page.
"""

from unmet.report._data import CurveData, ReportData
from unmet.report._gather import read_run
from unmet.report._page import Live, render_page
from unmet.report._script_json import script_json
from unmet.report._write import write_report

__all__ = [
    "CurveData",
    "Live",
    "ReportData",
    "read_run",
    "render_page",
    "script_json",
    "write_report",
]
