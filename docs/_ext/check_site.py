"""Check the built site: every link leads somewhere, and nothing is loaded from elsewhere.

python docs/_ext/check_site.py out/docs
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that load what they name, and the attribute that names it.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The anchors, links and loads of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if (
            tag in LOADS
            and given.get(LOADS[tag])
            and given.get("rel") not in ("canonical", "index", "search", "next", "prev")
        ):
            self.loads.add(given[LOADS[tag]])


def problems(site: Path) -> list[str]:
    """Return what is wrong, one line each."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if path.parent.name != "_static"
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in sorted(page.loads):
            if urlsplit(target).scheme not in ("", "data"):
                found.append(f"{name} loads {target}")
        for target in sorted(page.links | page.loads):
            parts = urlsplit(target)
            if parts.scheme or target.startswith("//"):
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if goal.is_dir():
                goal /= "index.html"
            if not goal.exists():
                found.append(f"{name} links to {target}, which is not there")
            elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].anchors:
                found.append(f"{name} links to {target}, an anchor that is not there")
    for style in site.rglob("*.css"):
        if "url(http" in style.read_text(encoding="utf-8").replace('"', "").replace("'", ""):
            found.append(f"{style.relative_to(site)} loads from elsewhere")
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]).resolve())
    print("\n".join(wrong) or "every link leads somewhere; nothing is loaded from elsewhere")
    raise SystemExit(bool(wrong))
