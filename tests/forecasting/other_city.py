"""Cities whose riders follow other laws than the model's; shares no code with the package.

Every request is simulated on its own: it comes at a moment, wants one place, and finds a vehicle, walks, or
gives up by the law of the city. Vehicles come back, vans fill places.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

LAWS = ("logit", "app", "groups", "shocks")
REACH = 800.0


@dataclass(frozen=True)
class OtherCity:
    """A panel with its truth: requests that found no vehicle at their place, and those that gave up."""

    columns: dict[str, np.ndarray]
    stations: dict[str, np.ndarray]
    unserved: np.ndarray
    lost: np.ndarray


def make_other_city(law: str, seed: int, places: int = 20, days: int = 60) -> OtherCity:
    """Simulate a city in which riders choose by `law`, one of `LAWS`.

    All choose by a logit over the places within 800 m that have a vehicle, with giving up as an alternative.
    app : half of the riders see stock beforehand and hardly ever give up.
    groups : requests come in groups of one to four.
    shocks : shocks of places last for hours and are log-normal; vans go where vehicles run out.
    """
    rng = np.random.default_rng([seed, LAWS.index(law)])
    hours = 24 * days
    where = rng.uniform(0, 1300, (places, 2))
    metres = np.linalg.norm(where[:, None] - where[None], axis=2)
    rate = _rates(rng, places, days, lasting=law == "shocks")
    capacity = rng.integers(12, 25, places)
    stock = capacity // 2
    appeal = np.where((metres > 0) & (metres <= REACH), np.exp(-metres / 250.0), 0.0)

    y = np.zeros((places, hours), np.int64)
    unserved, lost = np.zeros_like(y), np.zeros_like(y)
    start_stock = np.zeros_like(y)
    empty = np.zeros((places, hours))
    since = np.where(stock == 0, 0.0, np.nan)
    back: list[tuple[float, int]] = []
    pull = rng.dirichlet(np.full(places, 2.0))

    def change(place: int, by: int, now: float) -> None:
        before = stock[place]
        stock[place] = before + by
        if before == 0 and stock[place] > 0:
            _add_empty(empty[place], since[place], now)
            since[place] = np.nan
        elif before > 0 and stock[place] == 0:
            since[place] = now

    def ride(place: int, now: float) -> None:
        change(place, -1, now)
        y[place, int(now)] += 1
        heapq.heappush(back, (now + rng.gamma(4.0, 0.07), int(rng.choice(places, p=pull))))

    def returns(until: float) -> None:
        while back and back[0][0] <= until:
            now, place = heapq.heappop(back)
            if stock[place] >= capacity[place]:
                place = int(np.argmax(capacity - stock))
            change(place, 1, now)

    for hour in range(hours):
        returns(hour)
        if hour % 24 in (5, 13) or (law == "shocks" and hour % 3 == 0):
            _drive(rng, stock, capacity, hour, change, everywhere=hour % 24 in (5, 13))
        start_stock[:, hour] = stock
        size = 1.75 if law == "groups" else 1.0
        count = rng.poisson(rate[:, hour] / size)
        moments = np.sort(rng.uniform(hour, hour + 1, count.sum()))
        wanted = rng.permutation(np.repeat(np.arange(places), count))
        for now, place in zip(moments, wanted):
            returns(now)
            people = int(rng.choice([1, 2, 3, 4], p=[0.5, 0.3, 0.15, 0.05])) if law == "groups" else 1
            for _ in range(people):
                if stock[place] > 0:
                    ride(int(place), now)
                    continue
                unserved[place, hour] += 1
                offer = appeal[place] * (stock > 0)
                sees = law == "app" and rng.uniform() < 0.5
                chance = offer / (offer.sum() + (0.05 if sees else 0.5))
                chosen = int(rng.choice(places + 1, p=[*chance, max(0.0, 1 - chance.sum())]))
                if chosen < places:
                    ride(chosen, now)
                else:
                    lost[place, hour] += 1
    returns(hours)
    for place in np.flatnonzero(stock == 0):
        _add_empty(empty[place], since[place], hours)
    return _finished(where, y, empty, start_stock, unserved, lost)


def _rates(rng: np.random.Generator, places: int, days: int, *, lasting: bool) -> np.ndarray:
    hour = np.arange(24 * days)
    level = np.exp(rng.normal(np.log(1.6), 0.5, places))[:, None]
    kind = rng.uniform(size=(places, 1))
    day = np.exp(-0.5 * ((hour % 24 - 8.0) / 2.0) ** 2), np.exp(-0.5 * ((hour % 24 - 17.5) / 2.5) ** 2)
    profile = 0.15 + 2.2 * (kind * day[0] + (1 - kind) * day[1]) + 0.6 * (hour % 24 > 9) * (hour % 24 < 22)
    weekend = np.where((hour // 24) % 7 >= 5, 0.75, 1.0)
    rate = level * profile * weekend
    memory, spread = (0.85, 0.5) if lasting else (0.0, 0.3)
    noise = rng.standard_normal(rate.shape)
    for t in range(1, rate.shape[1]):
        noise[:, t] = memory * noise[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return rate * np.exp(spread * noise - spread**2 / 2)


def _drive(rng, stock, capacity, hour, change, *, everywhere: bool) -> None:
    """Move vehicles from full places to empty ones: twice a day all, otherwise where vehicles ran out."""
    for place in np.argsort(stock):
        goal = capacity[place] // 2 if everywhere else 4
        if stock[place] >= (goal // 2 if everywhere else 1) or rng.uniform() < 0.4:
            continue
        for _ in range(int(goal - stock[place])):
            source = int(np.argmax(stock))
            if stock[source] <= 5:
                return
            change(source, -1, float(hour))
            change(int(place), 1, float(hour))


def _add_empty(row: np.ndarray, begin: float, end: float) -> None:
    for hour in range(int(begin), min(int(np.ceil(end)), len(row))):
        row[hour] += max(0.0, min(end, hour + 1) - max(begin, hour))


def _finished(where, y, empty, stock, unserved, lost) -> OtherCity:
    places, hours = y.shape
    ids = np.array([f"p{n:02d}" for n in range(places)], object)
    ds = np.datetime64("2024-01-01T00:00:00", "us") + np.arange(hours) * np.timedelta64(3600, "s")
    columns = {
        "unique_id": np.repeat(ids, hours),
        "ds": np.tile(ds, places),
        "y": y.reshape(-1),
        "censored": (empty > 0).reshape(-1),
        "exposure": np.clip(1 - empty, 0.0, 1.0).reshape(-1),
        "threshold": np.where(unserved > 0, 0, stock).reshape(-1),
    }
    degrees = where / 111_195.0
    flat = np.cos(np.deg2rad(40.0))
    stations = {"unique_id": ids, "lat": 40.0 + degrees[:, 0], "lng": -74.0 + degrees[:, 1] / flat}
    return OtherCity(columns, stations, unserved, lost)
