"""The report: a run on one HTML page that needs no network. Needs the extra ``unmet[report]``.

`read_run` gathers what the page shows, `render_page` turns it into HTML, `write_report` does both and writes
the file. `Live` adds the panel of a service to the same page.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.report._data import CurveData, ReportData
    from unmet.report._gather import read_run
    from unmet.report._page import Live, render_page
    from unmet.report._script_json import script_json
    from unmet.report._write import write_report

# Where each public name lives; modules load when a name is first used, because the core has no templates.
_HOMES = {
    "CurveData": "_data",
    "Live": "_page",
    "ReportData": "_data",
    "read_run": "_gather",
    "render_page": "_page",
    "script_json": "_script_json",
    "write_report": "_write",
}

__all__ = [
    "CurveData",
    "Live",
    "ReportData",
    "read_run",
    "render_page",
    "script_json",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.report' has no attribute {name!r}")
    from unmet.runs import naming_extras

    with naming_extras():
        return getattr(import_module(f"unmet.report.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
