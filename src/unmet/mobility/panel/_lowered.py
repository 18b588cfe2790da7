"""Virtual stock-outs: what would have been seen if the last few vehicles of every place were not for rent.

Pickups of these vehicles are hidden. They are real, exactly known, and hidden because demand took the other
vehicles first, so they are a truth to hold an estimate against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from unmet.calendar import Periods
from unmet.mobility.panel._availability import AVAILABLE, EMPTY, Segments, segments
from unmet.mobility.panel._events import EDGE, PICKUP
from unmet.mobility.panel._ledger import Ledger
from unmet.mobility.panel._shared_rows import SharedLedger
from unmet.tables import Columns, fetch_columns

if TYPE_CHECKING:
    import duckdb

RESERVES = (2, 4, 8)
Reserve = int | Literal["auto"]
_ENOUGH_SHARE, _ENOUGH_RIDES, _TOO_MANY = 0.1, 300, 0.5
_BATCHES_LOOKED_AT = 4  # to choose the reserve
_EMPTY_TABLE = """
    CREATE OR REPLACE TABLE _lowered (no INTEGER, start BIGINT, y INTEGER, hidden INTEGER,
                                      open_s INTEGER, tight_s INTEGER, known_s INTEGER, ran_out DOUBLE)"""
# A hub is the sum of its stations, each weighted by its mean number of pickups, as in `_hub_rows`.
_OF_HUBS = """
    SELECT hub AS unique_id, start, sum(y) AS y, sum(hidden) AS hidden, sum(w * open_s) AS open_s,
           sum(w * tight_s) AS tight_s, sum(w * known_s) AS known_s, sum(ran_out) AS ran_out
    FROM _lowered JOIN _places USING (no) JOIN {members} USING (place)
    JOIN (SELECT no, (1000000 * sum(y + hidden) // count(*))::HUGEINT + 1 AS w FROM _lowered GROUP BY no)
        USING (no)
    GROUP BY hub, start"""
_OF_STATIONS = """
    SELECT place AS unique_id, start, y, hidden, open_s, tight_s, known_s, ran_out
    FROM _lowered JOIN _places USING (no)"""


def write_lowered(
    con: duckdb.DuckDBPyConnection,
    ledger: Ledger,
    periods: Periods,
    members: str | None,
    reserve: Reserve,
    served: np.ndarray,
    shared: SharedLedger | None = None,
) -> int:
    """Write table ``lowered``, one row for each row of the panel, and return the reserve.

    Columns: ``unique_id``, ``ds``; ``y``, pickups while more than `reserve` vehicles stood; ``hidden``,
    pickups while 1 to `reserve` stood; ``exposure`` and ``tight``, the shares of known, open time with more
    than `reserve` vehicles and with 1 to `reserve`, each moment weighted by the chance that a request was
    served (see :func:`measure_served`); ``ran_out``, pickups that left `reserve` vehicles, each weighted by
    the chance that the next request takes one of these. Really empty time is part of neither share.

    Parameters
    ----------
    reserve : vehicles of every place that are not for rent. ``"auto"``: the smallest of 2, 4 and 8 that hides
        a tenth of the rides and at least 300, and not over half of them.
    shared : the ledger on a cluster, whose workers then compute the rows.
    """
    batches = ledger.events.batches(len(periods.starts))
    if reserve == "auto":
        step = -(-len(batches) // _BATCHES_LOOKED_AT)
        some = [segments(ledger, numbers, periods.starts, periods.last) for numbers in batches[::step]]
        reserve = choose_reserve(some, step)
    elif reserve < 1:
        raise ValueError(f"reserve must be 'auto' or a whole number of at least 1, not {reserve!r}")
    con.execute(_EMPTY_TABLE)
    if shared is None:
        frames = (lowered_of(ledger, numbers, periods, reserve, served) for numbers in batches)
    else:
        frames = shared.frames("lowered rows", lowered_of, batches, reserve, served)
    for frame in frames:
        con.register("_frame", frame)
        con.execute("INSERT INTO _lowered FROM _frame")
        con.unregister("_frame")
    rows = _OF_STATIONS if members is None else _OF_HUBS.format(members=members)
    con.execute(f"""
        CREATE OR REPLACE TABLE lowered AS
        SELECT unique_id, make_timestamp(start * 1000000) AS ds, y::INTEGER AS y, hidden::INTEGER AS hidden,
               open_s::DOUBLE / nullif(known_s, 0)::DOUBLE AS exposure,
               tight_s::DOUBLE / nullif(known_s, 0)::DOUBLE AS tight, ran_out
        FROM ({rows}) ORDER BY unique_id, ds;
        DROP TABLE _lowered""")
    return reserve


def lowered_columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Return the rows of table ``lowered`` at the places of the panel as columns, in its order."""
    con.execute("DELETE FROM lowered WHERE unique_id NOT IN (SELECT DISTINCT unique_id FROM panel)")
    return fetch_columns(con, "lowered", ("unique_id", "ds"))


def choose_reserve(found: list[Segments], step: int) -> int:
    """Return the smallest reserve that hides enough rides, judged by every `step`-th batch of places."""
    before = np.concatenate([part.level[part.kind == PICKUP] + 1 for part in found])
    before = before[before > 0]
    hidden = {reserve: int((before <= reserve).sum()) for reserve in RESERVES}
    fitting = [reserve for reserve in RESERVES if hidden[reserve] <= _TOO_MANY * len(before)] or [RESERVES[0]]
    enough = max(_ENOUGH_SHARE * len(before), _ENOUGH_RIDES / step)
    return next((reserve for reserve in fitting if hidden[reserve] >= enough), fitting[-1])


def lowered_of(
    ledger: Ledger, numbers: tuple[int, int], periods: Periods, reserve: int, served: np.ndarray
) -> Columns:
    """Return counts and seconds of each period of consecutive places with a reserve."""
    found = segments(ledger, numbers, periods.starts, periods.last)
    return _sums(found, numbers, periods.starts, reserve, served)


def _sums(
    found: Segments, numbers: tuple[int, int], edges: np.ndarray, reserve: int, served: np.ndarray
) -> Columns:
    """Return counts and seconds of each place and period."""
    rows = (numbers[1] - numbers[0] + 1) * len(edges)
    row = np.cumsum(found.kind == EDGE) - 1
    inside = found.t >= edges[0]
    before = found.level + 1  # of a pickup
    pickup = inside & (found.kind == PICKUP)

    def count(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(row[chosen], minlength=rows).astype(np.int32)

    def seconds(chosen: np.ndarray, share: np.ndarray | float = 1.0) -> np.ndarray:
        lasts = ((found.until - found.t) * share)[chosen]
        return np.round(np.bincount(row[chosen], weights=lasts, minlength=rows)).astype(np.int32)

    stands, chance = inside & (found.state == AVAILABLE), found.served(served)
    return {
        "no": np.repeat(np.arange(numbers[0], numbers[1] + 1, dtype=np.int32), len(edges)),
        "start": np.tile(edges, numbers[1] - numbers[0] + 1),
        "y": count(pickup & (before > reserve)),
        "hidden": count(pickup & (before > 0) & (before <= reserve)),
        "open_s": seconds(stands & (found.level > reserve), chance),
        "tight_s": seconds(stands & (found.level > 0) & (found.level <= reserve), chance),
        "known_s": seconds(inside & (found.state <= EMPTY)),
        "ran_out": count(pickup & (before == reserve + 1)) * served[min(reserve, len(served)) - 1],
    }
