"""Proof that no two rows are the same, found while they are read: it spares a search through all of them.

Files of rides and records mostly follow the clock. Where the blocks of a file do, a pair of name and moment
that occurs twice must do so within a block or at the border of two; and files share no pair where they speak
of other names or of other times.
"""

import threading
from collections.abc import Iterable

import numpy as np

from unmet.mobility.readers._codes import MOST

_CODE_BITS = MOST.bit_length()
_SPAN = 1 << (62 - _CODE_BITS)


class Pairs:
    """Codes and moments of one file, a block at a time; `differ` says whether no pair is known to repeat."""

    def __init__(self) -> None:
        self.differ = True
        self.rows = self.first = self.last = 0
        self._border = np.zeros(0, np.int32)  # codes of the last moment

    def add(self, code: np.ndarray, moment: np.ndarray) -> None:
        """Look at the rows of the next block."""
        if not self.differ or not len(moment):
            return
        low, high = int(moment.min()), int(moment.max())
        if high - low >= _SPAN or (self.rows and low < self.last):
            self.differ = False
            return
        self.differ = not _repeats(code, moment, low)
        border = code[moment == high]
        if self.rows and low == self.last:
            self.differ &= not np.isin(self._border, code[moment == low]).any()
            if high == self.last:
                border = np.concatenate([self._border, border])
        self.first = self.first if self.rows else low
        self.last, self._border = high, border
        self.rows += len(moment)


def _repeats(code: np.ndarray, moment: np.ndarray, low: int) -> bool:
    """Whether a pair occurs twice in a block; `low` is its first moment."""
    step = np.diff(moment)
    if not (step < 0).any():  # in order: only neighbours of one moment can be equal
        near = np.zeros(len(moment), bool)
        near[1:] = step == 0
        near[:-1] |= near[1:]
        code, moment = code[near], moment[near]
    keys = moment - low
    keys <<= _CODE_BITS
    keys |= code
    keys.sort()
    return bool((keys[1:] == keys[:-1]).any())


class Proof:
    """What the files of one reading say together; they may be read side by side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: list[tuple[int, int, list[str]]] = []
        self._open = True

    def add(self, pairs: Pairs, names: Iterable[str | None]) -> None:
        """Rows of a file, with the name behind each code."""
        held = [name for name in names if name]
        with self._lock:
            if pairs.rows:
                self._files.append((pairs.first, pairs.last, held))
        if not pairs.differ:
            self.give_up()

    def give_up(self) -> None:
        """Some rows were not looked at, or may be the same."""
        with self._lock:
            self._open = False

    def holds(self) -> bool:
        """Whether all rows are known to differ in name or moment."""
        until: dict[str, int] = {}
        for first, last, names in sorted(self._files) if self._open else ():
            for name in names:
                if until.get(name, first - 1) >= first:
                    return False
                until[name] = last
        return self._open
