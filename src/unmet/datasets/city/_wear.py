"""Wear: vehicles that break when they are returned, and vehicles that retire."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._hours import Hours
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings

_MENDED_AFTER = 5.0  # days that a broken vehicle stands, on average


@dataclass(frozen=True)
class Wear:
    """What happens to vehicles at their returns.

    Attributes
    ----------
    lasts : list (N,)
        Seconds for which the vehicle stands broken after the ride of each request; 0 if it does not break.
    retires : list (V,)
        Second from which on the next return of the vehicle is its last.
    """

    lasts: list[int]
    retires: list[int]


def make_wear(settings: CitySettings, hours: Hours, requests: int) -> Wear | None:
    """Draw the wear of all vehicles; None in a city without it.

    The chance to break at a return is such that, with a ride for each request, the share ``broken`` of the
    fleet stands broken in the long run.
    """
    if settings.broken == 0 and settings.retiring == 0:
        return None
    random = generator(settings.seed, "workshop")
    days = hours.seconds / 86_400
    odds = settings.broken / (1 - settings.broken)
    chance = min(1.0, odds * settings.vehicles * days / (_MENDED_AFTER * max(requests, 1)))
    breaks = random.random(requests) < chance
    lasts = np.where(breaks, 1 + random.exponential(_MENDED_AFTER * 86_400, requests), 0)
    goes = random.random(settings.vehicles) < settings.retiring
    when = np.where(goes, random.random(settings.vehicles) * hours.seconds, 2 * hours.seconds)
    return Wear(lasts.astype(np.int64).tolist(), when.astype(np.int64).tolist())
