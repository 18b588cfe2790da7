"""Cells of a plain CSV file, a block of lines at a time: where they are, and what numbers they hold.

Plain means: no quotes, no carriage returns, the same number of cells in every line. Whatever is not as plain
as that raises :class:`Uneven`, and the file is read in another way.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

BLOCK = 1 << 20  # bytes at a time: arrays of this size stay in the processor's cache
_PAD = 256  # bytes before and after the lines, so that any cell may be looked at in a wide window
WIDEST = 128  # bytes of a window
_TENS = np.uint64(10)
_ZEROS = np.uint64(0x3030303030303030)
_CARRY = np.uint64(0x7676767676767676)
_HIGH = np.uint64(0x8080808080808080)


class Uneven(ValueError):
    """A block that is not plain."""


class Block:
    """Lines of `width` cells each; a line without its last one does not pass."""

    def __init__(self, lines: bytes, width: int, delimiter: str) -> None:
        self._bytes = bytes(_PAD) + lines + bytes(_PAD)
        body = np.frombuffer(self._bytes, np.uint8)[_PAD:-_PAD]
        ends = body == ord("\n")
        ends_at = np.flatnonzero(ends | (body == ord(delimiter)))
        self.rows = int(np.count_nonzero(ends))
        if len(ends_at) != self.rows * width:
            raise Uneven("cells are missing or too many")
        self._ends = ends_at.reshape(self.rows, width)
        if not ends[self._ends[:, -1]].all():
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

    def window(self, begin: np.ndarray, size: int) -> np.ndarray:
        """The bytes from each position on, as unsigned integers of eight bytes in columns."""
        every = np.ndarray((len(self._bytes) - size,), f"V{size}", self._bytes, 0, (1,))
        return every[begin + _PAD].view("<u8").reshape(len(begin), size // 8)

    def text(self, row: int, column: int) -> str:
        """One cell."""
        begin, length = self.bounds(column, column)
        start = int(begin[row]) + _PAD
        return self._bytes[start : start + int(length[row])].decode()

    def bytes_of(self, column: int) -> np.ndarray:
        """The only byte of each cell."""
        begin, length = self.bounds(column, column)
        if (length != 1).any():
            raise Uneven("cells of other lengths")
        return np.frombuffer(self._bytes, np.uint8)[begin + _PAD]

    def whole(self, column: int, digits: int) -> np.ndarray:
        """Whole numbers of at most `digits` digits, without a sign."""
        begin, length = self.bounds(column, column)
        longest = int(length.max(initial=0))
        if int(length.min(initial=1)) < 1 or longest > digits:
            raise Uneven("no whole number")
        end = begin + length
        value = _eight_digits(self.window(end - 8, 8)[:, 0], np.minimum(length, 8))
        if longest > 8:
            more = _eight_digits(self.window(end - 16, 8)[:, 0], np.maximum(length - 8, 0))
            value = value + more * 100_000_000
        return value


def blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """Whole lines of a file after its first one, about `size` bytes at a time."""
    rest = b""
    with open(path, "rb") as file:
        file.readline()
        while chunk := file.read(size):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield rest + chunk[:cut]
                rest = chunk[cut:]
            else:
                rest += chunk
    if rest:
        yield rest + b"\n"


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
