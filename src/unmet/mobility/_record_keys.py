"""Status records as sorted integers: place, second, level and whether the place was open in one number."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility._keys import EDGE, packed, place_of, unpack
from unmet.mobility._sorted import SortedIntegers
from unmet.mobility._stretches import stretches
from unmet.tables import private_folder

if TYPE_CHECKING:
    import duckdb

_KNOWN = 'available IS NOT NULL AND "at" IS NOT NULL'
_SELECT = f"""
    SELECT {packed("no", '"at"', EDGE)} AS key, available::INTEGER AS level, coalesce(renting, true) AS open
    FROM (SELECT *, row_number() OVER () AS position FROM status) JOIN _places USING (place) WHERE {_KNOWN}"""
_ORDER = 'ORDER BY key, "at", position'
_NO_STATUS = (
    '(SELECT NULL::VARCHAR AS place, NULL::TIMESTAMP AS "at", NULL::INTEGER AS available WHERE false)'
)
_BITS = 63


@dataclass(frozen=True)
class Records:
    """Status records of a batch, ordered by place and second, one for each."""

    no: np.ndarray
    t: np.ndarray
    level: np.ndarray
    open: np.ndarray


@dataclass(frozen=True)
class RecordKeys:
    """Where the records are: packed in `keys`, or, where they do not fit, in table ``_records``.

    Packed: place number, seconds since `first` (`second_bits`), level and open (`level_bits`).
    """

    first: int | None = None
    last: int | None = None
    second_bits: int = 0
    level_bits: int = 0
    keys: SortedIntegers | None = None

    def of_places(self, con: duckdb.DuckDBPyConnection, first: int, last: int) -> Records:
        """Records of the places from `first` to `last`, which are counted from `first`."""
        found = self._packed(first, last)
        if found is not None:
            return found
        if self.keys is None:
            held = f"{place_of('key')} BETWEEN {first} AND {last}"
            return _fetch(con, f"SELECT key, level, open FROM _records WHERE {held}", first)
        return _fetch(con, f"{_SELECT} AND no BETWEEN {first} AND {last} {_ORDER}", first)

    def _packed(self, first: int, last: int) -> Records | None:
        """The same without the database; None where it must be asked: which of a second's records came last
        is known to the table only."""
        if self.first is None:
            return _last_of_each(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool), 0)
        if self.keys is None:
            return None
        shift = self.second_bits + self.level_bits
        keys = self.keys.between(first << shift, (last + 1) << shift)
        moments = keys >> self.level_bits
        if (moments[1:] == moments[:-1]).any():
            return None
        rest = keys & ((1 << self.level_bits) - 1)
        return Records(
            ((keys >> shift) - first).astype(np.int32),
            (moments & ((1 << self.second_bits) - 1)) + self.first,
            rest >> 1,
            (rest & 1).astype(bool),
        )

    def close(self) -> None:
        """Give the space back."""
        if self.keys is not None:
            self.keys.close()


def _fetch(con: duckdb.DuckDBPyConnection, sql: str, first: int) -> Records:
    found = con.execute(sql).fetchnumpy()
    keys, level, open_ = (np.asarray(found[name]) for name in ("key", "level", "open"))
    return _last_of_each(keys, level, open_, first)


def _last_of_each(keys: np.ndarray, level: np.ndarray, open_: np.ndarray, first: int) -> Records:
    """Of several records of one second the last counts: it is what the second ended with."""
    last = np.ones(len(keys), bool)
    last[:-1] = keys[1:] != keys[:-1]
    no, t, _ = unpack(keys[last])
    return Records(no - np.int32(first), t, level[last].astype(np.int64), open_[last].astype(bool))


def sum_up_records(con: duckdb.DuckDBPyConnection, status: bool) -> None:
    """Write ``_recorded``, one row per place of table ``status`` (none where it does not belong): how many
    records it has, between which times and numbers."""
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _recorded AS
        SELECT place, count(moment) AS records, epoch_us(min(moment)) AS first, epoch_us(max(moment)) AS last,
               min(level) AS lowest, max(level) AS highest,
               bool_or(epoch_us(moment) % 1000000 <> 0) AS fractions
        FROM (SELECT place, CASE WHEN {_KNOWN} THEN "at" END AS moment,
                     CASE WHEN {_KNOWN} THEN available END AS level
              FROM {"status" if status else _NO_STATUS})
        GROUP BY place""")


def write_records(
    con: duckdb.DuckDBPyConnection, places: int, at_once: int
) -> tuple[RecordKeys, np.ndarray | int]:
    """Write the records of table ``status``, and count those of each place.

    Stamps with fractions of a second, or numbers too large to be packed, are left to the database to sort.
    """
    row = con.execute("""
        SELECT sum(records)::BIGINT, min(first), max(last), min(lowest), max(highest), bool_or(fractions)
        FROM _recorded""").fetchone()
    assert row is not None
    number, begin, end, lowest, highest, fractions = row
    if not number:
        return RecordKeys(), 0
    first, last = begin // 1_000_000, end // 1_000_000
    second_bits, level_bits = (last - first).bit_length(), (2 * highest + 1).bit_length()
    if fractions or lowest < 0 or places.bit_length() + second_bits + level_bits > _BITS:
        con.execute(f"CREATE OR REPLACE TABLE _records AS {_SELECT} {_ORDER}")
        found = con.execute(f"SELECT {place_of('key')}, count(*) FROM _records GROUP BY 1").fetchall()
        sizes = np.zeros(places, np.int64)
        for no, size in found:
            sizes[no] = size
        return RecordKeys(first, last), sizes
    keys = SortedIntegers(private_folder(con))
    sizes = np.zeros(places, np.int64)
    value = (
        f"no::BIGINT * {1 << (second_bits + level_bits)} "
        f'+ (epoch_us("at") // 1000000 - {first}) * {1 << level_bits} '
        "+ 2 * available + coalesce(renting, true)::INTEGER"
    )

    def book(some: np.ndarray) -> np.ndarray:
        keys.add(some)
        return np.bincount(np.asarray(some) >> (second_bits + level_bits), minlength=places)

    parts = (
        con.execute(
            f"SELECT {value} AS key FROM status JOIN _places USING (place) WHERE {_KNOWN} AND {here}"
        ).fetchnumpy()["key"]
        for here in stretches('"at"', (number, begin, end), at_once)
    )
    with closing(ahead(book, parts)) as booked:
        for part in booked:
            sizes += part.result()
    return RecordKeys(first, last, second_bits, level_bits, keys), sizes
