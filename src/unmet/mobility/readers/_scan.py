"""Count the lines of a text file independently of any CSV reader, and note what needs care."""

import codecs
from dataclasses import dataclass
from pathlib import Path

LONGEST = 1_000_000  # bytes of a line that is still taken for a row
_CHUNK = 4 * 2**20
_FIRST = 64 * 1024


@dataclass(frozen=True)
class Scan:
    """What a byte scan found. ``careful`` says that the file must be read line by line."""

    lines: int
    careful: str | None
    first: bytes
    quotes: bool
    returns: bool


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, with its header."""
    with open(path, "rb") as file:
        return file.read(_FIRST)


def count_lines(path: Path) -> Scan:
    """Physical lines (ended by LF, the last one perhaps not), and why the file needs a careful reading."""
    lines, after_last, careful = 0, 0, None
    first, carry = b"", b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    returns = pairs = 0
    quotes = False
    last = b""
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            first = first or chunk[:_FIRST]
            lines += chunk.count(b"\n")
            quotes = quotes or b'"' in chunk
            if b"\0" in chunk:
                careful = careful or "NUL bytes"
            if b"\r" in chunk:
                returns += chunk.count(b"\r")
                pairs += chunk.count(b"\r\n")
            if last == b"\r" and chunk[:1] == b"\n":
                pairs += 1
            if careful is None and not (chunk.isascii() and not carry):
                try:
                    decoder.decode(chunk)
                    carry = decoder.getstate()[0]
                except UnicodeDecodeError:
                    careful = "not UTF-8"
            if not careful and _too_long(chunk, after_last):
                careful = "a very long line"
            cut = chunk.rfind(b"\n")
            after_last = len(chunk) - cut - 1 if cut >= 0 else after_last + len(chunk)
            last = chunk[-1:]
    if after_last:
        lines += 1
    if carry and careful is None:
        careful = "not UTF-8"
    if returns != pairs:
        careful = careful or "stray carriage returns"
    return Scan(lines, careful, first, quotes, returns > 0)


def _too_long(chunk: bytes, before: int) -> bool:
    """Whether some line in the chunk, with ``before`` bytes of it already read, exceeds the limit."""
    start = -before
    while start + LONGEST < len(chunk):
        cut = chunk.rfind(b"\n", max(start, 0), start + LONGEST + 1)
        if cut < 0:
            return True
        start = cut + 1
    return False
