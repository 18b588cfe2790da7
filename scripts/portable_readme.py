"""The README as a package index can show it: no link or image may depend on the repository around it."""

import re

_IMAGE = re.compile(r"!\[([^\]]*)\]\((?!https://)([^)]+)\)\n*")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https://|#)([^)]+)\)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.S)


def portable(text: str, source: str | None) -> str:
    """Return the text with absolute links under `source`, or, without one, with their words alone.

    Examples
    --------
    >>> portable("see [design](docs/design.md)", None)
    'see design'
    >>> portable("see [design](docs/design.md)", "https://example.org/unmet")
    'see [design](https://example.org/unmet/blob/main/docs/design.md)'
    """
    text = _COMMENT.sub("", text)
    if source is None:
        return _LINK.sub(r"\1", _IMAGE.sub("", text))
    source = source.rstrip("/")
    text = _IMAGE.sub(rf"![\1]({source}/raw/main/\2)\n\n", text)
    return _LINK.sub(rf"[\1]({source}/blob/main/\2)", text)
