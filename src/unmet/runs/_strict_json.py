"""Strict JSON: one spelling of each value, no duplicate keys, no NaN, bounded size."""

import json
import math
from collections import Counter
from typing import Any

MAX_DEPTH = 32
MAX_INTEGER_BITS = 1024


def check_json(value: Any, name: str = "config", depth: int = 0) -> None:
    """Raise a ValueError that names the key unless `value` survives JSON unchanged.

    Allowed are str, int, finite float, bool, None, lists, and dicts with str keys. Tuples would come back as
    lists, so they are refused.
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
            raise ValueError(f"{name} is {value}: JSON holds finite numbers only; use None or a string")
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
    """Return `value` in its one spelling: sorted keys, ASCII only, floats in their shortest exact form."""
    check_json(value, name)
    text = json.dumps(value, sort_keys=True, indent=1, allow_nan=False)
    return text.encode("ascii") + b"\n"


def from_json(data: bytes, *, max_bytes: int) -> Any:
    """Read what `to_json` wrote; any other spelling, even one extra space, is a ValueError."""
    if len(data) > max_bytes:
        raise ValueError(f"has {len(data)} bytes of JSON, more than the {max_bytes} allowed")
    value = parse_json(data)
    if to_json(value, "the file") != data:
        raise ValueError("is not as it was written: it was edited or is damaged")
    return value


def parse_json(data: bytes) -> Any:
    """Parse JSON in any spelling; refuse duplicate keys, NaN, infinities and absurd depth."""
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
        raise ValueError("is not UTF-8 text: it is damaged or not JSON") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON ({error})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"has the duplicate key {repeated[:80]!r}")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"holds {name}, which JSON does not allow")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"holds {text[:40]}, which is beyond the range of a float")
    return value
