"""JSON that can stand inside a script element whatever the texts in it say."""

import json
import math
from typing import Any

# `<` ends or opens elements, `&` matters in XHTML, the two separators end lines in older JavaScript.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'\u2028\u2029"}


def script_json(value: Any) -> str:
    """Compact JSON without any sign that HTML or JavaScript could take for its own; never NaN or Infinity.

    Examples
    --------
    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_UNSAFE)


def _finite(value: Any) -> Any:
    """Numbers that JSON does not have become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
