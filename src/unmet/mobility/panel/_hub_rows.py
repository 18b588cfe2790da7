"""Sum the rows of stations into rows of superhubs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_SHARES = {"exposure": "available_s", "exposure_low": "low_s", "exposure_high": "high_s", "reach": "reach_s"}


def gather_hubs(con: duckdb.DuckDBPyConnection, members: str) -> None:
    """Write table ``_hub_rows``, one row per hub and period, from ``_rows`` of the stations.

    Counts and stocks are sums. A hub is censored if any of its stations ran out. Its exposure is

        Σ w · available / Σ w · (available + empty)

    over its stations. The weight w is the usual demand of a station: its mean number of pickups in periods
    in which it was never empty, closed or unknown. Weights are whole millionths, plus one, so that sums are
    exact. Hubs have no threshold: an empty station loses demand even if others still have vehicles.

    Parameters
    ----------
    members : table of places and their hubs.
    """
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _usual AS
        SELECT unique_id, coalesce(1000000 * sum(y) FILTER (free) // count(*) FILTER (free),
                                   1000000 * sum(y) // count(*))::BIGINT + 1 AS w
        FROM (SELECT *, empty_s + closed_s + unknown_s = 0 AS free FROM _rows) GROUP BY unique_id""")

    def share(seconds: str) -> str:
        known = "nullif(sum(w::HUGEINT * (available_s + empty_s)), 0)"
        return f"sum(w::HUGEINT * {seconds})::DOUBLE / {known}::DOUBLE"

    con.execute(f"""
        CREATE OR REPLACE TABLE _hub_rows AS
        SELECT hub AS unique_id, period, start, sum(y)::INTEGER AS y, sum(returns)::INTEGER AS returns,
               sum(deliveries)::INTEGER AS deliveries, sum(removals)::INTEGER AS removals,
               sum(stock_start)::INTEGER AS stock_start, sum(stock_end)::INTEGER AS stock_end,
               sum(capacity)::INTEGER AS capacity, sum(available_s)::BIGINT AS available_s,
               sum(empty_s)::BIGINT AS empty_s,
               sum(closed_s)::BIGINT AS closed_s, sum(unknown_s)::BIGINT AS unknown_s,
               sum(low_s)::BIGINT AS low_s, sum(high_s)::BIGINT AS high_s,
               sum(reach_s)::BIGINT AS reach_s,
               {", ".join(f"{share(of)} AS {name}" for name, of in _SHARES.items())},
               NULL::BOOLEAN AS usable, bool_or(inferred) AS inferred
        FROM _rows JOIN {members} ON place = unique_id JOIN _usual USING (unique_id)
        GROUP BY hub, period, start ORDER BY hub, period;
        DROP TABLE _usual""")
