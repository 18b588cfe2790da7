"""Numbers for texts that all files of one reading share."""

import threading

import numpy as np


class Names:
    """Texts of several sorts, numbered from 0 in the order in which they are met, each sort by itself.

    >>> names = Names()
    >>> names.numbers("vehicle", [b"7", b"8"]), names.numbers("vehicle", [b"8", b"9"])
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32))
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, dict[bytes, int]] = {}

    def numbers(self, sort: str, texts: list[bytes]) -> np.ndarray:
        """The number of each text; several threads may ask."""
        with self._lock:
            known = self._known.setdefault(sort, {})
            return np.array([known.setdefault(text, len(known)) for text in texts], np.int32)
