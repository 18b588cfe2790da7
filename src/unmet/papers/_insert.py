"""Put generated tables into documents, between two markers."""

from collections.abc import Iterable
from pathlib import Path

from unmet.runs import read_regular, write_bytes

_MOST_BYTES = 2**26


def insert_tables(document: Path, folder: Path, names: Iterable[str]) -> list[str]:
    """Replace the text between `<!-- name -->` and `<!-- /name -->` by the file `name.md` of the folder.

    `document` is a Markdown file, or a folder of them. Return the names that have markers there. A marker
    that is not closed is an error, and its document stays as it is.
    """
    if document.is_dir():
        pages = sorted(document.rglob("*.md"))
        names = list(names)
        return [name for page in pages for name in insert_tables(page, folder, names)]
    text = read_regular(document, _MOST_BYTES).decode("utf-8")
    inserted = []
    for name in names:
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin not in text:
            continue
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
            raise ValueError(f"{document} must hold {begin} and then {end}, each once")
        content = (folder / f"{name}.md").read_text(encoding="utf-8").strip()
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{content}\n\n{end}{rest.split(end)[1]}"
        inserted.append(name)
    if inserted:
        write_bytes(document, text.encode())
    return inserted
