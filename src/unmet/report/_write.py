"""Write the report of a run folder."""

from __future__ import annotations

import os
from pathlib import Path

from unmet.report._page import render_page
from unmet.report._read import read_run
from unmet.runs import write_bytes


def write_report(folder: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Read a run folder and write ``report.html`` into it, whole or not at all; the same run, the same bytes.

    Parameters
    ----------
    folder : the folder that ``unmet run`` wrote
    title : heading of the page; None: "Unmet demand"

    Examples
    --------
    >>> write_report("out")  # doctest: +SKIP
    PosixPath('out/report.html')
    """
    page = render_page(read_run(folder, title=title))
    target = Path(folder) / "report.html"
    write_bytes(target, page.encode())
    return target
