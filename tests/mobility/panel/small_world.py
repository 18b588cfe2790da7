"""An exact simulator of a few stations, and the canonical tables filled by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import duckdb
import pandas as pd

from unmet.tables import connect

EPOCH = datetime(2021, 5, 3, tzinfo=UTC).replace(tzinfo=None)  # a Monday


def connection(threads: int = 1) -> duckdb.DuckDBPyConnection:
    return connect(threads=threads)


def fill(con, trips=(), status=None, stations=None) -> None:
    """Canonical tables: trips (vehicle, start, end, from, to[, flag]) and status (place, at, n[, open])."""
    con.execute("""CREATE OR REPLACE TABLE trips (ride_id VARCHAR, vehicle_id VARCHAR, started_at TIMESTAMP,
        ended_at TIMESTAMP, start_place VARCHAR, end_place VARCHAR, start_lat DOUBLE, start_lng DOUBLE,
        end_lat DOUBLE, end_lng DOUBLE, flag VARCHAR, source VARCHAR, line BIGINT)""")
    con.execute("""CREATE OR REPLACE TABLE status (place VARCHAR, "at" TIMESTAMP, available INTEGER,
        docks INTEGER, renting BOOLEAN, "returning" BOOLEAN)""")
    con.execute("""CREATE OR REPLACE TABLE stations (place VARCHAR, name VARCHAR, lat DOUBLE, lng DOUBLE,
        capacity INTEGER)""")
    rides = [(*ride, None)[:6] for ride in trips]
    blank = (None,) * 4  # coordinates
    rows = [(str(i), *ride[:5], *blank, ride[5], "hand", i) for i, ride in enumerate(rides)]
    _insert(con, "trips", rows)
    _insert(con, "status", [(*s[:3], None, s[3] if len(s) > 3 else True, True) for s in status or ()])
    _insert(con, "stations", stations or ())


def _insert(con, table, rows) -> None:
    if rows:
        names = [row[0] for row in con.execute(f"DESCRIBE {table}").fetchall()]
        con.register("_hand", pd.DataFrame(rows, columns=names))  # far quicker than row by row
        con.execute(f"INSERT INTO {table} FROM _hand")
        con.unregister("_hand")


def at(seconds: float, epoch: datetime = EPOCH) -> datetime:
    return epoch + timedelta(seconds=seconds)


@dataclass
class World:
    """What happened: rides, level of every place after every second with an event, and lost demand."""

    seconds: int
    opening: dict[str, int]
    rides: list[tuple[str, int, int, str, str]] = field(default_factory=list)
    levels: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    lost: list[tuple[str, int]] = field(default_factory=list)
    moved: list[tuple[str, int, int]] = field(default_factory=list)

    def level(self, place: str, second: int) -> int:
        """Stock after everything that happened up to and including a second."""
        known = [t for t in self.levels[place] if t <= second]
        return self.levels[place][max(known)] if known else self.opening[place]

    def empty_seconds(self, place: str, start: int, stop: int) -> int:
        total, at_, held = 0, start, self.level(place, start - 1)
        for t in sorted(t for t in self.levels[place] if start <= t < stop):
            total += (t - at_) * (held == 0)
            at_, held = t, self.levels[place][t]
        return total + (stop - at_) * (held == 0)


def simulate(seconds, opening, demands, moves) -> World:
    """Run demands (second, place, destination, duration) and operator moves (second, place, change).

    In one second: returns, deliveries, demand, removals. The vehicle that has stood longest is taken.
    """
    world = World(seconds, dict(opening))
    names = iter(range(10**9))
    stock = {place: [f"v{next(names)}" for _ in range(n)] for place, n in opening.items()}
    arrivals: dict[int, list[tuple[str, str]]] = defaultdict(list)
    by_second: dict[int, list] = defaultdict(list)
    for t, place, to, duration in demands:
        by_second[t].append((place, to, duration))
    operator: dict[int, list] = defaultdict(list)
    for t, place, change in moves:
        operator[t].append((place, change))
    for t in sorted({*by_second, *operator} | {t + d for t, _, _, d in demands}):
        if t >= seconds:
            break
        touched = set()
        for place, vehicle in arrivals.pop(t, []):
            stock[place].append(vehicle)
            touched.add(place)
        for place, change in operator[t]:
            if change > 0:
                stock[place] += [f"v{next(names)}" for _ in range(change)]
                world.moved.append((place, t, change))
                touched.add(place)
        for place, to, duration in by_second[t]:
            if stock[place]:
                world.rides.append((stock[place].pop(0), t, t + duration, place, to))
                arrivals[t + duration].append((to, world.rides[-1][0]))
                touched.add(place)
            else:
                world.lost.append((place, t))
        for place, change in operator[t]:
            taken = min(-change, len(stock[place])) if change < 0 else 0
            if taken:
                del stock[place][:taken]
                world.moved.append((place, t, -taken))
                touched.add(place)
        for place in touched:
            world.levels[place][t] = len(stock[place])
    return world


def tables(con, world: World, every: int | None = None, epoch: datetime = EPOCH, names=None) -> None:
    """Fill the canonical tables from a world: records of every change, or snapshots every so many seconds."""
    name = names or {place: place for place in world.opening}
    trips = [(v, at(a, epoch), at(b, epoch), name[p], name[q]) for v, a, b, p, q in world.rides]
    status = []
    for place in world.opening:
        moments = range(0, world.seconds, every) if every else sorted({0, *world.levels[place]})
        status += [(name[place], at(t, epoch), world.level(place, t)) for t in moments]
    fill(con, trips, sorted(status), [(name[p], p, 0.0, 0.0, 20) for p in world.opening])
