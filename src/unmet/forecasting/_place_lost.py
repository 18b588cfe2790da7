"""Draws of the past of each place, summed up at once: in threads, or by blocks of places on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._grid import Grid
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._parametric import Parametric, Past
from unmet.forecasting._past_draws import PlaceDraws, make_draw
from unmet.runs import Cluster, Keep, KeptTasks, Task, in_threads, one_blas_thread

Floats = NDArray[np.float64]
ENDS = (0.05, 0.5, 0.95)
SERVED_NOT = ("unserved", "next_door")
_BLOCK = 16  # places of one task


@dataclass(frozen=True)
class PlaceLost:
    """What the draws of one place say.

    Attributes
    ----------
    at : its uncertain periods (n,).
    demand : quantiles `ENDS` of demand + U there (3, n); `lost_ends` : of lost rides, 0.05 and 0.95 (2, n).
    completed : the first draw of demand there (n,).
    empty : see `PlaceDraws`.
    sums : over all its periods, in each draw (D,): requests added to pickups, lost, unserved and next door.
    """

    place: int
    at: NDArray[np.int64]
    demand: Floats
    lost_ends: Floats
    completed: Floats
    empty: Floats
    sums: dict[str, NDArray[np.int64]]


Block = tuple[list[PlaceLost], Floats]


@dataclass(frozen=True)
class _Drawing:
    """What the draws of all places share."""

    model: Parametric
    grid: Grid
    past: Past
    draws: int
    seed: int
    near: NearbyPlaces | None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def draw(self) -> Callable[[int], PlaceDraws]:
        return make_draw(self.model, self.grid, self.past, self.draws, self.seed, self.near)

    @cached_property
    def days(self) -> tuple[int, NDArray[np.int64]]:
        """The number of days, and the day of each period."""
        days, day = np.unique(self.grid.calendar.day, return_inverse=True)
        return len(days), day

    def block(self, places: list[int]) -> Block:
        """Return what the draws of some places say, and their sums by day (2, D, days), `SERVED_NOT`."""
        count, day = self.days
        by_day = np.zeros((len(SERVED_NOT), self.draws, count))
        found = []
        for place in places:
            drawn = self.draw(place)
            found.append(self._summed(drawn))
            if len(drawn.at):
                begins = np.flatnonzero(np.diff(day[drawn.at], prepend=-1))
                for sums, name in zip(by_day, SERVED_NOT):
                    sums[:, day[drawn.at[begins]]] += np.add.reduceat(getattr(drawn, name), begins, axis=1)
        return found, by_day

    def _summed(self, drawn: PlaceDraws) -> PlaceLost:
        place, at = drawn.place, drawn.at
        gone = drawn.unserved - drawn.next_door
        whole = self.grid.y[place, at] + drawn.unserved - drawn.foreign
        jitter = np.random.default_rng([self.seed, 31, place]).uniform(size=whole.shape)
        demand, ends = np.zeros((len(ENDS), len(at))), np.zeros((2, len(at)))
        if len(at):
            demand = _between(np.sort((whole + jitter).T, axis=1))
            ordered = np.sort(np.ascontiguousarray(gone.T, np.int32), axis=1)
            for row, level in zip(ends, (ENDS[0], ENDS[-1])):
                row[:] = ordered[:, max(0, int(np.ceil(level * self.draws - 1e-9)) - 1)]
        return PlaceLost(
            place=place,
            at=at,
            demand=demand,
            lost_ends=ends,
            completed=whole[0].copy(),
            empty=drawn.empty,
            sums={
                "added": (drawn.unserved - drawn.foreign).sum(axis=1),
                "lost": gone.sum(axis=1),
                "unserved": drawn.unserved.sum(axis=1),
                "next_door": drawn.next_door.sum(axis=1),
            },
        )


def drawn_places(
    model: Parametric,
    grid: Grid,
    past: Past,
    draws: int,
    seed: int,
    near: NearbyPlaces | None,
    jobs: int,
    cluster: Cluster | None,
) -> Iterator[Block]:
    """Yield what the draws of all places say, in their order; `jobs` threads, or the workers of a cluster."""
    drawing = _Drawing(model, grid, past, draws, seed, near)
    places = range(len(grid.places))
    if cluster is None:
        drawing.draw, drawing.days  # noqa: B018 - made once, before threads ask for them
        yield from in_threads(partial(_one, drawing), places, jobs)
        return
    blocks = [list(places[begin : begin + _BLOCK]) for begin in range(0, len(places), _BLOCK)]
    tasks = [Task(f"draws of places {block[0]} to {block[-1]}", block) for block in blocks]
    kept = KeptTasks(cluster, _block, drawing, tasks, "draws")
    yield from kept.results()
    kept.forget()


def _one(drawing: _Drawing, place: int) -> Block:
    return drawing.block([place])


def _block(drawing: _Drawing, places: list[int], keep: Keep) -> Block:
    with one_blas_thread():
        return drawing.block(places)


def _between(ordered: Floats) -> Floats:
    """Return the quantiles `ENDS` of sorted rows, straight lines between draws; shape (3, n)."""
    at = np.array(ENDS) * (ordered.shape[1] - 1)
    low = np.floor(at).astype(np.int64)
    share = (at - low)[:, None]
    left, right = ordered.T[low], ordered.T[np.minimum(low + 1, ordered.shape[1] - 1)]
    return np.where(share < 0.5, left + (right - left) * share, right - (right - left) * (1 - share))
