"""Rides, records and moves of a batch of places, fetched from the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._keys import pack_moves, places_between
from unmet.mobility._ledger import Ledger
from unmet.mobility._record_keys import Records

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Batch:
    """Rides, records and inferred moves of a run of places; numbers count from the batch's first place."""

    first: int
    capacity: np.ndarray
    observed: np.ndarray
    rides: np.ndarray
    moves: np.ndarray
    records: Records


def load(con: duckdb.DuckDBPyConnection, ledger: Ledger, batch: tuple[int, int]) -> Batch:
    """Fetch one batch of places from the ledger."""
    first, last = batch
    moves = np.zeros(0, np.int64)
    if ledger.moves:
        found = con.execute(
            f"SELECT no - {first} AS no, t, change FROM _moves WHERE no BETWEEN {first} AND {last}"
        ).fetchnumpy()
        moves = pack_moves(found["no"], found["t"], np.asarray(found["change"]))
    low, high = places_between(first, last)
    return Batch(
        first,
        ledger.capacity[first : last + 1],
        ledger.observed[first : last + 1],
        ledger.ride_keys.between(low, high) - low,
        moves,
        ledger.record_keys.of_places(con, first, last),
    )
