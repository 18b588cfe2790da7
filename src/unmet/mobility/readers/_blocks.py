"""Cells of a plain CSV file, a block of lines at a time: where they are, and what numbers they hold.

Plain means: UTF-8, no quotes, no carriage returns, no NUL bytes, the same number of cells in every line. Each
block proves this for itself; whatever is not as plain as that raises :class:`Uneven`, and the file is read in
another way.
"""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np

BLOCK = 1 << 21  # bytes at a time, half as many of short lines: their arrays stay in the processor's cache
_SHORT = 80  # bytes
_SLICE = 1 << 18  # bytes searched at a time: arrays of this size cost no fresh memory
_PAD = 256  # bytes before and after the lines, so that words around any cell may be looked at
_LONGEST = 1 << 16  # bytes of a line
WIDEST = 128  # bytes of a text that is looked at as a whole
FORBIDDEN = (b'"', b"\r", b"\0")
_TENS = np.uint64(10)
_ZEROS = np.uint64(0x3030303030303030)
_CARRY = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)


class Uneven(ValueError):
    """A block that is not plain."""


class Lines(NamedTuple):
    """Whole lines: the bytes from `begin` to `end`, with at least `_PAD` others on either side."""

    held: bytearray
    begin: int
    end: int


class Block:
    """Lines of `width` cells each; a line without its last one does not pass."""

    def __init__(self, lines: Lines, width: int, delimiter: str) -> None:
        held, begin, end = lines
        if any(held.find(mark, begin, end) >= 0 for mark in FORBIDDEN):
            raise Uneven("quotes, carriage returns or NUL bytes")
        if not held.isascii():
            try:
                held[begin:end].decode()
            except UnicodeDecodeError:
                raise Uneven("no UTF-8") from None
        self._lines = lines
        self._body = np.frombuffer(held, np.uint8)[begin:end]
        self.rows, ends = _ends(self._body, delimiter)
        if len(ends) != self.rows * width:
            raise Uneven("cells are missing or too many")
        self._ends = ends.reshape(self.rows, width)
        if (self._body[self._ends[:, -1]] != ord("\n")).any():
            raise Uneven("cells are missing or too many")

    def bounds(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells from column `first` to `last` begin, and how long they are together."""
        begin = np.empty(self.rows, np.int64)
        if first:
            np.add(self._ends[:, first - 1], 1, out=begin)
        else:
            begin[:1] = 0
            np.add(self._ends[:-1, -1], 1, out=begin[1:])
        return begin, self._ends[:, last] - begin

    def words(self, positions: np.ndarray, count: int = 1) -> list[np.ndarray]:
        """The bytes from each position on as unsigned integers of eight bytes, `count` of them."""
        # Where processors read fastest, eight bytes begin at multiples of eight: each word is made of two.
        aligned = np.frombuffer(self._lines.held, "<u8", len(self._lines.held) // 8)
        at = positions + self._lines.begin
        right = ((at & 7) << 3).view(np.uint64)
        left = np.uint64(64) - right
        at >>= 3
        found = []
        low = aligned.take(at)
        for number in range(1, count + 1):
            high = aligned[number:].take(at)
            low >>= right
            low |= high << left
            found.append(low)
            low = high
        return found

    def text(self, row: int, column: int) -> str:
        """One cell."""
        begin, length = self.bounds(column, column)
        start = self._lines.begin + int(begin[row])
        return self._lines.held[start : start + int(length[row])].decode()

    def bytes_of(self, column: int) -> np.ndarray:
        """The only byte of each cell."""
        begin, length = self.bounds(column, column)
        if (length != 1).any():
            raise Uneven("cells of other lengths")
        return self._body[begin]

    def whole(self, column: int, digits: int) -> np.ndarray:
        """Whole numbers of at most `digits` digits, without a sign."""
        begin, length = self.bounds(column, column)
        shortest, longest = int(length.min(initial=digits)), int(length.max(initial=1))
        if shortest < 1 or longest > digits:
            raise Uneven("no whole number")
        end = begin + length
        if shortest == longest:
            length = np.full(1, longest)
        value = _eight_digits(self.words(end - 8)[0], np.minimum(length, 8))
        if longest > 8:
            more = _eight_digits(self.words(end - 16)[0], np.maximum(length - 8, 0))
            value = value + more * 100_000_000
        return value


def _ends(body: np.ndarray, delimiter: str) -> tuple[int, np.ndarray]:
    """Number of lines, and where cells end."""
    lines, parts = 0, [np.zeros(0, np.int64)]
    for begin in range(0, len(body), _SLICE):
        part = body[begin : begin + _SLICE]
        marks = part == ord("\n")
        lines += int(np.count_nonzero(marks))
        marks |= part == ord(delimiter)
        found = np.flatnonzero(marks)
        found += begin
        parts.append(found)
    return lines, np.concatenate(parts)


def padded(text: bytes) -> Lines:
    """Lines that are in memory already."""
    return Lines(bytearray(_PAD) + text + bytes(_PAD), _PAD, _PAD + len(text))


def block_size(path: Path) -> int:
    """How many bytes of a file are best taken at a time."""
    with open(path, "rb") as file:
        first = file.read(1 << 16)
    return BLOCK if len(first) > _SHORT * first.count(b"\n") else BLOCK // 2


def blocks(path: Path, size: int = BLOCK, held: int = 1) -> Iterator[Lines]:
    """Whole lines of a file after its first one, about `size` bytes at a time.

    Lines stay as they are until the `held`-th ones after them are asked for: fresh memory costs more.
    """
    begin = _PAD + _LONGEST  # what is read comes here, the beginning of its first line before it
    buffers = cycle([bytearray(begin + size + _PAD) for _ in range(held)])
    rest, header = b"", True
    with open(path, "rb", buffering=0) as file:
        for buffer in buffers:
            with memoryview(buffer) as view, view[begin : begin + size] as free:
                end = begin + (file.readinto(free) or 0)
            first, last = begin - len(rest), end == begin
            buffer[first:begin] = rest
            if last and rest:  # the last line may lack its end
                buffer[end] = ord("\n")
                end += 1
            cut = buffer.rfind(b"\n", first, end) + 1 or first
            rest = bytes(buffer[cut:end])
            if len(rest) > _LONGEST:
                raise Uneven("a very long line")
            if header and cut > first:
                first = buffer.index(b"\n", first) + 1
                header = False
            if cut > first:
                yield Lines(buffer, first, cut)
            if last:
                return


def digits_of(words: np.ndarray, mask: np.ndarray | np.uint64) -> np.ndarray:
    """Each byte under the mask as the digit that it shows, the others 0."""
    found = (words ^ _ZEROS) & mask
    if (((found + _CARRY) | found) & _HIGH).any():
        raise Uneven("no digit")
    return found


def pairs(digits: np.ndarray) -> np.ndarray:
    """In each byte the number of two digits that begins there."""
    return digits * _TENS + (digits >> np.uint64(8))


# The last n bytes of a word, n from 0 to 8: where a number of n digits ends with the word.
_LAST = np.array([0] + [(2**64 - 1) ^ (2 ** (64 - 8 * n) - 1) for n in range(1, 9)], np.uint64)
# The first n bytes of a word.
FIRST = np.array([2 ** (8 * n) - 1 for n in range(9)], np.uint64)


def _eight_digits(words: np.ndarray, length: np.ndarray) -> np.ndarray:
    two = pairs(digits_of(words, _LAST[length])) & np.uint64(0x00FF00FF00FF00FF)
    four = (two * np.uint64(100) + (two >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return ((four * np.uint64(10_000) + (four >> np.uint64(32))) & np.uint64(0xFFFFFFFF)).view(np.int64)
