"""Presence: at every moment of a place without records, whether a vehicle surely, perhaps or never stood."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmet.mobility.panel._event_file import EventFile
from unmet.mobility.panel._events import RECORD, pack, unpack

# A vehicle that may be there counts in steps of its chance p to be there. A step is one whole number of two
# parts that add up over vehicles, exactly: −log(1 − p) in tenths, and p in eighths, at least one.
_TENTHS = np.array([0, 1, 2, 4, 6, 8, 11, 15, 20, 28, 40])
_CHANCES = -np.expm1(-_TENTHS / 10)
_PART = 256
_STEPS = _PART * _TENTHS + np.maximum(1, np.round(8 * _CHANCES).astype(np.int64))
_CUTS = (_CHANCES[1:] + _CHANCES[:-1]) / 2
_MOST = int(_STEPS[-1])
_SURELY = 2 * _MOST + 1  # code of the first vehicle that surely stands there
VALUES = _SURELY + 2


class Presence:
    """Changes of what is known about a place's vehicles, on disk; several threads may look them up."""

    def __init__(self, file: EventFile) -> None:
        self._file = file

    def add_sure(self, no: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Add vehicles that surely stood at places `no` from seconds `begin` to `end`."""
        self._add(np.r_[no, no], np.r_[begin, end], np.repeat([_SURELY + 1, _SURELY], len(no)))

    def add_perhaps(self, no: np.ndarray, moments: np.ndarray, chance: np.ndarray) -> None:
        """Add vehicles that were there with a chance in each of N pieces of time.

        Parameters
        ----------
        no : place of each vehicle (G,).
        moments : ends of the pieces in seconds (G, N + 1).
        chance : (G, N).
        """
        steps = np.zeros((len(no), chance.shape[1] + 2), np.int64)
        steps[:, 1:-1] = _STEPS[np.searchsorted(_CUTS, chance)]
        change = np.diff(steps, axis=1)
        which, at = np.nonzero(change)
        self._add(no[which], moments[which, at], change[which, at] + _MOST)

    def _add(self, no: np.ndarray, t: np.ndarray, code: np.ndarray) -> None:
        self._file.add_events(no, t, np.full(len(no), RECORD), code)

    def known(self, first: int, last: int) -> Known:
        """Return what is known about the places from `first` to `last`, numbered from the first one."""
        batch = self._file.fetch(first, last)
        no, t, _ = unpack(batch.keys)
        code = batch.value
        surely = np.where(code == _SURELY + 1, 1, np.where(code == _SURELY, -1, 0))
        perhaps = np.where(code < _SURELY, code - _MOST, 0)
        return Known(pack(no, t, RECORD), no, np.cumsum(surely), np.cumsum(perhaps))

    @property
    def name(self) -> str | None:
        """The path of its file; None where that is of this process alone."""
        return self._file.name

    def share(self, folder: Path) -> Presence:
        """Return the same in a file of `folder`, for processes that see it."""
        return Presence(self._file.share(folder))

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


@dataclass(frozen=True)
class Standing:
    """Vehicles at moments: how many surely stand there, and how many others are expected.

    Attributes
    ----------
    chance : that at least one stands there.
    possible : whether one can stand there.
    """

    surely: np.ndarray
    others: np.ndarray
    chance: np.ndarray
    possible: np.ndarray


class Known:
    """What is known about the vehicles of consecutive places, from one change (`keys`) to the next."""

    def __init__(self, keys: np.ndarray, no: np.ndarray, surely: np.ndarray, perhaps: np.ndarray) -> None:
        # Several changes of one second count together: keep the last.
        last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        self.keys, self.no = keys[last], no[last]
        # All changes of a place add up to zero. The first row serves moments before any change.
        self._surely, self._perhaps = np.append(0, surely[last]), np.append(0, perhaps[last])

    def at(self, no: np.ndarray, t: np.ndarray) -> Standing:
        """Return what is known about places `no` from seconds `t` on, until the next change."""
        found = np.searchsorted(self.keys, pack(no, t, RECORD), "right")
        surely, perhaps = self._surely[found], self._perhaps[found]
        chance = np.where(surely > 0, 1.0, -np.expm1(-(perhaps // _PART) / 10))
        return Standing(surely, perhaps % _PART / 8, chance, (surely > 0) | (perhaps > 0))
