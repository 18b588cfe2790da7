"""JSON: documents and JSON Lines, the values of feeds, each checked, and lists of flat records as rows."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unmet.mobility.sources._csv import Reject, physical_lines
from unmet.mobility.sources._formats import Kind
from unmet.mobility.sources._relation import LONGEST_ID

MAX_JSON = 512 * 2**20


@dataclass
class Feed:
    """A JSON document as a table: numbered rows, and the items that were rejected."""

    kind: Kind | None  # None: a known feed that is not needed here
    format: str
    header: list[str] = field(default_factory=list)
    rows: list[tuple[int, list[Any]]] = field(default_factory=list)
    rejects: list[tuple[int, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def items(self) -> int:
        return len(self.rows) + len(self.rejects)


class BadItem(ValueError):
    """An item of a feed cannot be used; the message says why."""


def load_json(path: Path, name: str) -> Any:
    """Return the document in a file. Infinite and NaN numbers are allowed here and rejected item by item."""
    if path.stat().st_size > MAX_JSON:
        raise ValueError(f"{name} is a JSON file of more than {MAX_JSON:,} bytes; split it")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{name} is JSON that is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{name} is not JSON: {' '.join(str(error).split())[:150]}") from None


def collect(feed: Feed, found: Any, row: Callable[[dict[str, Any]], list[Any]]) -> Feed:
    """Add a row for each object of a list; reject what is no object, and what `row` calls a `BadItem`."""
    for number, item in enumerate(found if isinstance(found, list) else [], start=1):
        try:
            if not isinstance(item, dict):
                raise BadItem("not an object")
            feed.rows.append((number, row(item)))
        except BadItem as error:
            feed.rejects.append((number, str(error), shown(item)))
    return feed


def shown(item: Any) -> str:
    """Return an item as short text for the table of rejects."""
    try:
        return json.dumps(item, ensure_ascii=True, default=str)[:500]
    except (ValueError, RecursionError):
        return "?"


def identifier(item: dict[str, Any], *names: str) -> str:
    """Return the first of these ids that the item has, as text."""
    for name in names:
        value = item.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (str, int)) and str(value).strip():
            return _short(str(value).strip(), name)
    raise BadItem(f"no {names[0]}")


def _short(text: str, name: str) -> str:
    """Return an id or name that is not absurdly long."""
    if len(text.encode(errors="replace")) > LONGEST_ID:
        raise BadItem(f"{name} is longer than {LONGEST_ID} characters")
    return text


def whole(item: dict[str, Any], *names: str, most: int = 1_000_000) -> int | None:
    """Return the first of these counts that the item has; ``None`` if it has none."""
    for name in names:
        value = item.get(name)
        if value is None:
            continue
        number = finite(value, name)
        if number != int(number):
            raise BadItem(f"{name} is not a whole number")
        if number < 0:
            raise BadItem(f"{name} is negative")
        if number > most:
            raise BadItem(f"{name} is absurdly large")
        return int(number)
    return None


def finite(value: Any, name: str) -> float:
    """Return a JSON value as a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadItem(f"{name} is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadItem(f"{name} is not finite") from None
    if not math.isfinite(number):
        raise BadItem(f"{name} is not finite")
    return number


def degrees(value: Any, name: str, limit: float) -> float:
    """Return a coordinate, which must lie between -limit and limit."""
    number = finite(value, name)
    if abs(number) > limit:
        raise BadItem(f"{name} outside ±{limit:g}")
    return number


def truth(item: dict[str, Any], name: str, default: bool | None) -> bool | None:
    """Return a flag written as true/false or 1/0."""
    value = item.get(name, default)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    raise BadItem(f"{name} is neither true nor false")


def moment(value: Any, name: str, unit: str = "s") -> datetime:
    """Return a time as naive UTC. It is RFC 3339 text, or POSIX time in seconds or milliseconds (`unit`)."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip().replace("Z", "+00:00").replace("z", "+00:00"))
        except ValueError:
            raise BadItem(f"{name} is not a time") from None
        if parsed.tzinfo is None:
            raise BadItem(f"{name} has no zone")
        try:
            parsed = parsed.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            raise BadItem(f"{name} outside 1990-2100") from None
    else:
        number = finite(value, name)
        if unit == "s" and 631152000000 <= number < 4102444800000:
            raise BadItem(f"{name} is in milliseconds")
        if unit == "ms" and 631152000 <= number < 4102444800:
            raise BadItem(f"{name} is in seconds")
        seconds = number / 1000 if unit == "ms" else number
        if not 631152000 <= seconds < 4102444800:
            raise BadItem(f"{name} outside 1990-2100")
        parsed = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    if not 1990 <= parsed.year < 2100:
        raise BadItem(f"{name} outside 1990-2100")
    return parsed


def stamp(when: datetime) -> str:
    """Return a naive UTC time as text that says it is UTC."""
    return when.isoformat(timespec="microseconds") + "Z"


def localised(value: Any) -> str | None:
    """Return a name: a text or, in GBFS 3, the English text of a list, else its first one."""
    if isinstance(value, str):
        return _short(value.strip(), "a name") or None
    if isinstance(value, list):
        texts = [entry for entry in value if isinstance(entry, dict) and isinstance(entry.get("text"), str)]
        texts.sort(key=lambda entry: not str(entry.get("language", "")).lower().startswith("en"))
        return _short(texts[0]["text"].strip(), "a name") or None if texts else None
    return None


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
    numbered: bool = False  # whether numbers are those of lines in the file

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
    flat = FlatRows(header_of(value for _, _, value in json_lines(path)), numbered=True)
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
