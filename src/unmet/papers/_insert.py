"""Put generated tables into a document, between two markers."""

from collections.abc import Iterable
from pathlib import Path

from unmet.runs import write_bytes


def insert_tables(document: Path, folder: Path, names: Iterable[str]) -> list[str]:
    """Replace the text between `<!-- name -->` and `<!-- /name -->` by the file `name.md` of the folder.

    Return the names that the document has markers for. A marker that is not closed is an error, and the
    document stays as it is.
    """
    text = document.read_text(encoding="utf-8")
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
    write_bytes(document, text.encode())
    return inserted
