"""Parameters of the API: what each may be, written once for the reader of requests and for the document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

import numpy as np

from unmet.serve._http import JSON, Problem, Request

MOST_FIELDS = 1100  # 1,000 places and the rest


@dataclass(frozen=True)
class Parameter:
    """One parameter; `kind` is integer, number, text, texts, time or date, the bounds are inclusive."""

    name: str
    kind: str
    about: str
    required: bool = False
    low: float | None = None
    high: float | None = None
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """The parameter in JSON Schema."""
        text = {"type": "string", "minLength": 1, "maxLength": 200}
        found: dict[str, Any]
        if self.kind in ("integer", "number"):
            found = {"type": self.kind, "minimum": self.low, "maximum": self.high}
        elif self.kind == "texts":
            found = {"type": "array", "items": text, "minItems": 1, "maxItems": 1000}
        elif self.kind == "time":
            found = {"anyOf": [{"type": "string", "format": name} for name in ("date", "date-time")]}
        elif self.kind == "date":
            found = {"type": "string", "format": "date"}
        else:
            found = text
        return found | ({"default": self.default} if self.default is not None else {})

    def read(self, given: Any, zone: ZoneInfo) -> Any:
        """The value of the parameter, from JSON or from text; a Problem if it is none."""
        if self.kind == "texts":
            values = given if isinstance(given, list) else [given]
            if not 1 <= len(values) <= 1000 or not all(_is_text(value) for value in values):
                raise self._wrong("1 to 1,000 texts of 1 to 200 characters")
            return tuple(dict.fromkeys(values))
        if self.kind in ("integer", "number"):
            return self._number(given)
        if not _is_text(given):
            raise self._wrong("a text of 1 to 200 characters")
        if self.kind == "time":
            return self._time(given, zone)
        return self._date(given) if self.kind == "date" else given

    def _number(self, given: Any) -> float | int:
        whole = self.kind == "integer"
        pattern = r"-?\d{1,12}" if whole else r"-?\d{1,15}(\.\d{1,20})?([eE][+-]?\d{1,3})?"
        if isinstance(given, str) and re.fullmatch(pattern, given, re.ASCII):
            given = float(given)
        # JSON writes the whole number 5 as 5 or as 5.0
        if not isinstance(given, int | float) or isinstance(given, bool) or not _finite(given):
            raise self._wrong(f"{'a whole number' if whole else 'a number'}{self._bounds()}")
        value = float(given)
        if (whole and value != int(value)) or not self._within(value):
            raise self._wrong(f"{'a whole number' if whole else 'a number'}{self._bounds()}")
        return int(value) if whole else value

    def _within(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def _bounds(self) -> str:
        return "" if self.low is None else f" from {self.low:,g} to {self.high:,g}"

    def _time(self, given: str, zone: ZoneInfo) -> np.datetime64:
        """A moment in UTC: a date is its local midnight, a time without an offset is UTC as in the files."""
        try:
            if len(given) == 10:
                found = datetime.combine(date.fromisoformat(given), datetime.min.time(), zone)
            else:
                found = datetime.fromisoformat(given)
            if found.tzinfo is not None:
                found = found.astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError):
            raise self._wrong("a date (2024-05-31) or a time (2024-05-31T08:00:00Z)") from None
        return np.datetime64(found, "us")

    def _date(self, given: str) -> date:
        try:
            if len(given) != 10:
                raise ValueError("not of the form 2024-05-31")
            return date.fromisoformat(given)
        except ValueError:
            raise self._wrong("a date such as 2024-05-31") from None

    def _wrong(self, wanted: str) -> Problem:
        return Problem(400, f"{self.name} must be {wanted}")


async def read_parameters(
    request: Request, parameters: Sequence[Parameter], zone: ZoneInfo
) -> dict[str, Any]:
    """Values of all parameters, from the query or the JSON body of a POST; unknown ones are a Problem."""
    if request.method == "POST":
        if request.query:
            raise Problem(400, "a POST takes its parameters from its body, not from the query")
        given = _from_body(await request.body(), request.headers.get("content-type", ""))
    else:
        given = _from_query(request.query, parameters)
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise Problem(400, f"{name[:40]!r} is not a parameter here; there are: {names}")
    values = {}
    for parameter in parameters:
        if parameter.name in given:
            values[parameter.name] = parameter.read(given[parameter.name], zone)
        elif parameter.required:
            raise Problem(400, f"{parameter.name} is missing: {parameter.about}")
        else:
            values[parameter.name] = parameter.default
    return values


def _from_query(query: str, parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise Problem(400, "the query is not UTF-8 or has too many fields") from None
    lists = {parameter.name for parameter in parameters if parameter.kind == "texts"}
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            given.setdefault(name, []).append(value)
        elif name in given:
            raise Problem(400, f"{name[:40]!r} is given twice")
        else:
            given[name] = value
    return given


def _from_body(body: bytes, content_type: str) -> Mapping[str, Any]:
    if content_type.partition(";")[0].strip().lower() != JSON:
        raise Problem(415, f"the body must be {JSON}")
    try:
        given = json.loads(body, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Problem(400, "the body is not a JSON object with each key once") from None
    if not isinstance(given, dict):
        raise Problem(400, "the body must be a JSON object")
    return given


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 200


def _finite(value: int | float) -> bool:
    """Whether a number is one that a float can hold; integers of any length come out of JSON."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
