"""JSON Lines, and JSON lists of flat records: one object per trip or record, with its keys as columns."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmet.mobility.sources._json import shown
from unmet.mobility.sources._repair import Reject, physical_lines

_KEYS_FROM = 1000  # objects whose keys make the header
_MOST_KEYS = 500


@dataclass
class FlatRows:
    """Objects as rows of cells, numbered, and what is no object."""

    header: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    lines: int = 0
    blank: int = 0

    def add(self, number: int, item: dict[str, Any]) -> None:
        cells = flattened(item)
        self.rows.append([number, *(cells.get(name, "") for name in self.header)])


def is_json_lines(path: Path) -> bool:
    """Return whether a file has a JSON object on its first line and more after it."""
    with open(path, "rb") as file:
        found = 0
        for raw, long in physical_lines(file):
            text = raw.strip().removeprefix(b"\xef\xbb\xbf")
            if not text:
                continue
            if long or not isinstance(parsed(text), dict):
                return found == 1 and text[:1] == b"{"
            found += 1
            if found == 2:
                return True
    return False


def parsed(text: bytes) -> Any:
    """Return the JSON value in a line; ``None`` if there is none."""
    try:
        return json.loads(text.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return None


def json_lines(path: Path) -> Iterator[tuple[int, bytes, Any]]:
    """Yield number, text and value of every line; the value is ``None`` if the line is no JSON."""
    with open(path, "rb") as file:
        for number, (raw, long) in enumerate(physical_lines(file), start=1):
            yield number, raw, None if long else parsed(raw.strip())


def flat_lines(path: Path) -> FlatRows:
    """Return the objects of a JSON Lines file as rows."""
    flat = FlatRows(header_of(value for _, _, value in json_lines(path)))
    for number, raw, value in json_lines(path):
        flat.lines = number
        if isinstance(value, dict):
            flat.add(number, value)
            continue
        blank = not raw.strip()
        flat.blank += blank
        text = raw[:500].decode("utf-8", errors="replace").strip("\r\n").replace("\0", "\\0")
        flat.rejects.append((number, "blank line" if blank else "not a JSON object", text))
    return flat


def flat_items(document: Any) -> list[Any] | None:
    """Return the list of records in a document: the document itself, or its only list of objects."""
    if isinstance(document, dict):
        lists = [value for value in document.values() if _is_table(value)]
        if len(lists) == 1:
            return list(lists[0])
        return (
            [document]
            if document and all(not isinstance(v, dict | list) for v in document.values())
            else None
        )
    return document if _is_table(document) else None


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value[:10])


def flat_list(found: list[Any]) -> FlatRows:
    """Return the objects of a list as rows."""
    flat = FlatRows(header_of(iter(found)), lines=len(found))
    for number, item in enumerate(found, start=1):
        if isinstance(item, dict):
            flat.add(number, item)
        else:
            flat.rejects.append((number, "not a JSON object", shown(item)))
    return flat


def header_of(values: Iterator[Any]) -> list[str]:
    """Return the keys of the first objects, in the order in which they appear."""
    names: dict[str, None] = {}
    seen = 0
    for value in values:
        if isinstance(value, dict):
            seen += 1
            names |= dict.fromkeys(flattened(value))
            if seen >= _KEYS_FROM or len(names) > _MOST_KEYS:
                break
    return list(names)[:_MOST_KEYS]


def flattened(item: dict[str, Any]) -> dict[str, str]:
    """Return an object as texts, with objects inside it as ``outer.inner``."""
    cells: dict[str, str] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            cells |= {f"{key}.{inner}": _text(one) for inner, one in value.items()}
        else:
            cells[str(key)] = _text(value)
    return cells


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, default=str)
