"""The pages of the service and their parts, made once at the start. No request names a file."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from importlib.resources import files

from unmet.serve._source import Source

HTML = "text/html; charset=utf-8"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
OWN_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PANEL = '<div id="wi-panel"></div><p class="wi-note"><a href="/docs">The same answers for programs</a></p>'
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]+)">')


@dataclass(frozen=True)
class Page:
    """A page, script or style sheet; `policy` is its content security policy."""

    body: bytes
    media_type: str
    policy: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.policy is None else {"content-security-policy": self.policy}


def static_pages(source: Source) -> dict[str, Page]:
    """Return everything that is not an answer of the API, by path."""
    found = {
        f"/assets/{name}": Page(asset(name), TYPES[name[name.rindex(".") :]])
        for name in ("plain.css", "what_if.css", "what_if.js", "docs.js")
    }
    return found | {"/docs": Page(asset("docs.html"), HTML, OWN_ONLY), "/": _front(source)}


def asset(name: str) -> bytes:
    """Return a file of this package."""
    return (files("unmet.serve") / "assets" / name).read_bytes()


def _front(source: Source) -> Page:
    """Return the report with the what-if panel, or the panel alone while the run has no report."""
    report = source.render_report(PANEL, asset("what_if.js").decode(), asset("what_if.css").decode())
    if report is None:
        return Page(asset("plain.html"), HTML, OWN_ONLY)
    found = _POLICY.search(report)
    if found is None:
        raise RuntimeError("the report has no content security policy")
    # The policy of the page itself, plus what only a header can say.
    return Page(report.encode(), HTML, html.unescape(found[1]) + "; frame-ancestors 'none'")
