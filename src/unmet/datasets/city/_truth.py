"""The truth of every place and hour: latent, served, lost and spilled demand; and stock over time."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._demand import Requests
from unmet.datasets.city._fleet import Fleet
from unmet.datasets.city._hours import Hours
from unmet.datasets.city._simulation import Outcome


@dataclass(frozen=True)
class Truth:
    """Counts of shape (P, H). In every entry served = latent − lost − spilled_out + spilled_in.

    Attributes
    ----------
    latent
        Requests made here, whoever served them.
    served
        Rides of the operator that left here: y in a panel.
    lost
        Requests made here that the operator did not serve, including those that the rival served.
    spilled_out
        Requests made here that left from a neighbour.
    spilled_in
        Rides that left here but were requested at a neighbour.
    rival
        Part of ``lost``: requests that the second operator served.
    refused
        Part of ``lost``: requests that found a vehicle and did not want it.
    """

    latent: np.ndarray
    served: np.ndarray
    lost: np.ndarray
    spilled_out: np.ndarray
    spilled_in: np.ndarray
    rival: np.ndarray
    refused: np.ndarray


@dataclass(frozen=True)
class Stock:
    """Every change of stock, ordered by place and second.

    The first entry of a place, at second 0, is its opening stock. Later, each second occurs at most once per
    place. ``available`` is the number of vehicles from that second on.
    """

    place: np.ndarray
    second: np.ndarray
    available: np.ndarray


def count_truth(
    shape: tuple[int, int], requests: Requests, outcome: Outcome, rival: tuple[np.ndarray, np.ndarray]
) -> Truth:
    """Count outcomes by place and hour of the request."""

    def count(place: np.ndarray, second: np.ndarray) -> np.ndarray:
        flat = place.astype(np.int64) * shape[1] + second // 3600
        return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)

    made = outcome.second >= 0
    wanted, left, second = requests.place[made], outcome.origin[made], outcome.second[made]
    rode = left >= 0
    away = rode & (left != wanted)
    taken = count(*rival)
    return Truth(
        latent=count(wanted, second) + taken,
        served=count(left[rode], second[rode]),
        lost=count(wanted[~rode], second[~rode]) + taken,
        spilled_out=count(wanted[away], second[away]),
        spilled_in=count(left[away], second[away]),
        rival=taken,
        refused=count(wanted[outcome.refused[made]], second[outcome.refused[made]]),
    )


def follow_stock(hours: Hours, fleet: Fleet, outcome: Outcome) -> Stock:
    """Return every change of stock in the period, by rides, vans and the workshop."""
    rode = outcome.origin >= 0
    moves, workshop = outcome.moves, outcome.workshop
    place = np.concatenate(
        [outcome.origin[rode], outcome.destination[rode], moves[:, 1], moves[:, 3], workshop[:, 0]]
    )
    second = np.concatenate(
        [outcome.second[rode], outcome.end[rode], moves[:, 2], moves[:, 4], workshop[:, 1]]
    )
    half, whole = int(rode.sum()), len(moves)
    change = np.concatenate(
        [np.full(half, -1), np.full(half, 1), np.full(whole, -1), np.full(whole, 1), workshop[:, 2]]
    ).astype(np.int64)
    # A van takes several vehicles in one second; that is one change of stock.
    key = place.astype(np.int64) * hours.seconds + second
    key, change = key[second < hours.seconds], change[second < hours.seconds]
    opening = np.arange(len(fleet.target), dtype=np.int64) * hours.seconds
    order = np.argsort(key, kind="stable")
    key, change = key[order], change[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    key, change = key[starts], np.add.reduceat(change, starts) if len(starts) else change
    key = np.concatenate([opening, key])
    change = np.concatenate([np.asarray(fleet.target, dtype=np.int64), change])
    order = np.argsort(key, kind="stable")
    key, change = key[order], change[order]
    place, second = key // hours.seconds, key % hours.seconds
    total = np.cumsum(change)
    first = np.flatnonzero(second == 0)  # no change of stock happens at second 0
    before = np.concatenate([[0], total[first[1:] - 1]])
    return Stock(place, second, total - before[place])
