"""A run as a notebook shows it: a few sentences and its tables; every text of others is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from unmet.results._words import sentences

if TYPE_CHECKING:
    from unmet.results._run import Run


def run_html(run: Run) -> str:
    """Return a compact piece of HTML without scripts or styles of its own."""
    rows = [f"<p><b>Run</b> <code>{escape(str(run.folder))}</code></p>"]
    try:
        said = sentences(run.summary())
    except (ValueError, OSError) as error:
        said = [f"{', '.join(run.steps) or 'No step'} finished. {error}"]
    rows.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in said) + "</ul>")
    tables = [name for name in run.TABLES if run.has(name)]
    if tables:
        rows.append("<p>Tables: " + ", ".join(f"<code>.{name}</code>" for name in tables) + "</p>")
    if run.page is not None:
        rows.append(f"<p>Report: <code>{escape(str(run.page))}</code></p>")
    return "<div>" + "".join(rows) + "</div>"
