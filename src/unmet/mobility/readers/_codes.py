"""Texts that repeat as small numbers: each distinct one is kept once."""

from itertools import zip_longest

import numpy as np

from unmet.mobility.readers._blocks import FIRST, WIDEST, Block, Uneven

MOST = 200_000  # distinct texts; where there are more, they do not repeat enough
_SLOT_BITS = 14
_SEED = np.random.Generator(np.random.PCG64(20)).integers(0, 2**63, WIDEST // 8, np.uint64) * np.uint64(2) + (
    np.uint64(1)
)
# Hashes in order, the number of each, where to look first, and the texts as columns of eight bytes.
_Table = tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]


class Codes:
    """Numbers of the texts in one column, or in a run of columns, of a file.

    A text is found by a hash and then compared byte by byte, so that equal numbers mean equal texts.
    """

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.texts: list[bytes] = []
        self._table: _Table | None = None

    def of(self, block: Block) -> np.ndarray:
        """The number of each line's text; texts not met before are given the next numbers."""
        begin, length = block.bounds(self.first, self.last)
        longest = int(length.max(initial=0))
        if longest > WIDEST:
            raise Uneven("a long text")
        words = block.words(begin, max(1, -(-longest // 8)))
        for number in range(int(length.min(initial=0)) // 8, len(words)):  # bytes after the text
            words[number] &= FIRST[np.clip(length - 8 * number, 0, 8)]
        numbers, missing = self._known(words)
        if len(missing):
            self._add([word[missing] for word in words])
            numbers, missing = self._known(words)
            if len(missing):
                raise Uneven("two texts with one hash")
        return numbers.astype(np.int32)

    def _known(self, words: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the texts, and the rows whose text is not known."""
        if self._table is None:
            every = np.arange(len(words[0]))
            return every, every
        hashes, order, slots, columns = self._table
        found = _hash(words)
        rank = slots[(found >> np.uint64(64 - _SLOT_BITS)).view(np.int64)]
        elsewhere = np.flatnonzero(hashes[rank] != found)
        if len(elsewhere):
            rank[elsewhere] = np.minimum(np.searchsorted(hashes, found[elsewhere]), len(hashes) - 1)
        numbers = order[rank]
        wrong = np.zeros(len(found), np.uint64)
        nothing = np.zeros(len(order), np.uint64)
        for own, known in zip_longest(words, columns):
            expected = (nothing if known is None else known)[numbers]
            if own is not None:
                expected ^= own
            wrong |= expected
        return numbers, np.flatnonzero(wrong)

    def _add(self, words: list[np.ndarray]) -> None:
        new = np.unique(np.stack(words, axis=1), axis=0)
        if len(self.texts) + len(new) > MOST:
            raise Uneven("too many distinct texts")
        self.texts += [row.tobytes().rstrip(b"\0") for row in new]
        self._learn(new)

    def _learn(self, new: np.ndarray) -> None:
        """Put further texts into the table."""
        old = [] if self._table is None else self._table[3]
        before = len(self.texts) - len(new)
        columns = []
        for number in range(max(new.shape[1], len(old))):
            column = np.zeros(len(self.texts), np.uint64)
            if number < len(old):
                column[:before] = old[number]
            if number < new.shape[1]:
                column[before:] = new[:, number]
            columns.append(column)
        hashes = _hash(columns)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        slots = np.zeros(1 << _SLOT_BITS, np.int64)
        slots[hashes >> np.uint64(64 - _SLOT_BITS)] = np.arange(len(hashes))
        self._table = hashes, order, slots, columns


def _hash(words: list[np.ndarray]) -> np.ndarray:
    """Equal for texts that differ only in zeros at their end."""
    found = words[0] * _SEED[0]
    for word, seed in zip(words[1:], _SEED[1:]):
        found += word * seed
    found ^= found >> np.uint64(29)
    found *= _SEED[0]
    return found
