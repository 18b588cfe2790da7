"""Test targets in a simulated city: replay the same weeks for each set of targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmet.datasets.city import City, replay, replay_each
from unmet.planning._allocation import allocate
from unmet.planning._arrays import Floats, Ints, amounts, stretched
from unmet.planning._stock_value import balanced_returns, expected_lost
from unmet.planning._usage import hourly_exposure, hourly_returns, usual_rates, visit_windows

CLOCKS = (2, 14)
_WORK = 2  # hours after which most of the vans' work is done


@dataclass(frozen=True)
class Played:
    """Outcome of the requests from ``first_day`` on.

    Attributes
    ----------
    requests : int
        Requests at our places, without those that a rival served.
    lost : int
        Requests without a ride.
    spilled : int
        Requests served by a neighbour.
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


def visit_targets(
    city: City,
    rate: ArrayLike,
    shape: ArrayLike = np.inf,
    returns_rate: ArrayLike = 0.0,
    *,
    first_day: int,
    clocks: Sequence[int] = CLOCKS,
) -> Ints:
    """Return targets (days, clocks, P) that allocate the whole fleet optimally for each visit of the vans.

    The window of a visit runs from two hours after the vans leave to two hours after they next leave.

    Parameters
    ----------
    rate, returns_rate : array (P, H)
        Mean requests and returns in the hours of the city. Hours before ``first_day`` are ignored.
    shape : number or array that fits ``rate``
    clocks : sequence of int
        Local hours at which vans leave, rising.
    """
    if list(clocks) != sorted(set(clocks)) or not clocks:
        raise ValueError(f"clocks must be rising hours, got {clocks}")
    means = stretched(amounts(rate, "rate"), city.rate.shape, "rate")
    spread = stretched(amounts(shape, "shape", infinite=True), city.rate.shape, "shape")
    back = stretched(amounts(returns_rate, "returns_rate"), city.rate.shape, "returns_rate")
    visits = []
    for clock, following in zip(clocks, [*clocks[1:], clocks[0] + 24]):
        hours = visit_windows(city, first_day, clock + _WORK, following - clock)
        visits.append(_place_fleet(city, *(array[:, hours] for array in (means, spread, back))))
    return np.stack(visits, axis=1)


def _place_fleet(city: City, rate: Floats, shape: Floats, returns_rate: Floats) -> Ints:
    """Return the best allocation (days, P) for windows (P, days, hours). Equal windows are solved once."""
    places, days, hours = rate.shape
    every = np.concatenate([rate, shape, returns_rate], axis=2).transpose(1, 0, 2).reshape(days, -1)
    distinct, which = np.unique(every, axis=0, return_inverse=True)
    flat = distinct.reshape(-1, 3, hours)
    docks = np.tile(city.capacity, len(distinct))
    curves = expected_lost(flat[:, 0], flat[:, 1], flat[:, 2], capacity=docks)
    by_day = curves.reshape(len(distinct), places, -1)
    placed = [allocate(city.settings.vehicles, day, capacity=city.capacity) for day in by_day]
    return np.stack(placed)[which.reshape(-1)]


def play_targets(
    city: City,
    targets: ArrayLike,
    *,
    first_day: int,
    clocks: Sequence[int] = CLOCKS,
    progress: Callable[[float], None] | None = None,
) -> Played:
    """Replay the city with vans that follow the targets from ``first_day`` on, and count from then on.

    Requests, fleet, docks and vans stay the same (:func:`unmet.datasets.city.replay`), as does everything
    before that day's vans.
    """
    again = replay(city, targets, first_day=first_day, clocks=clocks, progress=progress)
    return count_played(again, first_day)


def count_played(city: City, first_day: int) -> Played:
    """Count requests, lost and spilled rides and moved vehicles from a local day on."""
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


def gap_closed(observed: Played, estimated: Played, true: Played) -> float:
    """Return the share of the gap in lost rides that estimated demand closes: (a − b) / (a − c).

    a, b and c are the rides lost with targets from observed usage, estimated demand and true demand. NaN if
    there is no gap, because the truth loses no fewer rides than usage.
    """
    if {estimated.requests, true.requests} != {observed.requests}:
        raise ValueError("the three plays must be of the same city and days: their requests differ")
    gap = observed.lost - true.lost
    return (observed.lost - estimated.lost) / gap if gap > 0 else float("nan")


def play_three(
    city: City,
    estimated: ArrayLike | None = None,
    shape: ArrayLike = np.inf,
    *,
    first_day: int,
    clocks: Sequence[int] = CLOCKS,
    progress: Callable[[float], None] | None = None,
) -> Mapping[str, Played]:
    """Replay targets from observed usage, from estimated demand and from true rates (:func:`gap_closed`).

    All three targets come from :func:`visit_targets` and differ only in the rates of demand: observed usage,
    the estimate, and the city's true rates. Returns follow from the rates and from where vehicles usually
    come back (:func:`balanced_returns`).

    Parameters
    ----------
    estimated : array (P, H), optional
        Estimated mean requests; hours before ``first_day`` are ignored. By default past usage divided by
        exposure (:func:`usual_rates`).
    shape : number or array that fits (P, H)
        Shape of the negative binomial around the estimate and around usage. The truth has its own.

    Returns
    -------
    dict
        ``observed``, ``estimated``, ``true``.
    """
    served, past = city.truth.served, city.hours.day < first_day
    usage = usual_rates(city, served, first_day)
    if estimated is None:
        estimated = usual_rates(city, served, first_day, exposure=hourly_exposure(city))
    demand = stretched(amounts(estimated, "estimated"), city.rate.shape, "estimated")
    truly = 1.0 / city.settings.dispersion if city.settings.dispersion else np.inf
    rates = {  # rates, shape, share of demand that was served
        "observed": (usage, shape, 1.0),
        "estimated": (demand, shape, usage[:, ~past].sum() / max(demand[:, ~past].sum(), 1e-9)),
        "true": (city.rate, truly, served[:, past].sum() / city.rate[:, past].sum()),
    }
    usual = usual_rates(city, hourly_returns(city), first_day)
    targets = []
    for rate, spread, share in rates.values():
        returns = balanced_returns(rate, usual, min(share, 1.0))
        targets.append(visit_targets(city, rate, spread, returns, first_day=first_day, clocks=clocks))
        if progress is not None:
            progress(len(targets) / (len(rates) + 1))
    replays = replay_each(city, targets, first_day=first_day, clocks=clocks)
    found = {name: count_played(again, first_day) for name, again in zip(rates, replays)}
    if progress is not None:
        progress(1.0)
    return found
