"""Stamps of a block as microseconds: arithmetic on their digits, eight at a time."""

from datetime import datetime
from functools import lru_cache

import numpy as np

from unmet.mobility.readers._blocks import Block, Uneven, digits_of, pairs
from unmet.mobility.readers._clock import FIRST_YEAR, LAST_YEAR, spans

FORMS = tuple(f"%Y-%m-%d{mark}%H:%M:%S{fraction}" for mark in " T" for fraction in ("", ".%f"))
_EPOCH = datetime(1970, 1, 1)
_DAY, _SECOND = 86_400, 1_000_000
_YEARS = 12 * (LAST_YEAR - FIRST_YEAR)  # as months


@lru_cache(maxsize=1)
def _months() -> tuple[np.ndarray, np.ndarray]:
    """Of each month the days from 1970 to its first, and its length."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    edges = np.array([(datetime(y, m, 1) - _EPOCH).days for y in years for m in range(1, 13)])
    return edges[:-1], np.diff(edges)


@lru_cache(maxsize=16)
def _template(mark: str, fraction: int) -> list[tuple[np.uint64, np.uint64, np.uint64]]:
    """Of each word of a stamp: where digits are, where other characters are, and which ones."""
    pattern = f"0000-00-00{mark}00:00:00" + (f".{'0' * fraction}" if fraction else "")

    def word(values: list[int]) -> np.uint64:
        return np.uint64(int.from_bytes(bytes(values), "little"))

    return [
        (
            word([255 * (c == "0") for c in part]),
            word([255 * (c != "0") for c in part]),
            word([0 if c == "0" else ord(c) for c in part]),
        )
        for part in (pattern[at : at + 8] for at in range(0, len(pattern), 8))
    ]


def local_times(block: Block, column: int, form: str) -> np.ndarray:
    """Microseconds since 1970 that the clock shows: stamps of one of `FORMS`, all of one length."""
    begin, length = block.bounds(column, column)
    size = int(length[0]) if len(length) else 19
    fraction = size - 20 if form.endswith(".%f") else 0
    if (length != size).any() or (not 1 <= fraction <= 6 if form.endswith(".%f") else size != 19):
        raise Uneven("stamps of other lengths")
    two = []  # of each two digits the number, in the byte of the first
    template = _template(form[8], fraction)
    words = block.words(begin, len(template))
    if (words[0] == words[0][:1]).all():
        words[0] = words[0][:1]  # mostly all of one month
    for word, (digits, marked, marks) in zip(words, template):
        if ((word & marked) != marks).any():
            raise Uneven("stamps of another form")
        two.append(pairs(digits_of(word, digits)))

    def at(position: int) -> np.ndarray:
        shifted = two[position // 8] >> np.uint64(8 * (position % 8))
        return (shifted & np.uint64(0xFF)).view(np.int64)

    month, day, hour, minute, second = (at(position) for position in (5, 8, 11, 14, 17))
    first, lengths = _months()
    months = (100 * at(0) + at(2) - FIRST_YEAR) * 12 + month - 1
    _check((month, 1, 12), (months, 0, _YEARS - 1), (day, 1, 31), (hour, 0, 23), (minute, 0, 59))
    _check((second, 0, 59), (lengths[months] - day, 0, 31))
    time = ((first[months] - 1 + day) * _DAY + hour * 3600 + minute * 60 + second) * _SECOND
    for position, worth in ((20, 10_000), (22, 100), (24, 1)):
        if position - 20 < fraction:
            time += at(position) * worth
    return time


def _check(*limits: tuple[np.ndarray, int, int]) -> None:
    for values, low, high in limits:
        if len(values) and (values.min() < low or values.max() > high):
            raise Uneven("no such day or time")


@lru_cache(maxsize=16)
def _edges(zone: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where offsets begin and what they are, and where hours that occur twice begin and end."""

    def micro(moments: list[datetime]) -> np.ndarray:
        return np.array([round((moment - _EPOCH).total_seconds()) * _SECOND for moment in moments], np.int64)

    known, doubled = spans(zone)
    offsets = np.array([round(span.offset.total_seconds()) * _SECOND for span in known], np.int64)
    begin, end = micro([span.from_ for span in doubled]), micro([span.until_ for span in doubled])
    return micro([span.from_ for span in known]), offsets, begin, end


def to_utc(local: np.ndarray, zone: str) -> tuple[np.ndarray, np.ndarray | None]:
    """UTC of local times, and which of them occur twice (``None``: none); those count as the first."""
    begins, offsets, from_, until = _edges(zone)
    if not len(local):
        return local, None
    low, high = np.searchsorted(begins, [local.min(), local.max()], "right") - 1
    shift = offsets[low] if low == high else offsets[np.searchsorted(begins, local, "right") - 1]
    early, late = np.searchsorted(until, local.min(), "right"), np.searchsorted(from_, local.max(), "right")
    if early >= late:
        return local - shift, None
    near = np.searchsorted(from_, local, "right") - 1
    return local - shift, (near >= 0) & (local < until[np.maximum(near, 0)])


def check_years(utc: np.ndarray) -> None:
    """Stop at times outside the years that are believed."""
    first, _ = _months()
    _check((utc, int(first[0]) * _DAY * _SECOND, int(first[_YEARS]) * _DAY * _SECOND - 1))
