"""JSON that means one thing only: one spelling of each value, no duplicate keys, no NaN, bounded size."""

import json
import math
from collections import Counter
from typing import Any

MAX_DEPTH = 32
MAX_INTEGER_BITS = 1024


def check_json(value: Any, name: str = "config", depth: int = 0) -> None:
    """Raise ValueError, naming the key, unless `value` comes back from JSON exactly as it is.

    Allowed are str, int, finite float, bool, None, lists, and dicts with str keys. Tuples are not: they would
    come back as lists.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"{name} is nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, bool | str):
        return
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise ValueError(f"{name} is an integer of more than {MAX_INTEGER_BITS} bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value}: JSON has finite numbers only; use None or a string")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            check_json(item, f"{name}[{index}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{name} has the key {key!r}: keys must be str, not {type(key).__name__}")
            check_json(item, f"{name}[{key!r}]", depth + 1)
    else:
        raise ValueError(
            f"{name} is a {type(value).__name__}, which JSON cannot hold: "
            "give str, int, float, bool, None, a list or a dict"
        )


def to_json(value: Any, name: str = "config") -> bytes:
    """The one spelling of `value`: sorted keys, ASCII only, floats by their shortest exact form."""
    check_json(value, name)
    text = json.dumps(value, sort_keys=True, indent=1, allow_nan=False)
    return text.encode("ascii") + b"\n"


def from_json(data: bytes, *, max_bytes: int) -> Any:
    """Read what `to_json` wrote; anything else, down to a blank too many, is a ValueError."""
    if len(data) > max_bytes:
        raise ValueError(f"has {len(data)} bytes of JSON, more than the {max_bytes} allowed")
    value = parse_json(data)
    if to_json(value, "the file") != data:
        raise ValueError("is not in the form in which it was written: it was edited or is damaged")
    return value


def parse_json(data: bytes) -> Any:
    """Parse JSON in any spelling, but without duplicate keys, NaN, infinities or absurd depth."""
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8: it is damaged or not JSON") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON ({error})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"has the key {repeated[:80]!r} twice")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"holds {name}, which is not a number that JSON allows")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"holds {text[:40]}, which is beyond the range of a float")
    return value
