"""The one way in which names, texts and paths enter SQL."""

import os
import re
from collections.abc import Mapping

_WILDCARDS = re.compile(r"[*?\[]")


def identifier(name: str) -> str:
    """Return the name of a column or table as an SQL identifier.

    >>> identifier('a "b" c')
    '"a ""b"" c"'
    """
    if "\0" in name:
        raise ValueError(f"a name must not contain a NUL character, got {name!r}")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal.

    >>> literal("Queen's Road")
    "'Queen''s Road'"
    """
    if "\0" in text:
        raise ValueError(f"a text must not contain a NUL character, got {text!r}")
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a file to read as an SQL literal that stands for that file alone.

    DuckDB expands ``*``, ``?`` and ``[…]`` in paths. Each is wrapped in brackets of its own, which match
    exactly that character.

    >>> literal_path("ref[1].csv")
    "'ref[[]1].csv'"
    """
    return literal(escape_wildcards(os.fspath(path)))


def escape_wildcards(path: str) -> str:
    """Return the pattern that matches only this path."""
    return _WILDCARDS.sub(r"[\g<0>]", path)


def parquet_notes(notes: Mapping[str, str]) -> str:
    """Return the options of COPY that write a Parquet file with these notes in its metadata."""
    pairs = ", ".join(f"{literal(key)}: {literal(text)}" for key, text in notes.items())
    return "FORMAT parquet, COMPRESSION zstd" + (f", KV_METADATA {{{pairs}}}" if pairs else "")
