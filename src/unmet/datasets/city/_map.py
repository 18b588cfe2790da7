"""The map: position, kind and attraction of places."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings

KINDS = ("residential", "office", "leisure")

_SPACING = 320.0  # metres between neighbours, roughly
_METRES_PER_DEGREE = 111_195.0
_FIRST = """
Alder Birch Cedar Dogwood Elm Fir Gorse Hazel Ivy Juniper Kestrel Larch Maple Nettle Oak Poplar Quince Rowan
Sorrel Thorn Umber Violet Willow Yarrow
"""
_SECOND = """
Bridge Canal Depot Ferry Garden Harbour Island Junction Market Mill Museum Orchard Park Quay Square Station
Terrace Tower Union Wharf
"""


@dataclass(frozen=True)
class Map:
    """Places of a city.

    Attributes
    ----------
    ids, names : tuple of str
    lat, lng : array (P,)
        Degrees, rounded to six decimals as the feeds show them.
    kind : array of int (P,)
        Index into ``KINDS``.
    attraction : array (P,)
        Relative demand of the place, mean 1.
    distance : array (P, P)
        Metres between places.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    lat: np.ndarray
    lng: np.ndarray
    kind: np.ndarray
    attraction: np.ndarray
    distance: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def make_map(settings: CitySettings) -> Map:
    """Draw places: a sunflower pattern with jitter, offices near the centre, homes outside."""
    random = generator(settings.seed, "map")
    count = settings.places
    rank = np.arange(count)
    # A sunflower fills the disc evenly: no two places coincide, and every place has neighbours.
    radius = _SPACING * np.sqrt((rank + 0.5) / np.pi)
    angle = rank * np.pi * (3.0 - np.sqrt(5.0))
    x = radius * np.cos(angle) + random.normal(0.0, 0.15 * _SPACING, count)
    y = radius * np.sin(angle) + random.normal(0.0, 0.15 * _SPACING, count)
    centrality = 1.0 - rank / count
    chances = np.stack([0.65 - 0.4 * centrality, 0.15 + 0.35 * centrality, np.full(count, 0.20)], axis=1)
    draw = random.random(count)
    kind = (draw[:, None] > np.cumsum(chances, axis=1)[:, :2]).sum(axis=1)
    attraction = np.exp(random.normal(0.0, 0.5, count)) * (0.7 + 0.6 * centrality)
    lat0, lng0 = settings.centre
    width = max(2, len(str(count)))
    distance = np.hypot(x[:, None] - x[None, :], y[:, None] - y[None, :])
    return Map(
        ids=tuple(f"P{i + 1:0{width}d}" for i in range(count)),
        names=tuple(_name(i) for i in range(count)),
        lat=np.round(lat0 + y / _METRES_PER_DEGREE, 6),
        lng=np.round(lng0 + x / (_METRES_PER_DEGREE * np.cos(np.radians(lat0))), 6),
        kind=kind,
        attraction=attraction / attraction.mean(),
        distance=distance,
    )


def _name(index: int) -> str:
    """Return a different name for every place, with a number when the words run out."""
    first, second = _FIRST.split(), _SECOND.split()
    # Shift the second list by one each time the first is through, so that no pair occurs twice.
    turn, word = divmod(index, len(first))
    return f"{first[word]} {second[(word + turn) % len(second)] if turn < len(second) else f'{turn} St'}"
