"""Superhubs: groups of stations, given by the user or found by weighted k-means, and their rows."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.panel._places import COUNTED, exists
from unmet.runs import read_regular
from unmet.tables import identifier

_RESTARTS = 20
_MOST_BYTES = 2**26


def superhubs(
    con: Connection,
    hubs: int | Mapping[str, str] | str | os.PathLike[str],
    *,
    trips: str = "trips",
    seed: int = 0,
) -> dict[str, str]:
    """Return the hub of each place.

    Parameters
    ----------
    hubs : a number of hubs, a mapping place → hub, or a file: CSV with columns ``place,hub`` or JSON,
        ``{"place": "hub"}`` or ``{"hub": ["place", …]}``. Given a number, hubs are found by k-means over the
        coordinates of the places, weighted by the rides that start there, and named ``hub-1``, ``hub-2``, …
        in order of decreasing rides.
    seed : seed for the starting points of k-means.
    """
    if isinstance(hubs, bool) or not isinstance(hubs, int | Mapping | str | os.PathLike):
        raise ValueError(f"hubs must be a number, a mapping or a file, got {hubs!r}")
    if isinstance(hubs, int):
        return _by_distance(con, hubs, trips, seed)
    found = dict(hubs) if isinstance(hubs, Mapping) else read_hubs(hubs)
    if not found:
        raise ValueError("hubs must name at least one place and its hub, got none")
    known = {
        row[0] for row in con.execute(f"SELECT DISTINCT start_place FROM {identifier(trips)}").fetchall()
    }
    if exists(con, "status"):
        known |= {row[0] for row in con.execute("SELECT DISTINCT place FROM status").fetchall()}
    missing = sorted(set(found) - known)
    if missing:
        raise ValueError(
            f"hubs has {len(missing)} place(s) without rides, such as {missing[0]!r}; "
            "use the ids of places in the trips"
        )
    return {place: found[place] for place in sorted(found)}


def read_hubs(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read hubs from CSV (``place,hub``) or JSON; each place belongs to one hub."""
    path = Path(path)
    try:
        text = read_regular(path, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"hubs file {path} is not UTF-8 text; save it as UTF-8") from None
    pairs: list[tuple[str, str]] = []
    if path.suffix.lower() == ".json":
        try:
            held = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"hubs file {path} is not JSON: {error}") from None
        if not isinstance(held, dict):
            raise ValueError(f"hubs file {path} must be an object of place: hub or hub: [places]")
        for key, value in held.items():
            if isinstance(value, list):
                pairs += [(str(place), key) for place in value]
            else:
                pairs.append((key, str(value)))
    else:
        rows = csv.DictReader(text.replace("\0", "").splitlines())
        names = [name.strip().lower() for name in rows.fieldnames or ()]
        if "place" not in names or "hub" not in names:
            raise ValueError(
                f"hubs file {path} needs the columns place,hub; found {', '.join(names) or 'none'}"
            )
        rows.fieldnames = names
        try:
            pairs = [(str(row["place"]).strip(), str(row["hub"]).strip()) for row in rows]
        except csv.Error as error:
            raise ValueError(f"hubs file {path} is not CSV: {error}") from None
    found: dict[str, str] = {}
    for place, hub in pairs:
        if found.setdefault(place, hub) != hub:
            raise ValueError(
                f"hubs file {path} puts place {place!r} into two hubs, {found[place]!r} and {hub!r}"
            )
    return found


def membership(con: Connection, hubs: int | Mapping[str, str] | str | os.PathLike[str], trips: str) -> str:
    """Write table ``_members(place, hub)`` and return its name."""
    found = superhubs(con, hubs, trips=trips)
    con.execute("CREATE OR REPLACE TEMP TABLE _members (place VARCHAR, hub VARCHAR)")
    con.executemany("INSERT INTO _members VALUES (?, ?)", list(found.items()))
    return "_members"


def _by_distance(con: Connection, count: int, trips: str, seed: int) -> dict[str, str]:
    # Average whole micro-degrees, because sums of floats depend on the number of threads.
    where = f"""SELECT start_place AS place, count(*) AS rides,
                       avg(round(start_lat * 1000000)::BIGINT) / 1e6 AS lat,
                       avg(round(start_lng * 1000000)::BIGINT) / 1e6 AS lng
                FROM {identifier(trips)} WHERE {COUNTED} AND start_place IS NOT NULL GROUP BY start_place"""
    known = (
        "SELECT place, min(lat) AS lat, min(lng) AS lng FROM stations GROUP BY place"
        if exists(con, "stations")
        else "SELECT NULL::VARCHAR AS place, NULL::DOUBLE AS lat, NULL::DOUBLE AS lng WHERE false"
    )
    rows = con.execute(f"""
        SELECT place, rides, coalesce(s.lat, r.lat) AS lat, coalesce(s.lng, r.lng) AS lng
        FROM ({where}) r LEFT JOIN ({known}) s USING (place) ORDER BY place""").fetchall()
    lost = [row[0] for row in rows if row[2] is None or row[3] is None]
    if lost:
        raise ValueError(
            f"hubs={count} needs coordinates, and {len(lost)} place(s) have none, such as {lost[0]!r}; "
            "give them in a file with stations= or name the hubs in a file with hubs= instead"
        )
    if not 1 <= count <= len(rows):
        raise ValueError(f"hubs must be between 1 and the number of places ({len(rows)}), got {count}")
    rides = np.array([row[1] for row in rows], float)
    lat, lng = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    flat = np.column_stack([lat, lng * np.cos(np.radians(lat.mean()))])
    label = weighted_kmeans(flat, rides, count, seed)
    size = np.array([rides[label == k].sum() for k in range(count)])
    rank = {int(k): i + 1 for i, k in enumerate(np.argsort(-size, kind="stable"))}
    return {row[0]: f"hub-{rank[int(k)]}" for row, k in zip(rows, label)}


def weighted_kmeans(points: np.ndarray, weight: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return cluster labels: the best result of Lloyd's algorithm from 20 random starts."""
    rng = np.random.default_rng(seed)
    best, best_label = np.inf, np.zeros(len(points), int)
    for _ in range(_RESTARTS):
        centres = points[rng.choice(len(points), p=weight / weight.sum())][None]
        while len(centres) < count:
            far = ((points[:, None] - centres[None]) ** 2).sum(-1).min(1) * weight
            if not far.sum() > 0:
                raise ValueError(f"hubs={count} is more than there are distinct coordinates; ask for fewer")
            centres = np.vstack([centres, points[rng.choice(len(points), p=far / far.sum())]])
        label = np.full(len(points), -1)
        for _ in range(300):
            distance = ((points[:, None] - centres[None]) ** 2).sum(-1)
            new = distance.argmin(1)
            if (new == label).all():
                break
            label = new
            for k in range(count):
                held = label == k
                if held.any():
                    centres[k] = np.average(points[held], axis=0, weights=weight[held])
        cost = float((distance.min(1) * weight).sum())
        if cost < best and len(np.unique(label)) == count:
            best, best_label = cost, label
    return best_label


_SHARES = {"exposure": "available_s", "exposure_low": "low_s", "exposure_high": "high_s", "reach": "reach_s"}


def gather_hubs(con: Connection, members: str) -> None:
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
