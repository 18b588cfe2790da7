"""The fleet reduction of the paper: the rides that a smaller fleet would have shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.tables import identifier


@dataclass(frozen=True)
class Reduction:
    """How many vehicles and rides a reduction kept."""

    table: str
    vehicles: int
    vehicles_kept: int
    rides: int
    rides_kept: int


def reduce_fleet(
    con: Connection, share: float, seed: int, *, trips: str = "trips", into: str = "trips_reduced"
) -> Reduction:
    """Write table `into`: the rides of `trips` without those of a random `share` of the vehicles.

    All rides are the latent demand; the rides kept are what a smaller fleet would have shown. In every row of
    a panel the observed count is at most the latent one. Build both panels with ``build_panel(…, trips=…)``.

    Parameters
    ----------
    share : α, the share of vehicles whose rides are removed, from 0 to 1.
    seed : seed of the random choice, which depends only on it and on the set of vehicle ids.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie between 0 and 1, got {share!r}")
    if into == trips:
        raise ValueError("into must be a different table than trips")
    row = con.execute(f"SELECT count(*), count(vehicle_id) FROM {identifier(trips)}").fetchone()
    assert row is not None
    if row[0] != row[1]:
        raise ValueError(
            f"{row[0] - row[1]:,} of {row[0]:,} rides have no vehicle id; to reduce the fleet, remove them "
            "from the trips"
        )
    names = [
        r[0]
        for r in con.execute(f"SELECT DISTINCT vehicle_id FROM {identifier(trips)} ORDER BY 1").fetchall()
    ]
    gone = np.random.default_rng(seed).choice(len(names), size=round(share * len(names)), replace=False)
    con.execute("CREATE OR REPLACE TEMP TABLE _gone (vehicle_id VARCHAR)")
    if len(gone):
        con.execute("INSERT INTO _gone SELECT unnest(?::VARCHAR[])", [[names[i] for i in sorted(gone)]])
    con.execute(
        f"CREATE OR REPLACE TABLE {identifier(into)} AS FROM {identifier(trips)} "
        "ANTI JOIN _gone USING (vehicle_id)"
    )
    con.execute("DROP TABLE _gone")
    kept = con.execute(f"SELECT count(*) FROM {identifier(into)}").fetchone()
    assert kept is not None
    return Reduction(into, len(names), len(names) - len(gone), row[0], kept[0])
