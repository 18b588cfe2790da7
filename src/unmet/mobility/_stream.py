"""Rides, records and moves of a batch of places, fetched from the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmet.mobility._keys import pack_moves, places_between
from unmet.mobility._ledger import Ledger, within
from unmet.mobility._record_keys import Records

if TYPE_CHECKING:
    import duckdb


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


def load(con: duckdb.DuckDBPyConnection, ledger: Ledger, batch: tuple[int, int]) -> Batch:
    """Fetch one batch of places from the ledger."""
    here, first = within(batch), batch[0]
    places = con.execute(
        f"SELECT place, coalesce(capacity, -1) AS capacity, observed FROM _places WHERE {here} ORDER BY no"
    ).fetchnumpy()
    moves = con.execute(f"SELECT no - {first} AS no, t, change FROM _moves WHERE {here}").fetchnumpy()
    low, high = places_between(*batch)
    return Batch(
        first,
        np.asarray(places["place"]),
        np.asarray(places["capacity"]),
        np.asarray(places["observed"], bool),
        ledger.ride_keys.between(low, high) - low,
        pack_moves(moves["no"], moves["t"], np.asarray(moves["change"])),
        ledger.record_keys.of_places(con, *batch),
    )
