"""Simulate every request, ride, return and van in order of time, exact to the second."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from unmet.datasets.city._demand import Requests
from unmet.datasets.city._fleet import Fleet
from unmet.datasets.city._hours import Hours
from unmet.datasets.city._map import Map
from unmet.datasets.city._rebalancing import DRIVE, plan_night
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings
from unmet.datasets.city._wear import make_wear

# A heap entry is one integer: second, then kind of event, then number of the ride, job or request. In the
# same second returns come first, then vans, then people, so that a returned vehicle can be taken.
_SHIFT = 35
_RETURN, _BRING, _FETCH, _ASK, _MEND = 0 << 32, 1 << 32, 2 << 32, 3 << 32, 4 << 32
_WHAT, _WHICH = 7 << 32, (1 << 32) - 1

_NEIGHBOURS = 4
_DETOURS = 12
_CYCLING = 3.0  # metres a second when looking for a free dock
_PATIENCE = 300  # seconds until a rider looks again when every dock around is taken


@dataclass(frozen=True)
class Outcome:
    """The outcome of every request, and the moves of the vans.

    Attributes
    ----------
    second : array (N,)
        When the request was made; −1 if the period was over.
    origin, destination, vehicle, end : array (N,)
        The ride: where it left and ended, its vehicle and its end; −1 if there was no ride.
    moves : array (M, 5)
        One row per vehicle moved by a van: vehicle, from, second, to, second.
    home : array (V,)
        Place of each vehicle at the start.
    workshop : array (K, 3)
        Place, second and change of the stock when a vehicle breaks, is mended or retires.
    refused : array (N,)
        Whether the request found a vehicle and did not want it.
    """

    second: np.ndarray
    origin: np.ndarray
    destination: np.ndarray
    vehicle: np.ndarray
    end: np.ndarray
    moves: np.ndarray
    home: np.ndarray
    workshop: np.ndarray
    refused: np.ndarray


@dataclass
class _State:
    """What changes while the city runs. Plain arrays read and write single elements faster than NumPy."""

    second: array[int]
    goal: array[int]
    origin: array[int]
    vehicle: array[int]
    end: array[int]
    refused: bytearray
    stock: list[deque[int]]
    last: list[int]  # the second of the latest change of stock; the first second is the opening state
    broken: list[int]  # vehicles that take up a dock
    heap: list[int] = field(default_factory=lambda: [1 << 62])  # a sentinel, so that it is never empty
    jobs: list[tuple[int, int, int]] = field(default_factory=list)  # place to fetch at, to bring to, how many
    # Place to bring to, (vehicle, from, second).
    loads: list[tuple[int, list[tuple[int, int, int]]]] = field(default_factory=list)
    moves: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    workshop: list[tuple[int, int, int]] = field(default_factory=list)
    done: int = 0  # requests

    def copy(self) -> _State:
        """Return a state that goes its own way from here."""
        parts = {name: copy(part) for name, part in vars(self).items()}
        return _State(**parts | {"stock": [bikes.copy() for bikes in self.stock]})


def simulate(
    settings: CitySettings,
    map_: Map,
    hours: Hours,
    fleet: Fleet,
    requests: Requests,
    progress: Callable[[float], None] | None = None,
    targets: dict[int, list[int]] | None = None,
) -> Outcome:
    """Run the city. A place changes its stock at most once per second: a second change waits.

    A request takes the vehicle that has stood longest. Without a vehicle it is lost or, with spill, goes to
    the nearest of four neighbours that has one, with chance exp(−distance / walk). Where n vehicles stand,
    a request wants none of them with chance refusal ** n, and is lost. A return without a free
    dock rides on to the nearest place that has one. A vehicle that breaks when it is returned keeps its dock
    until it is mended; one that retires leaves the street. ``targets`` gives the hours at which vans
    leave and what they aim for; by default they aim for ``fleet.target`` at ``settings.van_hours``.
    """
    if targets is None:
        targets = night_targets(settings, hours, fleet.target) if settings.rebalancing else {}
    [outcome] = simulate_each(settings, map_, hours, fleet, requests, [targets], progress)
    return outcome


def simulate_each(
    settings: CitySettings,
    map_: Map,
    hours: Hours,
    fleet: Fleet,
    requests: Requests,
    plans: Sequence[dict[int, list[int]]],
    progress: Callable[[float], None] | None = None,
) -> Iterator[Outcome]:
    """Run the city as :func:`simulate` does, with each of several targets. Until they differ it runs once."""
    count = len(requests.place)
    place = array("i", requests.place.tobytes())
    ride = array("i", requests.ride.tobytes())
    patience = array("d", generator(settings.seed, "spill").random(count).tobytes())
    refusal = settings.refusal
    choosy = array("d", generator(settings.seed, "refusal").random(count if refusal else 0).tobytes())
    capacity = fleet.capacity.tolist()
    neighbours = _neighbours(settings, map_)
    detours = _detours(map_)
    wear = make_wear(settings, hours, count)
    closing = hours.seconds

    def advance(state: _State, target: dict[int, list[int]], marks: list[int]) -> None:
        """Run up to the last mark, a second at which vans may leave; at closing, until everybody is home."""
        second, goal, origin, vehicle, end = state.second, state.goal, state.origin, state.vehicle, state.end
        stock, last, broken, heap, refused = state.stock, state.last, state.broken, state.heap, state.refused
        jobs, loads, moves, workshop = state.jobs, state.loads, state.moves, state.workshop

        def ask(which: int, now: int) -> None:
            at = place[which]
            bikes = stock[at]
            if not bikes:
                if not settings.spill:
                    return
                drawn, wanted = patience[which], goal[which]
                for at, chance in neighbours[place[which]]:
                    bikes = stock[at]
                    if bikes and at != wanted:
                        if drawn >= chance:
                            return
                        break
                else:
                    return
            if refusal and choosy[which] < refusal ** len(bikes):
                refused[which] = True
                return
            if last[at] == now:
                second[which] = now + 1 if now + 1 < closing else -1
                if now + 1 < closing:
                    heappush(heap, (now + 1 << _SHIFT) | _ASK | which)
                return
            last[at] = now
            vehicle[which] = bikes.popleft()
            origin[which] = at
            heappush(heap, (now + ride[which] << _SHIFT) | which)

        def settle(limit: int) -> None:
            """Process all events before the limit."""
            while heap[0] < limit:
                entry = heappop(heap)
                now, what, which = entry >> _SHIFT, entry & _WHAT, entry & _WHICH
                if what == _RETURN:
                    at = goal[which]
                    if last[at] == now:
                        heappush(heap, entry + (1 << _SHIFT))
                    elif room_at(at):
                        last[at] = now
                        end[which] = now
                        if wear is None or not wear_out(which, at, now):
                            stock[at].append(vehicle[which])
                    else:
                        later = _PATIENCE
                        for other, seconds in detours[at]:
                            if room_at(other):
                                goal[which], later = other, seconds
                                break
                        heappush(heap, entry + (later << _SHIFT))
                elif what == _ASK:
                    ask(which, now)
                elif what == _FETCH:
                    fetch(which, now, entry)
                elif what == _MEND:
                    mend(which, now, entry)
                else:
                    bring(which, now, entry)

        def wear_out(which: int, at: int, now: int) -> bool:
            """Take a vehicle that was just returned off the stock if it retires or breaks."""
            assert wear is not None
            lasts = wear.lasts[which]
            retires = now >= wear.retires[vehicle[which]]
            if not retires and lasts == 0:
                return False
            workshop.append((at, now, -1))
            if not retires:
                broken[at] += 1
                heappush(heap, (now + lasts << _SHIFT) | _MEND | which)
            return True

        def mend(which: int, now: int, entry: int) -> None:
            at = goal[which]
            if now >= closing:
                return
            if last[at] == now:
                heappush(heap, entry + (1 << _SHIFT))
                return
            last[at] = now
            broken[at] -= 1
            stock[at].append(vehicle[which])
            workshop.append((at, now, 1))

        def fetch(which: int, now: int, entry: int) -> None:
            at, to, wanted = jobs[which]
            if last[at] == now:
                heappush(heap, entry + (1 << _SHIFT))
                return
            taken = min(wanted, len(stock[at]))
            if taken == 0:
                return
            last[at] = now
            loads.append((to, [(stock[at].popleft(), at, now) for _ in range(taken)]))
            heappush(heap, (now + DRIVE << _SHIFT) | _BRING | (len(loads) - 1))

        def room_at(at: int) -> bool:
            return len(stock[at]) + broken[at] < capacity[at]

        def bring(which: int, now: int, entry: int) -> None:
            at, load = loads[which]
            if last[at] == now:
                heappush(heap, entry + (1 << _SHIFT))
                return
            room = capacity[at] - len(stock[at]) - broken[at]
            for bike, source, fetched in load[:room]:
                last[at] = now
                stock[at].append(bike)
                moves.append((bike, source, fetched, at, now))
            rest = load[room:]
            if rest:
                free = [(seconds, other) for other, seconds in detours[at] if room_at(other)]
                seconds, other = free[0] if free else (_PATIENCE, at)
                loads[which] = (other, rest)
                heappush(heap, entry + (seconds << _SHIFT))

        for mark, stop in zip(marks, np.searchsorted(requests.second, marks).tolist()):
            for which in range(state.done, stop):
                now = second[which]
                limit = now + 1 << _SHIFT
                if heap[0] < limit:
                    settle(limit)
                ask(which, now)
            state.done = stop
            settle(mark << _SHIFT)
            if mark in target:
                standing = [len(bikes) for bikes in stock]
                for after, source, sink, load in plan_night(standing, target[mark], settings.vehicles):
                    jobs.append((source, sink, load))
                    heappush(heap, (mark + after << _SHIFT) | _FETCH | (len(jobs) - 1))
            if progress is not None:
                progress(mark / closing)
            if mark == closing:
                settle((1 << 62) - 1)  # rides under way at the end of the period come home

    targets = [{hour * 3600: wanted for hour, wanted in plan.items()} for plan in plans]
    marks = sorted(set(range(0, closing, 86_400)).union({closing}, *targets))
    apart = next((m for m in marks if any(one.get(m) != targets[0].get(m) for one in targets)), closing)
    home = np.repeat(np.arange(len(map_)), fleet.target)
    start = _opening(requests, home, len(map_))
    advance(start, targets[0], [mark for mark in marks if mark < apart])
    for target in targets:
        state = start.copy()
        advance(state, target, [mark for mark in marks if mark >= apart])
        yield _outcome(state, home)


def _opening(requests: Requests, home: np.ndarray, places: int) -> _State:
    """Return the city before the first request, each vehicle at home."""
    count = len(requests.place)
    nothing = array("i", np.full(count, -1, dtype=np.int32).tobytes())
    stock: list[deque[int]] = [deque() for _ in range(places)]
    for bike, at in enumerate(home.tolist()):
        stock[at].append(bike)
    return _State(
        second=array("i", requests.second.tobytes()),
        goal=array("i", requests.destination.tobytes()),
        origin=nothing[:],
        vehicle=nothing[:],
        end=nothing[:],
        refused=bytearray(count),
        stock=stock,
        last=[0] * places,
        broken=[0] * places,
    )


def _outcome(state: _State, home: np.ndarray) -> Outcome:
    went = np.frombuffer(state.origin, dtype=np.int32)
    return Outcome(
        second=np.frombuffer(state.second, dtype=np.int32),
        origin=went,
        destination=np.where(went >= 0, np.frombuffer(state.goal, dtype=np.int32), -1),
        vehicle=np.frombuffer(state.vehicle, dtype=np.int32),
        end=np.frombuffer(state.end, dtype=np.int32),
        moves=np.array(state.moves, dtype=np.int64).reshape(-1, 5),
        home=home,
        workshop=np.array(state.workshop, dtype=np.int64).reshape(-1, 3),
        refused=np.frombuffer(state.refused, dtype=np.bool_),
    )


def night_targets(settings: CitySettings, hours: Hours, target: np.ndarray) -> dict[int, list[int]]:
    """Return the hours at which the city's own vans leave, each with the same targets."""
    leave = np.isin(hours.hour, settings.van_hours)
    return dict.fromkeys(np.flatnonzero(leave).tolist(), target.tolist())


def _neighbours(settings: CitySettings, map_: Map) -> list[list[tuple[int, float]]]:
    """Return the nearest neighbours of each place with the chance that somebody walks there."""
    chance = np.exp(-map_.distance / settings.walk)
    return [
        [(j, float(chance[i, j])) for j in row]
        for i, row in enumerate(_nearest(map_.distance, _NEIGHBOURS).tolist())
    ]


def _detours(map_: Map) -> list[list[tuple[int, int]]]:
    """Return the nearest neighbours of each place with the seconds to ride there."""
    return [
        [(j, max(60, int(map_.distance[i, j] / _CYCLING))) for j in row]
        for i, row in enumerate(_nearest(map_.distance, _DETOURS).tolist())
    ]


def _nearest(distance: np.ndarray, count: int) -> np.ndarray:
    apart = distance.copy()
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, : min(count, len(distance) - 1)]
