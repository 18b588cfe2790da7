"""Rides in the blocks of a plain file: stamps by arithmetic on their digits, texts by code."""

from datetime import datetime, timedelta

import numpy as np

from unmet.mobility.readers._blocks import Block
from unmet.mobility.readers._clock import Doubtful
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._distinct import Pairs
from unmet.mobility.readers._stamp_blocks import check_years, local_times, to_utc

_EPOCH = datetime(1970, 1, 1)


class TripParser:
    """Columns of rides: their times, and codes of stops and vehicles."""

    def __init__(
        self, where: dict[str, int], runs: dict[str, tuple[int, int]], form: str, zone: str | None
    ) -> None:
        """
        Parameters
        ----------
        where : the column of each field.
        runs : first and last of the columns that become one code, by the name of the code.
        form, zone : how stamps are written, and where (``None``: in UTC).
        """
        self._where, self._form, self._zone = where, form, zone
        self.codes = {name: Codes(*run) for name, run in runs.items()}
        self._twice: list[Doubtful] = []
        self._pairs = Pairs()
        self._lines = 1

    def columns(self, block: Block) -> dict[str, np.ndarray]:
        """Columns of one block."""
        local = {side: local_times(block, self._where[side], self._form) for side in ("start", "end")}
        utc, doubled = local, None
        if self._zone is not None:
            changed = {side: to_utc(times, self._zone) for side, times in local.items()}
            utc = {side: times for side, (times, _) in changed.items()}
            for _, some in changed.values():
                if some is not None:
                    doubled = some if doubled is None else doubled | some
        for times in utc.values():
            check_years(times)
        line = np.arange(self._lines + 1, self._lines + 1 + block.rows)
        for row in np.flatnonzero(doubled).tolist() if doubled is not None else ():
            start, end = (_EPOCH + timedelta(microseconds=int(local[side][row])) for side in ("start", "end"))
            where = self._where.get("seconds")
            seconds = None if where is None else _number(block.text(row, where))
            self._twice.append((int(line[row]), start, end, seconds))
        self._lines += block.rows
        codes = {name: found.of(block) for name, found in self.codes.items()}
        if "vehicle" in codes:
            self._pairs.add(codes["vehicle"], utc["start"])
        return {**utc, **codes, "line": line}

    def told(self) -> tuple[list[Doubtful], Pairs]:
        """Rides in the hour that occurs twice, and whether a vehicle starts but once at a time."""
        return self._twice, self._pairs


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
