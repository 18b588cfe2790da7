"""The stock of a place as a step function: one segment per change, with its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmet.mobility._ledger import within
from unmet.mobility._observed import CLOSED, UNKNOWN

if TYPE_CHECKING:
    import duckdb

EDGE, REGIME, RIDE, MOVE = 0, 1, 2, 3


def segments(
    con: duckdb.DuckDBPyConnection, batch: tuple[int, int], first: int, last: int, edges: str | None = None
) -> None:
    """Write ``_segments(no, t, until, kind, change, level, regime)`` of one batch of places.

    Level is the stock from `t` on (after the change) until `until`; the stock is the opening stock plus all
    rides and moves so far. A row of kind EDGE stands at the start of each period, before anything that
    happens in that second, so its level is the stock at the start.

    Parameters
    ----------
    edges : SQL that selects the seconds ``t`` at which a period starts; ``None`` marks only `first`.
    """
    here = within(batch)
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _segments AS
        SELECT no, t, kind, change, (stock + sum(change) OVER w)::INTEGER AS level,
               coalesce(last_value(regime IGNORE NULLS) OVER w, {UNKNOWN})::TINYINT AS regime,
               coalesce(lead(t) OVER (PARTITION BY no ORDER BY t, kind), {last}) AS until
        FROM (
            SELECT no, t, {EDGE}::TINYINT AS kind, 0 AS change, NULL::TINYINT AS regime
            FROM (SELECT no FROM _places WHERE {here}) CROSS JOIN ({edges or f"SELECT {first}::BIGINT AS t"})
            UNION ALL SELECT no, t, {REGIME}, 0, max(regime) FROM _regimes
                      WHERE {here} AND t < {last} GROUP BY no, t
            UNION ALL SELECT no, t, {RIDE}, change, NULL FROM _rides WHERE {here} AND t < {last}
            UNION ALL SELECT no, t, {MOVE}, change, NULL FROM _moves WHERE {here} AND t < {last})
        JOIN _opening USING (no)
        WINDOW w AS (PARTITION BY no ORDER BY t, kind ROWS UNBOUNDED PRECEDING)""")


# Closed and unknown time is neither available nor empty.
STATE = f"""CASE WHEN regime = {CLOSED} THEN 'closed' WHEN regime = {UNKNOWN} THEN 'unknown'
                 WHEN level > 0 THEN 'available' ELSE 'empty' END"""
