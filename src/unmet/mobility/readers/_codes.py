"""Texts that repeat as small numbers: each distinct one is kept once."""

import threading

import numpy as np

from unmet.mobility.readers._blocks import FIRST, WIDEST, Block, Uneven

_MOST = 200_000  # distinct texts; where there are more, they do not repeat enough
_SLOT_BITS = 14
_SEED = np.random.Generator(np.random.PCG64(20)).integers(0, 2**63, WIDEST // 8, np.uint64) * np.uint64(2) + (
    np.uint64(1)
)


class Codes:
    """Numbers of the texts in one column, or in a run of columns, of a file.

    A text is found by a hash and then compared byte by byte, so that equal numbers mean equal texts.
    """

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.texts: list[bytes] = []
        self._lock = threading.Lock()
        self._learn(np.zeros((0, 1), np.uint64))

    def of(self, block: Block) -> np.ndarray:
        """The number of each line's text; texts not met before are given the next numbers."""
        begin, length = block.bounds(self.first, self.last)
        longest = int(length.max(initial=0))
        if longest > WIDEST:
            raise Uneven("a long text")
        width = max(1, -(-longest // 8))
        words = block.window(begin, 8 * width)
        for number in range(int(length.min(initial=0)) // 8, width):  # bytes after the text
            words[:, number] &= FIRST[np.clip(length - 8 * number, 0, 8)]
        numbers, missing = self._known(words)
        if len(missing):
            with self._lock:
                self._add(words[missing])
            numbers, missing = self._known(words)
            if len(missing):
                raise Uneven("two texts with one hash")
        return numbers

    def _known(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the texts, and the rows whose text is not known."""
        hashes, order, slots, columns = self._table
        found = _hash(words)
        rank = slots[found >> np.uint64(64 - _SLOT_BITS)]
        elsewhere = np.flatnonzero(hashes[rank] != found)
        if len(elsewhere):
            rank[elsewhere] = np.minimum(np.searchsorted(hashes, found[elsewhere]), len(hashes) - 1)
        numbers = order[rank]
        wrong = hashes[rank] ^ found
        for number in range(max(words.shape[1], len(columns))):
            own = words[:, number] if number < words.shape[1] else np.uint64(0)
            wrong |= (columns[number][numbers] if number < len(columns) else np.uint64(0)) ^ own
        return numbers, np.flatnonzero((wrong != 0) | (numbers < 0))

    def _add(self, words: np.ndarray) -> None:
        _, missing = self._known(words)  # another thread may have added them meanwhile
        new = np.unique(words[missing], axis=0)
        if len(self.texts) + len(new) > _MOST:
            raise Uneven("too many distinct texts")
        self.texts += [row.tobytes().rstrip(b"\0") for row in new]
        self._learn(new)

    def _learn(self, new: np.ndarray) -> None:
        """Put further texts into the table, which is replaced as a whole: readers need no lock."""
        if not self.texts:
            nothing = np.zeros(1, np.uint64)
            self._table = nothing, np.full(1, -1, np.int32), np.zeros(1 << _SLOT_BITS, np.int32), [nothing]
            return
        old = self._table[3]
        before = len(self.texts) - len(new)
        width = max(new.shape[1], len(old) if before else 1)
        columns = []
        for number in range(width):
            column = np.zeros(len(self.texts), np.uint64)
            if before and number < len(old):
                column[:before] = old[number]
            if number < new.shape[1]:
                column[before:] = new[:, number]
            columns.append(column)
        hashes = _hash(np.stack(columns, axis=1))
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        hashes = hashes[order]
        slots = np.zeros(1 << _SLOT_BITS, np.int32)
        slots[hashes >> np.uint64(64 - _SLOT_BITS)] = np.arange(len(hashes))
        self._table = hashes, order, slots, columns


def _hash(words: np.ndarray) -> np.ndarray:
    """Equal for texts that differ only in zeros at their end."""
    found = words[:, 0] * _SEED[0]
    for number in range(1, words.shape[1]):
        found += words[:, number] * _SEED[number]
    found ^= found >> np.uint64(29)
    found *= _SEED[0]
    return found
