"""Records in the blocks of a plain file: numbers by arithmetic on their digits, stations by code."""

import numpy as np

from unmet.mobility.readers._blocks import Block, Uneven
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._distinct import Pairs

_EARLIEST, _LATEST = 631_152_000, 4_102_444_799  # POSIX seconds of 1990 and 2100
_DIGITS = 6  # of a number of vehicles or docks
_FLAGS = ("renting", "returning", "installed")


class StatusParser:
    """Columns of records: codes of stations, times, numbers and flags."""

    def __init__(self, where: dict[str, int]) -> None:
        """`where` gives the column of each field."""
        self._where = where
        self.codes = {"station": Codes(where["place"], where["place"])}
        self._pairs = Pairs()
        self._lines = 1

    def columns(self, block: Block) -> dict[str, np.ndarray]:
        """Columns of one block."""
        at = block.whole(self._where["at"], 10)
        if len(at) and (at.min() < _EARLIEST or at.max() > _LATEST):
            raise Uneven("a time that nobody believes")
        # Of several records of one moment the last line counts.
        line = np.arange(self._lines + 1, self._lines + 1 + block.rows)
        self._lines += block.rows
        code = self.codes["station"].of(block)
        self._pairs.add(code, at)
        found = {"station": code, "at": at, "line": line}
        for name in ("available", "docks"):
            if name in self._where:
                found[name] = block.whole(self._where[name], _DIGITS).astype(np.int32)
        flags = {name: self._flag(block, name) for name in _FLAGS if name in self._where}
        installed = flags.pop("installed", None)
        for name in ("renting", "returning"):
            flag = flags.get(name, installed)
            if flag is not None:
                found[name] = flag if installed is None else flag & installed
        return found

    def _flag(self, block: Block, name: str) -> np.ndarray:
        flag = block.bytes_of(self._where[name]) ^ np.uint8(ord("0"))
        if len(flag) and flag.max() > 1:
            raise Uneven("neither 0 nor 1")
        return flag.view(bool)

    def told(self) -> Pairs:
        """Whether a station has but one record at a time."""
        return self._pairs
