"""What happened around a place: its neighbours or the cells of the map around it, as columns of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
How = Literal["distance", "flows", "learned"]
AROUND = ("graph", "grid")
SIDE = 5  # cells of the square that a grid network sees
_NEIGHBOURS = 8
_CELL = 1.25  # side of a cell, in median distances to the nearest place
_METRES_PER_DEGREE = 111_195.0
FEATURES = 3  # of the own sequence: score, flag, signal of all places together


@dataclass(frozen=True)
class Site:
    """Where places lie, and what makes two of them neighbours.

    Attributes
    ----------
    east, north : metres from the middle, (P,); NaN where not known.
    how : "distance", "flows" or "learned".
    flows : rides from row to column, (P, P), for "flows".
    """

    east: Floats
    north: Floats
    how: How = "distance"
    flows: sparse.csr_array | None = None

    def of_places(self, index: Whole) -> Site:
        """Return the site of some places."""
        flows = None if self.flows is None else self.flows[index][:, index]
        return Site(self.east[index], self.north[index], self.how, flows)

    @property
    def located(self) -> NDArray[np.bool_]:
        return np.isfinite(self.east) & np.isfinite(self.north)


@dataclass(frozen=True)
class Around:
    """The K nodes around each place: neighbours of a graph network, or cells of a grid network.

    Attributes
    ----------
    index : number of the node, −1 for none, (P, K). The first node of a graph is the place itself.
    attributes : what tells nodes of a place apart, (P, K, A). Graph: weight, east, north. Grid: whether there
        is a place in the cell.
    node : node of each place, (P,), −1 if it has none. The value of a node is the mean of its places.
    """

    index: Whole
    attributes: Floats
    node: Whole

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and attributes of each, as `CensoredQuantileRegressor` takes them."""
        return self.attributes.shape[1], self.attributes.shape[2]

    def columns(
        self, X: Floats, signal: Floats, place: Whole, period: Whole, lags: tuple[int, ...]
    ) -> Floats:
        """Return the columns X of rows (place, period) with those of their surroundings.

        X holds score and flag at each lag, then static columns, of which log mean and log shape are the
        first. `signal` (P + 1, T) is what a place tells others of each period, 0 where nothing is known; its
        last row is of all places together. A column √(μ / (1 + μ / r)) is added: by how much the score of
        this place moves with its shock.
        """
        at = period[:, None] - np.array(lags)
        inside = (at >= 0) & (at < signal.shape[1])
        at = np.clip(at, 0, signal.shape[1] - 1)
        city = np.where(inside, signal[-1][at], 0.0)
        steps = len(lags)
        own = X[:, : 2 * steps].reshape(-1, steps, 2)
        sequence = np.concatenate([own, city[:, :, None]], axis=2)
        index = self.index[place]
        seen = inside[:, None, :] & (index >= 0)[:, :, None]
        series = np.where(
            seen, self._values(signal[:-1])[np.maximum(index, 0)[:, :, None], at[:, None, :]], 0.0
        )
        rows = len(X)
        parts = (sequence, series, self.attributes[place])
        static = X[:, 2 * steps :]
        mean, shape = np.exp(static[:, :1]), np.exp(static[:, 1:2])
        worth = np.sqrt(mean / (1 + mean / shape))
        return np.hstack([*(part.reshape(rows, -1) for part in parts), static, worth])

    def _values(self, signal: Floats) -> Floats:
        """Return the mean signal of the places of each node, (nodes, T)."""
        nodes = int(self.node.max()) + 1
        there = np.flatnonzero(self.node >= 0)
        if nodes == len(signal) and (self.node == np.arange(nodes)).all():
            return signal
        ones = np.ones(len(there))
        member = sparse.csr_array((ones, (self.node[there], there)), shape=(nodes, len(signal)))
        return np.asarray(member @ signal) / np.maximum(member.sum(axis=1), 1)[:, None]


def make_site(
    places: NDArray[Any], stations: Mapping[str, Any] | None, neighbours: str | Mapping[str, Any]
) -> Site:
    """Return the site of the places of a panel.

    Parameters
    ----------
    stations : columns unique_id, lat, lng.
    neighbours : "distance", "learned", or flows between places: columns origin, destination, rides.
    """
    east, north = np.full(len(places), np.nan), np.full(len(places), np.nan)
    position = {str(place): k for k, place in enumerate(places)}
    if stations is not None:
        for place, lat, lng in zip(stations["unique_id"], stations["lat"], stations["lng"]):
            if str(place) in position:
                east[position[str(place)]], north[position[str(place)]] = float(lng), float(lat)
    if np.isfinite(east + north).any():
        flat = np.cos(np.deg2rad(np.nanmean(north)))
        east = (east - np.nanmean(east)) * flat * _METRES_PER_DEGREE
        north = (north - np.nanmean(north)) * _METRES_PER_DEGREE
    if isinstance(neighbours, str):
        if neighbours not in ("distance", "learned"):
            raise ValueError(
                f"neighbours must be 'distance', 'learned' or columns origin, destination and rides, not "
                f"{neighbours!r}"
            )
        return Site(east, north, neighbours)  # type: ignore[arg-type]
    missing = [name for name in ("origin", "destination", "rides") if name not in neighbours]
    if missing:
        raise ValueError(
            f"neighbours has no column {', '.join(missing)}: flows need origin, destination and rides"
        )
    ends = [
        np.array([position.get(str(place), -1) for place in neighbours[name]], np.int64)
        for name in ("origin", "destination")
    ]
    both = (ends[0] >= 0) & (ends[1] >= 0) & (ends[0] != ends[1])
    rides = np.asarray(neighbours["rides"], np.float64)[both]
    if not len(rides) or (rides < 0).any() or not np.isfinite(rides).all():
        raise ValueError("neighbours must hold rides of at least 0 between different places of the panel")
    size = (len(places), len(places))
    return Site(east, north, "flows", sparse.csr_array((rides, (ends[0][both], ends[1][both])), shape=size))


def make_around(kind: str, site: Site, signal: Floats) -> Around:
    """Return the nodes around each place. `signal` is that of the training periods, for "learned"."""
    return _cells(site) if kind == "grid" else _graph(site, signal[:-1])


def _graph(site: Site, signal: Floats) -> Around:
    count = min(_NEIGHBOURS, len(signal) - 1)
    weight = {"distance": _by_distance, "flows": _by_flows, "learned": _by_signal}[site.how](site, signal)
    np.fill_diagonal(weight, np.inf)  # the place itself comes first
    order = np.argsort(-weight, axis=1, kind="stable")[:, : count + 1]
    weight = np.minimum(np.take_along_axis(weight, order, axis=1), 1.0)
    there = weight > 0
    steps = [part[order] - part[:, None] for part in (site.east, site.north)]
    known = there & np.isfinite(steps[0] + steps[1])
    far = np.hypot(*steps)[:, 1:][known[:, 1:]]
    unit = max(float(np.median(far)), 1.0) if len(far) else 1.0
    toward = [np.where(known, part / unit, 0.0) for part in steps]
    attributes = np.stack([np.where(there, weight, 0.0), *toward], axis=2)
    return Around(np.where(there, order, -1), attributes, np.arange(len(signal)))


def _by_distance(site: Site, _: Floats) -> Floats:
    """Return exp(−distance / unit), the unit being the median distance to the neighbours."""
    metres = np.hypot(site.east[:, None] - site.east, site.north[:, None] - site.north)
    metres = np.where(np.isfinite(metres), metres, np.inf)
    near = np.sort(metres, axis=1)[:, 1 : _NEIGHBOURS + 1]
    near = near[np.isfinite(near)]
    return np.exp(-metres / max(float(np.median(near)), 1.0))


def _by_flows(site: Site, _: Floats) -> Floats:
    """Return the share of a place's rides, to and from it, that another place has."""
    assert site.flows is not None
    both = (site.flows + site.flows.T).toarray()
    return np.asarray(both / np.maximum(both.sum(axis=1, keepdims=True), 1e-12))


def _by_signal(_: Site, signal: Floats) -> Floats:
    """Return the correlation of a place's signal with that of another place one period before."""
    usual = signal - signal.mean(axis=1, keepdims=True)
    usual /= np.maximum(usual.std(axis=1, keepdims=True), 1e-12)
    return np.asarray(usual[:, 1:] @ usual[:, :-1].T / (signal.shape[1] - 1))


def _cells(site: Site) -> Around:
    """Lay a regular grid over the map, its cells somewhat larger than the usual distance of neighbours."""
    from scipy.spatial import KDTree

    there = np.flatnonzero(site.located)
    points = np.column_stack([site.east, site.north])[there]
    nearest = KDTree(points).query(points, k=2)[0][:, 1]
    side = max(_CELL * float(np.median(nearest)), 1.0)
    where = np.floor((points - points.min(axis=0)) / side).astype(np.int64)
    high, wide = where[:, 1].max() + 1, where[:, 0].max() + 1
    flat, number = np.unique(where[:, 1] * wide + where[:, 0], return_inverse=True)
    table = np.full((high + 2 * (SIDE // 2), wide + 2 * (SIDE // 2)), -1, np.int64)
    table[flat // wide + SIDE // 2, flat % wide + SIDE // 2] = np.arange(len(flat))
    node = np.full(len(site.east), -1, np.int64)
    node[there] = number
    index = np.full((len(site.east), SIDE * SIDE), -1, np.int64)
    reach = np.arange(SIDE)
    down, right = where[:, 1, None] + reach, where[:, 0, None] + reach
    index[there] = table[down[:, :, None], right[:, None, :]].reshape(len(there), -1)
    return Around(index, (index >= 0).astype(np.float64)[:, :, None], node)
