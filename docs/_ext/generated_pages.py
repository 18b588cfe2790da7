"""A Sphinx extension that writes the reference pages from the code before Sphinx reads any page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from command_pages import command_pages
from file_pages import file_pages
from name_pages import name_pages
from pictures import draw_pictures


def write_pages(folder: Path) -> None:
    """Write the pages that changed, and remove those of things that are gone."""
    for part, suffix, pages in (
        ("commands", ".md", command_pages()),
        ("files", ".md", file_pages()),
        ("names", ".rst", name_pages()),
    ):
        home = folder / "reference" / part
        home.mkdir(parents=True, exist_ok=True)
        wanted = {home / f"{name}{suffix}": text for name, text in pages.items()}
        for path in set(home.iterdir()) - set(wanted):
            path.unlink()
        for path, text in wanted.items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")


def build(app: Any) -> None:
    """Write the pages and draw the pictures."""
    write_pages(Path(app.srcdir))
    draw_pictures(Path(app.srcdir) / "explanation" / "pictures")


def plain_signs(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape |x| and y* outside code, which docstrings mean as mathematics and reStructuredText as markup."""
    for number, line in enumerate(lines):
        parts = re.split(r"(`+[^`]*`+)", line)
        parts[::2] = [re.sub(r"(?<=\b\w)\*(?!\*)", r"\\*", part.replace("|", "\\|")) for part in parts[::2]]
        lines[number] = "".join(parts)


def skip_foreign(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn adds to every estimator for routing."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Any) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("builder-inited", build)
    app.connect("autodoc-process-docstring", plain_signs, priority=400)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
