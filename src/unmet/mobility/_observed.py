"""Stock of places with status records: rides and records reconciled into operator moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmet.mobility._ledger import within

if TYPE_CHECKING:
    import duckdb

OPEN, CLOSED, UNKNOWN = 0, 1, 2
_QUIET = {"snapshots": 2 * 3600, "events": 7 * 86_400}
_CONTRADICTED = 2 * 3600


def kind_of_feed(con: duckdb.DuckDBPyConnection, batch: tuple[int, int]) -> str:
    """``"events"`` if most rides have a record in the same few seconds, else ``"snapshots"``.

    A feed of changes is silent while nothing changes, so its silence carries the last record forward;
    in a feed of snapshots silence means that nobody looked. One batch of places is enough to tell.
    """
    here = within(batch)
    whole = con.execute(f"SELECT bool_and(t % 60 = 0) FROM _rides WHERE {here}").fetchone()
    width = 60 if whole and whole[0] else 5
    row = con.execute(f"""
        SELECT count(*) FILTER (met), count(*) FROM (
            SELECT EXISTS (FROM (SELECT DISTINCT no, unnest([-1, 0, 1]) + t // {width} AS bin FROM _records
                                 WHERE {here}) s WHERE s.no = r.no AND s.bin = r.t // {width}) AS met
            FROM _rides r JOIN _places USING (no) WHERE observed AND {here})""").fetchone()
    assert row is not None
    return "events" if 2 * row[0] > row[1] else "snapshots"


def reconcile(
    con: duckdb.DuckDBPyConnection,
    batch: tuple[int, int],
    last: int,
    max_gap: int | None,
    feed: str,
    skew: int,
) -> None:
    """Add opening stock, operator moves and regimes of one batch of places.

    Between two records the stock follows the rides. What rides do not explain is an operator's move and is
    booked at the later record, except where a pickup shows that a vehicle had already come: then it is
    booked at that pickup; removals between snapshots are booked early. A record whose clock runs up to `skew` seconds before or behind the rides' clock
    is corrected where that explains two opposite residuals around it.
    """
    here = within(batch)
    # At one second: returns before pickups (a vehicle must be there to be taken), then the record,
    # which shows what the second ended with.
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _events AS
        SELECT *, (sum(change) OVER w)::INTEGER AS net, (count(k) OVER w)::INTEGER AS run FROM (
            SELECT no, t, CASE WHEN change > 0 THEN 1 ELSE 2 END::TINYINT AS kind, change,
                   NULL::INTEGER AS k
            FROM _rides SEMI JOIN (SELECT no FROM _places WHERE observed AND {here}) USING (no)
            UNION ALL
            SELECT no, t, 3::TINYINT, 0::TINYINT, k FROM _records WHERE {here})
        WINDOW w AS (PARTITION BY no ORDER BY t, kind ROWS UNBOUNDED PRECEDING)""")
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _observed AS
        SELECT no, k, t, level, open, net,
               lag(t) OVER w AS before, lead(t) OVER w AS after,
               level - net - lag(level - net) OVER w AS came,
               lead(level - net) OVER w - (level - net) AS comes
        FROM _records JOIN (SELECT no, k, net FROM _events WHERE kind = 3) USING (no, k) WHERE {here}
        WINDOW w AS (PARTITION BY no ORDER BY k)""")
    _correct(con, skew)
    # Stock along the rides of a run; the run before the first record is read backwards from it.
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _bases AS
        SELECT no, k AS run, level - net AS base FROM _observed
        UNION ALL SELECT no, 0, level - net FROM _observed WHERE k = 1""")
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _short AS
        SELECT no, run, t, (needed - coalesce(lag(needed) OVER w, 0))::INTEGER AS change, needed FROM (
            SELECT no, run, t, kind, greatest(0, -min(base + net) OVER (
                PARTITION BY no, run ORDER BY t, kind ROWS UNBOUNDED PRECEDING)) AS needed
            FROM _events JOIN _bases USING (no, run)
            SEMI JOIN (SELECT DISTINCT no, run FROM _events JOIN _bases USING (no, run)
                       WHERE base + net < 0 AND kind < 3) USING (no, run)
            WHERE kind < 3)
        WINDOW w AS (PARTITION BY no, run ORDER BY t, kind, needed)""")
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _residuals AS
        SELECT o.no, o.k - 1 AS run, o.t,
               (o.level - o.net - b.base - coalesce(s.needed, 0))::INTEGER AS change
        FROM _observed o JOIN _bases b ON b.no = o.no AND b.run = o.k - 1
        LEFT JOIN (SELECT no, run, max(needed) AS needed FROM _short GROUP BY no, run) s
               ON s.no = o.no AND s.run = o.k - 1
        WHERE o.level - o.net - b.base - coalesce(s.needed, 0) <> 0""")
    if feed == "snapshots":
        _book_removals_early(con, _QUIET[feed] if max_gap is None else max_gap)
    con.execute("""
        INSERT INTO _moves
        SELECT no, t, change FROM _short WHERE change <> 0
        UNION ALL SELECT no, t, change FROM _residuals WHERE change <> 0;
        INSERT INTO _opening SELECT no, base FROM _bases WHERE run = 0;""")
    _regimes(con, last, max_gap, feed, skew)
    for table in ("_events", "_observed", "_bases", "_short", "_residuals"):
        con.execute(f"DROP TABLE {table}")


def _correct(con: duckdb.DuckDBPyConnection, skew: int) -> None:
    """Shift a record by the rides that its clock has already, or not yet, seen."""
    if skew <= 0:
        return
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _suspects AS
        SELECT no, k, came, comes, unnest([0, 1, 2]) AS edge,
               unnest([greatest(t - {skew}, before), t, least(t + {skew}, after)]) AS moment
        FROM _observed WHERE came * comes < 0""")
    con.execute("""
        CREATE OR REPLACE TEMP TABLE _corrections AS
        WITH seen AS (
            SELECT no, t, max(taken) AS taken, max(back) AS back FROM (
                SELECT no, t, sum((change < 0)::INTEGER) OVER w AS taken,
                       sum((change > 0)::INTEGER) OVER w AS back
                FROM _events SEMI JOIN _suspects USING (no)
                WINDOW w AS (PARTITION BY no ORDER BY t, kind ROWS UNBOUNDED PRECEDING))
            GROUP BY no, t),
        counted AS (
            SELECT s.no, s.k, any_value(came) AS came, any_value(comes) AS comes,
                   max(coalesce(taken, 0)) FILTER (edge = 0) AS p0,
                   max(coalesce(taken, 0)) FILTER (edge = 1) AS p1,
                   max(coalesce(taken, 0)) FILTER (edge = 2) AS p2,
                   max(coalesce(back, 0)) FILTER (edge = 0) AS r0,
                   max(coalesce(back, 0)) FILTER (edge = 1) AS r1,
                   max(coalesce(back, 0)) FILTER (edge = 2) AS r2
            FROM _suspects s ASOF LEFT JOIN seen e ON s.no = e.no AND s.moment >= e.t GROUP BY s.no, s.k)
        SELECT no, k, CASE WHEN came < 0 THEN least(-came, comes, (p2 - p1) + (r1 - r0))
                           ELSE -least(came, -comes, (r2 - r1) + (p1 - p0)) END::INTEGER AS shift
        FROM counted;
        UPDATE _observed SET level = greatest(0, level + shift) FROM _corrections c
        WHERE c.no = _observed.no AND c.k = _observed.k;
        DROP TABLE _suspects; DROP TABLE _corrections""")


def _book_removals_early(con: duckdb.DuckDBPyConnection, limit: int) -> None:
    """Between two snapshots, book a removal at the earliest moment that the later pickups allow.

    When it happened is not known. Early is safe: the threshold becomes lower, never too high, and a place
    that may have been empty counts as empty.
    """
    con.execute(f"""
        CREATE OR REPLACE TEMP TABLE _early AS
        SELECT r.no, r.run, o.t + 1 AS t, least(-any_value(r.change), min(b.base + e.net))::INTEGER AS taken
        FROM _residuals r JOIN _observed o ON o.no = r.no AND o.k = r.run
        JOIN _bases b ON b.no = r.no AND b.run = r.run
        JOIN _events e ON e.no = r.no AND e.run = r.run
        WHERE r.change < 0 AND r.t > o.t + 1 AND r.t - o.t <= {limit}
        GROUP BY r.no, r.run, o.t HAVING min(b.base + e.net) > 0;
        INSERT INTO _moves SELECT no, t, -taken FROM _early;
        UPDATE _residuals SET change = change + taken FROM _early e
        WHERE e.no = _residuals.no AND e.run = _residuals.run;
        DROP TABLE _early""")


def _regimes(con: duckdb.DuckDBPyConnection, last: int, max_gap: int | None, feed: str, skew: int) -> None:
    """Say from when a place was open, closed or unknown."""
    limit = _QUIET[feed] if max_gap is None else max_gap
    con.execute(f"""
        INSERT INTO _regimes
        SELECT no, t, CASE WHEN coalesce(after, {last}) - t > {limit} THEN {UNKNOWN}
                           WHEN open THEN {OPEN} ELSE {CLOSED} END
        FROM _observed""")
    if feed == "events" and max_gap is None:
        # A ride is a change: a feed of changes that stays silent for hours after one was not listening.
        con.execute(f"""
            INSERT INTO _regimes
            SELECT e.no, min(e.t), {UNKNOWN} FROM _events e JOIN _observed o ON o.no = e.no AND o.k = e.run
            WHERE e.kind < 3 AND e.t > o.t + {skew} AND coalesce(o.after, {last}) - e.t > {_CONTRADICTED}
            GROUP BY e.no, e.run""")
