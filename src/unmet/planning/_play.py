"""Targets put to the test: the same weeks of a simulated city, played once for each set of targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmet.datasets.city import City, replay
from unmet.planning._allocation import allocate
from unmet.planning._arrays import Ints, amounts, stretched
from unmet.planning._lost import NODES, expected_lost


@dataclass(frozen=True)
class Played:
    """What became of the requests made from ``first_day`` on.

    Attributes
    ----------
    requests : int
        Made at our places (those that a rival served aside).
    lost : int
        Requests from which no ride came.
    spilled : int
        Served from a neighbour.
    moved : int
        Vehicles moved by vans.
    """

    requests: int
    lost: int
    spilled: int
    moved: int

    @property
    def service_level(self) -> float:
        """Share of requests served."""
        return 1.0 - self.lost / self.requests if self.requests else 1.0


def daily_targets(
    rate: ArrayLike,
    shape: ArrayLike = np.inf,
    returns_rate: ArrayLike = 0.0,
    *,
    capacity: ArrayLike,
    fleet: int,
    nodes: int = NODES,
) -> Ints:
    """Morning targets (days, P) that place the whole fleet as well as the rates allow, each day for itself.

    Parameters
    ----------
    rate, returns_rate : array (days, P, H)
        Mean requests and returns of the hours from one visit of the vans to the next.
    shape : number or array that fits ``rate``
    capacity : array (P,)
    """
    means = amounts(rate, "rate")
    if means.ndim != 3:
        raise ValueError(f"rate must have the shape (days, places, hours), got {means.shape}")
    days, places, hours = means.shape
    every = (days * places, hours)
    docks = np.tile(np.broadcast_to(np.asarray(capacity), (places,)), days)
    curves = expected_lost(
        means.reshape(every),
        stretched(amounts(shape, "shape", infinite=True), means.shape, "shape").reshape(every),
        stretched(amounts(returns_rate, "returns_rate"), means.shape, "returns_rate").reshape(every),
        capacity=docks,
        nodes=nodes,
    )
    by_day = curves.reshape(days, places, -1)
    return np.stack([allocate(fleet, day, capacity=capacity) for day in by_day])


def play_targets(
    city: City,
    targets: ArrayLike,
    *,
    first_day: int,
    progress: Callable[[float], None] | None = None,
) -> Played:
    """Play the city again with other morning targets from ``first_day`` on, and count from then to the end.

    Requests, fleet, docks and vans are the same (:func:`unmet.datasets.city.replay`), and so is everything
    before that day's vans.
    """
    return count_played(replay(city, targets, first_day=first_day, progress=progress), first_day)


def count_played(city: City, first_day: int) -> Played:
    """Requests, lost and spilled rides and moved vehicles of a city from a local day on."""
    hours = city.hours.day >= first_day
    truth = city.truth
    rival = int(truth.rival[:, hours].sum())
    begin = int(np.flatnonzero(hours)[0]) * 3600
    return Played(
        requests=int(truth.latent[:, hours].sum()) - rival,
        lost=int(truth.lost[:, hours].sum()) - rival,
        spilled=int(truth.spilled_out[:, hours].sum()),
        moved=int((city.moves[:, 4] >= begin).sum()),
    )


def compare_targets(
    city: City,
    targets: Mapping[str, ArrayLike],
    *,
    first_day: int,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Played]:
    """Play each set of targets over the same days; names as given."""
    found = {}
    for done, (name, wanted) in enumerate(targets.items()):
        found[name] = play_targets(city, wanted, first_day=first_day)
        if progress is not None:
            progress((done + 1) / len(targets))
    return found


def gap_closed(observed: Played, estimated: Played, true: Played) -> float:
    """Share of the gap in lost rides that estimated demand closes: (a − b) / (a − c).

    a, b, c are the rides lost with targets from observed usage, from estimated demand and from the true one.
    NaN if the truth loses no fewer rides than usage: then there is no gap to close.
    """
    if {observed.requests, estimated.requests, true.requests} != {observed.requests}:
        raise ValueError("the three plays must be of the same city and days: their requests differ")
    gap = observed.lost - true.lost
    return (observed.lost - estimated.lost) / gap if gap > 0 else float("nan")
