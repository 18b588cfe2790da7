"""When vans came: the chance that a vehicle was at a place in each piece of the time between two rides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmet.mobility.panel._hazard import HOUR, Hazard
from unmet.mobility.panel._stays import DAY, Stays

PIECES = 32  # of the time between two rides
_DIRECT = 0.8  # chance that a vehicle that was moved went straight to the next place
_LIFE = 60 * DAY  # seconds after which a vehicle leaves the street for good, on average
_OUT = 0.03  # chance that a vehicle cannot be rented for part of a stay
_SAMPLE = 10_000
_SHARE = (np.arange(PIECES) + 0.5) / PIECES


@dataclass(frozen=True)
class Chances:
    """The chance (G, N) that a vehicle was at `a`, and at `b`, in each piece; medians of leaving and coming.

    Attributes
    ----------
    ends : ends of the pieces in seconds (G, N + 1).
    left, came : seconds (G,) at which the vehicle left `a` and came to `b`, medians.
    """

    ends: np.ndarray
    at_a: np.ndarray
    at_b: np.ndarray
    left: np.ndarray
    came: np.ndarray


def chances(stays: Stays, hazard: Hazard, clock: np.ndarray) -> Chances:
    """Return where vehicles were between two rides, given that nobody rented them.

    Nobody rents a vehicle for some time with chance exp(−Λ), Λ being the rides that its share of the demand
    brings (see :class:`Hazard`).

    - *Moved*: a van took it from `a` at u and brought it to `b` at once, or at any later moment v ≤ t2.
      Vans come at the hours of `clock`.
    - *Stood*: it could be rented all the time; or not between u and v; or not before v.
    - *Before the first and after the last ride*: it was there all the time, or came at v, or left at u, or
      could not be rented any more.

    Parameters
    ----------
    clock : relative frequency of vans by hour of the day (24,), UTC.
    """
    middle = stays.t1[:, None] + _SHARE * (stays.t2 - stays.t1)[:, None]
    a, b = stays.a[:, None], stays.b[:, None]
    here = np.exp(hazard.until(a, stays.t1[:, None]) - hazard.until(a, middle))
    there = np.exp(hazard.until(b, middle) - hazard.until(b, stays.t2[:, None]))
    direct = clock[(middle // HOUR).astype(np.int64) % 24] * here * there
    left_then, came_then, apart = _apart(here, there)
    stood = stays.a == stays.b
    moved = ~stood & ~stays.is_first & ~stays.is_last
    gone = -np.expm1(-(stays.t2 - stays.t1) / _LIFE)
    came_late = there.mean(axis=1)
    kinds = [stood, stays.is_first, stays.is_last]
    staying = np.select(
        kinds,
        [(1 - _OUT) * there[:, 0], (1 - gone) * there[:, 0], (1 - gone) * (1 - _OUT) * here[:, -1]],
        0.0,
    )
    straight = np.where(moved, _DIRECT * direct.mean(axis=1), 0.0)
    between = np.select(
        kinds, [_OUT / 2 * apart, gone * came_late, gone * here.mean(axis=1)], (1 - _DIRECT) * apart
    )
    at_once = np.select([stood, stays.is_last], [_OUT / 2 * came_late, np.full(len(stays), _OUT)], 0.0)
    parts = np.stack([staying, straight, between, at_once])
    staying, straight, between, at_once = (parts / np.maximum(parts.sum(axis=0), 1e-300))[..., None]

    moment = _normal(direct)
    leaves = np.where(stays.is_last[:, None], _normal(here), _normal(left_then))
    comes = np.where(stays.is_first[:, None], _normal(there), _normal(came_then))
    still_a = straight * _after(moment) + between * _after(leaves)
    already_b = straight * _before(moment) + between * _before(comes) + at_once * _before(_normal(there))
    both = stood[:, None]
    at_a = staying + still_a + np.where(both, already_b, 0.0)
    at_b = staying + already_b + np.where(both, still_a, 0.0)
    ends = stays.t1[:, None] + (np.arange(PIECES + 1) * (stays.t2 - stays.t1)[:, None]) // PIECES
    left = np.take_along_axis(ends, (at_a > 0.5).sum(axis=1)[:, None], axis=1)[:, 0]
    came = np.take_along_axis(ends, (at_b <= 0.5).sum(axis=1)[:, None], axis=1)[:, 0]
    return Chances(ends, at_a, at_b, left, np.maximum(came, np.where(moved, left, came)))


def vans_by_hour(stays: Stays, hazard: Hazard, rounds: int = 3) -> np.ndarray:
    """Return the relative frequency of vans by hour of the day, from vehicles moved within a day."""
    chosen = np.flatnonzero(
        (stays.a != stays.b) & (stays.a >= 0) & (stays.b >= 0) & (stays.t2 - stays.t1 < DAY)
    )
    moved = stays.where(chosen[:: max(1, -(-len(chosen) // _SAMPLE))])
    clock = np.ones(24)
    hour = ((moved.t1[:, None] + _SHARE * (moved.t2 - moved.t1)[:, None]) // HOUR).astype(np.int64) % 24
    for _ in range(rounds):
        at_a = chances(moved, hazard, clock).at_a
        leaves = -np.diff(at_a, axis=1, append=0.0, prepend=1.0)
        leaves = (leaves[:, 1:] + leaves[:, :-1]) / 2
        found, could = (
            np.bincount(hour.ravel(), mass.ravel(), minlength=24) for mass in (leaves, _normal(clock[hour]))
        )
        clock = clock * (found + 5) / (could + 5)
        clock = clock / clock.mean()
    return clock


def _apart(here: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of leaving at u, and of coming at v, over all u ≤ v, and their mean."""
    left_then = here * np.cumsum(there[:, ::-1], axis=1)[:, ::-1]
    return left_then, there * np.cumsum(here, axis=1), 2 * left_then.mean(axis=1) / PIECES


def _normal(weight: np.ndarray) -> np.ndarray:
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300))


def _after(mass: np.ndarray) -> np.ndarray:
    """Return the chance that something happens after the middle of each piece."""
    return np.asarray(np.cumsum(mass[:, ::-1], axis=1)[:, ::-1] - mass / 2)


def _before(mass: np.ndarray) -> np.ndarray:
    return np.asarray(np.cumsum(mass, axis=1) - mass / 2)
