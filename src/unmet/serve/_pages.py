"""Pages and their parts, made once from the package and the run folder; no name comes from a request."""

from __future__ import annotations

import html
import os
import re
from importlib.resources import files
from pathlib import Path

from unmet.serve._http import HTML, Reply

OWN_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
PANEL = '<div id="wi-panel"></div><p class="wi-note"><a href="/docs">The same answers for programs</a></p>'
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]+)">')


def static_pages(folder: str | os.PathLike[str]) -> dict[str, Reply]:
    """Everything that is not an answer of the API, by path."""
    found = {
        f"/assets/{name}": Reply(asset(name), content_type=TYPES[name[name.rindex(".") :]])
        for name in ("plain.css", "what_if.css", "what_if.js", "docs.js")
    }
    found["/docs"] = Reply(asset("docs.html"), content_type=HTML, policy=OWN_ONLY)
    found["/"] = _front(Path(folder))
    return found


def asset(name: str) -> bytes:
    """A file of this package."""
    return (files("unmet.serve") / "assets" / name).read_bytes()


def _front(folder: Path) -> Reply:
    """The report with the what-if panel; the panel alone where the run has not come as far as a report."""
    if not (folder / "lost.parquet").is_file() or not (folder / "lost_total.json").is_file():
        return Reply(asset("plain.html"), content_type=HTML, policy=OWN_ONLY)
    from unmet.report import Live, read_run, render_page

    live = Live(PANEL, script=asset("what_if.js").decode(), style=asset("what_if.css").decode())
    page = render_page(read_run(folder), live=live)
    found = _POLICY.search(page)
    if found is None:
        raise RuntimeError("the report names no content security policy")
    # The same policy as in the page, and what only a header can say.
    policy = html.unescape(found[1]) + "; frame-ancestors 'none'"
    return Reply(page.encode(), content_type=HTML, policy=policy)
