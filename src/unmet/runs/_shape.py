"""The shape of a JSON value: which parts it has and of what kind each is."""

from typing import Any

_LONGEST = 10_000
_KINDS = {
    "number": "a finite number",
    "share": "a number between 0 and 1",
    "count": "a whole number of at least 0",
    "text": "a short text",
    "flag": "true or false",
}


def check_shape(value: Any, shape: Any, name: str) -> None:
    """Raise a ValueError that names the part unless a JSON value has this shape.

    Parameters
    ----------
    shape : "number", "share", "count", "text", "flag" or "any"; [shape] for a list of such values; a dict of
        shapes by key, or {"*": shape} for any keys; (None, shape) where null is allowed.
    """
    if isinstance(shape, tuple):
        if value is not None:
            check_shape(value, shape[1], name)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise ValueError(f"{name} is not a list")
        for index, item in enumerate(value):
            check_shape(item, shape[0], f"{name}[{index}]")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{name} is not an object")
        odd = set() if "*" in shape else set(value) ^ set(shape)
        if odd:
            part = min(odd)
            raise ValueError(f"{name} {'lacks' if part in shape else 'has the unknown part'} {part[:40]!r}")
        for key, item in value.items():
            check_shape(item, shape.get("*", shape.get(key)), f"{name}[{key[:40]!r}]")
    elif shape != "any" and not _is(value, shape):
        raise ValueError(f"{name} is not {_KINDS[shape]}")


def _is(value: Any, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str) and len(value) <= _LONGEST
    if kind == "flag":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return False
    if kind == "count":
        return isinstance(value, int) and 0 <= value < 2**128
    return kind == "number" or 0 < value < 1
