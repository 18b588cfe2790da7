"""Numbers for texts that all files of one reading share."""

import threading

import numpy as np


class Names:
    """Texts numbered from 0 in the order in which they are met, those of each table by themselves.

    Texts of one table may be of several sorts: the same text means something else in another sort.

    >>> names = Names()
    >>> names.numbers("stops", "id,name", [b"7,A", b"8"]), names.numbers("stops", "id", [b"8", b"9"])
    (array([0, 1], dtype=int32), array([2, 3], dtype=int32))
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, dict[tuple[str, bytes], int]] = {}

    def numbers(self, table: str, sort: str, texts: list[bytes]) -> np.ndarray:
        """The number of each text; several threads may ask."""
        with self._lock:
            known = self._known.setdefault(table, {})
            return np.array([known.setdefault((sort, text), len(known)) for text in texts], np.int32)
