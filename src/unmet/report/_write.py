"""Write the report of a run."""

from __future__ import annotations

import os
from pathlib import Path

from unmet.report._gather import read_run
from unmet.report._page import render_page
from unmet.results import Run, open_run
from unmet.runs import write_bytes


def write_report(run: Run | str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write ``report.html`` into the folder of a run, whole or not at all; the same run gives the same bytes.

    Parameters
    ----------
    run : a run, or its folder
    title : heading of the page; None: "Unmet demand"

    Examples
    --------
    >>> write_report("out")  # doctest: +SKIP
    PosixPath('out/report.html')
    """
    run = run if isinstance(run, Run) else open_run(run)
    page = render_page(read_run(run, title=title))
    target = run.folder / "report.html"
    write_bytes(target, page.encode())
    return target
