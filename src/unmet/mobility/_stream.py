"""Events of a batch of places, packed into sortable integers: place, second and kind in one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._ledger import within

if TYPE_CHECKING:
    import duckdb

# Kinds in the order in which they are taken within one second. A period starts before anything that happens
# in its first second; a vehicle must have come back before it can be taken.
EDGE, IS_OPEN, IS_CLOSED, IS_UNKNOWN, RETURN, PICKUP, DELIVERY, REMOVAL = range(8)
CHANGE = np.array([0, 0, 0, 0, 1, -1, 1, -1], np.int8)
_SECONDS = 37
_EARLIEST = -(1 << (_SECONDS - 1))


@dataclass(frozen=True)
class Records:
    """Status records of a batch, ordered by place and second, one for each."""

    no: np.ndarray
    t: np.ndarray
    level: np.ndarray
    open: np.ndarray


@dataclass(frozen=True)
class Batch:
    """Rides, records and inferred moves of a run of places; numbers count from the batch's first place."""

    first: int
    names: np.ndarray
    capacity: np.ndarray
    observed: np.ndarray
    rides: np.ndarray
    moves: np.ndarray
    records: Records


def pack(no: np.ndarray, t: np.ndarray | int, kind: np.ndarray | int) -> np.ndarray:
    """One integer per event; sorting it sorts by place, second and kind."""
    no, t = np.asarray(no, np.int64), np.asarray(t, np.int64)
    return (((no << _SECONDS) | (t - _EARLIEST)) << 3) | kind


def unpack(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place number, second and kind of packed events."""
    kind = (keys & 7).astype(np.int8)
    rest = keys >> 3
    return (rest >> _SECONDS).astype(np.int32), (rest & ((1 << _SECONDS) - 1)) + _EARLIEST, kind


def pack_moves(no: np.ndarray, t: np.ndarray, change: np.ndarray) -> np.ndarray:
    """One event for each vehicle that was moved."""
    times = np.abs(change)
    kind = np.where(change > 0, DELIVERY, REMOVAL)
    return np.repeat(pack(no, t, kind), times)


def load(con: duckdb.DuckDBPyConnection, batch: tuple[int, int]) -> Batch:
    """Fetch one batch of places from the ledger."""
    here, first = within(batch), batch[0]
    places = con.execute(
        f"SELECT place, coalesce(capacity, -1) AS capacity, observed FROM _places WHERE {here} ORDER BY no"
    ).fetchnumpy()
    rides = con.execute(f"SELECT no - {first} AS no, t, change FROM _rides WHERE {here}").fetchnumpy()
    moves = con.execute(f"SELECT no - {first} AS no, t, change FROM _moves WHERE {here}").fetchnumpy()
    return Batch(
        first,
        np.asarray(places["place"]),
        np.asarray(places["capacity"]),
        np.asarray(places["observed"], bool),
        pack(rides["no"], rides["t"], np.where(rides["change"] > 0, RETURN, PICKUP)),
        pack_moves(moves["no"], moves["t"], np.asarray(moves["change"])),
        _records(con, here, first),
    )


def _records(con: duckdb.DuckDBPyConnection, here: str, first: int) -> Records:
    found = con.execute(f"SELECT no - {first} AS no, t, level, open FROM _records WHERE {here}").fetchnumpy()
    no, t = np.asarray(found["no"]), np.asarray(found["t"])
    # They come in order. Of several records of one second the last counts: it is what the second ended with.
    last = np.ones(len(no), bool)
    last[:-1] = (no[1:] != no[:-1]) | (t[1:] != t[:-1])
    return Records(
        no[last].astype(np.int32),
        t[last].astype(np.int64),
        np.asarray(found["level"])[last].astype(np.int64),
        np.asarray(found["open"])[last].astype(bool),
    )
