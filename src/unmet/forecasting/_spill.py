"""Spill: people who find a place empty and take a vehicle at a neighbour, by one of several laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._nearby import NearbyPlaces

Floats = NDArray[np.float64]
LawName = Literal["nearest", "logit", "app"]
LAWS: tuple[LawName, ...] = ("nearest", "logit", "app")
# Weight of giving up against walking 0 metres. People with an app know where a vehicle is.
_GIVE_UP: dict[LawName, float] = {"logit": 1.0, "app": 0.05}
_WALKS = (50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 700.0, 1000.0)
_LOG_WALKS = tuple(float(np.log(walk)) for walk in _WALKS)
_SCORING_STEPS = 30
_NARROWER, _GOLDEN = 5, (5**0.5 - 1) / 2
# Gain in log-likelihood that spill must bring to be accepted.
_CLEAR_GAIN = 3.0
_SHRINK = 10.0  # rides that a place and cell must have to differ from its rate by half
_LEAST_MEAN = 1e-6
_AT_ONCE = 1 << 18  # rows whose flows are computed together
# Rows err together, so a difference in log-likelihood counts for less; laws with less weight are dropped.
_TEMPER, _LEAST_WEIGHT = 4.0, 0.02


@dataclass(frozen=True)
class Spill:
    """How people who find a place empty choose a neighbour.

    nearest : the nearest of four neighbours that has a vehicle, with chance share · exp(−d / walk).
    logit : any place within reach that has a vehicle, in proportion to exp(−d / walk), or giving up in
        proportion to 1; all of this with chance share.
    app : the same with hardly anybody giving up on the way, because an app shows stock.

    `error` is the standard error of log share, given the walk. `others` are laws that the data do not rule
    out; expected flows are the mean over all laws by `weight`.
    """

    share: float
    walk: float
    error: float = 0.0
    law: LawName = "nearest"
    weight: float = 1.0
    others: tuple[Spill, ...] = ()

    def chance(self, metres: Floats) -> Floats:
        return self.share * np.exp(-metres / self.walk)

    @property
    def laws(self) -> tuple[Spill, ...]:
        """All laws, each alone."""
        return (replace(self, others=()), *self.others)


NONE = Spill(0.0, 1.0)


def flows(spill: Spill, near: NearbyPlaces, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Return expected pickups from empty neighbours, and unserved requests served by a neighbour; (P, T)."""
    step = max(24, _AT_ONCE // len(unserved))
    if not spill.others and unserved.shape[1] <= step:
        return _flows(spill, near, unserved, exposure)
    came, went = np.zeros_like(unserved), np.zeros_like(unserved)
    for begin in range(0, unserved.shape[1], step):  # periods do not depend on each other
        part = (slice(None), slice(begin, begin + step))
        for law in spill.laws:
            weight = law.weight if spill.others else 1.0  # one of several laws may be asked for alone
            arrived, left = _flows(law, near, unserved[part], exposure[part])
            came[part] += weight * arrived
            went[part] += weight * left
    return came, went


def _flows(law: Spill, near: NearbyPlaces, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    if law.share == 0:
        return np.zeros_like(unserved), np.zeros_like(unserved)
    if law.law == "nearest":
        return _to_nearest(law, near, unserved, exposure)
    return _by_choice(law, near, unserved, exposure)


def _to_nearest(law: Spill, near: NearbyPlaces, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Return the flows if everybody goes to the nearest place with a vehicle.

    The k-th neighbour serves this share of a place's unserved requests: the chance of walking there times
    the share of time in which it has a vehicle and no nearer neighbour has.
    """
    place, period = np.nonzero(unserved)
    left, went = unserved[place, period], np.zeros(len(place))
    came = np.zeros(unserved.size)
    for k in range(near.index.shape[1]):
        target, metres = near.index[place, k], near.metres[place, k]
        open_share = exposure[target, period]
        flow = left * open_share * law.chance(metres)
        came += np.bincount(target * unserved.shape[1] + period, flow, len(came))
        went += flow
        left = left * np.where(np.isfinite(metres), 1 - open_share, 1.0)
    gone = np.zeros_like(unserved)
    gone[place, period] = went
    return came.reshape(unserved.shape), gone


def _to_each(
    near: NearbyPlaces, unserved: Floats, exposure: Floats, use: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
    """Yield what `_to_nearest` sends to each neighbour if everybody walks as far as it takes, nearest first.

    Numbers of the rows in `use` that it comes to, places that it comes from, and requests.
    """
    number = np.full(use.shape, -1)
    number[use] = np.arange(use.sum())
    place, period = np.nonzero(unserved)
    left = unserved[place, period]
    for k in range(near.index.shape[1]):
        target = near.index[place, k]
        row, open_share = number[target, period], exposure[target, period]
        some = (row >= 0) & (open_share > 0)
        yield row[some], place[some], (left * open_share)[some]
        left = left * np.where(np.isfinite(near.metres[place, k]), 1 - open_share, 1.0)


def _by_choice(law: Spill, near: NearbyPlaces, unserved: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Return the flows if people choose among all places within reach: weight × open share over the sum."""
    assert near.pairs is not None
    appeal = near.pairs.copy()
    appeal.data = np.exp(-appeal.data / law.walk)
    offered = appeal @ exposure
    leaving = law.share * unserved / (_GIVE_UP[law.law] + offered)
    return exposure * (appeal.T @ leaving), leaving * offered


def estimate_spill(
    y: Floats,
    mean: Floats,
    shape: Floats,
    unserved: Floats,
    exposure: Floats,
    near: NearbyPlaces,
    laws: tuple[LawName, ...] = ("nearest",),
    cell: NDArray[np.int64] | None = None,
) -> Spill:
    """Estimate the walk of each law by the likelihood of pickups next to empty places; none if none helps.

    Pickups of a row are negative binomial with mean λe plus what comes from neighbours. Fisher scoring finds
    the share for each walk; the walk is searched among `_WALKS` and then between them. Laws are weighted by
    their likelihood; the best comes first.

    Places run out at the same hours every day, so rates fitted without walkers have taken most of them for
    demand of their own. With `cell`, the kind of hour of each period, only differences between periods of one
    place and cell count: for each share the rate of a place and cell is that which explains the rest. This
    decides between laws. If the nearest place wins alone, all differences count again: its walkers are so
    concentrated that rates fitted in turn with them let them go.
    """
    if near.pairs is None or len(laws) == 1:
        laws, cell = ("nearest",), None
    far = Spill(1.0, _WALKS[-1])
    widest = sum(flows(replace(far, law=law), near, unserved, exposure)[0] for law in laws)
    use = (exposure > 0) & (mean > 0) & (widest > 1e-3)
    within = _Within.of(y, mean, use, cell)
    rows = _Rows(y[use], within.own, np.broadcast_to(shape, mean.shape)[use], np.nonzero(use)[1])

    index = np.flatnonzero(use)
    steps = list(_to_each(near, unserved, exposure, use))

    def came_by(law: LawName, walk: float) -> Floats:
        if law != "nearest":
            came, _ = flows(Spill(1.0, walk, law=law), near, unserved, exposure)
            return within.differ(came.reshape(-1)[index])
        found, chance = np.zeros(len(index)), Spill(1.0, walk).chance(near.metres)
        for k, (row, place, flow) in enumerate(steps):
            found += np.bincount(row, flow * chance[place, k], len(found))
        return within.differ(found)

    searches = [_Search.of(law, rows, came_by) for law in laws]
    # A law that could not get any weight need not be narrowed down.
    least = max(search.best[0] for search in searches) + _TEMPER * np.log(_LEAST_WEIGHT)
    found = [search.narrowed() if search.ceiling > least else search.best for search in searches]
    found.sort(key=lambda one: -one[0])
    top = found[0][0]
    # Noise alone makes a useless term look useful, so require a clear gain.
    if found[0][1].share == 0 or top <= rows.fit(np.zeros_like(rows.own)) + _CLEAR_GAIN:
        return NONE
    weights = np.array([np.exp((value - top) / _TEMPER) if law.share > 0 else 0.0 for value, law in found])
    weights /= weights.sum()
    kept = weights >= _LEAST_WEIGHT
    weights = weights * kept / weights[kept].sum()
    best, *others = (replace(law, weight=float(w)) for (_, law), w in zip(found, weights) if w > 0)
    if best.law == "nearest" and not others and cell is not None:
        return estimate_spill(y, mean, shape, unserved, exposure, near)
    return replace(best, others=tuple(others))


@dataclass(frozen=True)
class _Within:
    """Rows compared with others of their place and cell only.

    A share s of `came` leaves own · (Y + k − s · Σ came) / (O + k) for people who wanted this place, where Y
    and O are the sums of pickups and of expected own pickups in the place and cell.
    """

    own: Floats
    expected: Floats
    group: NDArray[np.int64] | None
    total: NDArray[Any]

    @classmethod
    def of(cls, y: Floats, mean: Floats, use: NDArray[np.bool_], cell: NDArray[np.int64] | None) -> _Within:
        if cell is None:
            return cls(mean[use], mean[use], None, np.zeros(0))
        cells = int(cell.max()) + 1
        group = np.arange(len(y))[:, None] * cells + cell
        open_rows = (mean > 0).reshape(-1)
        sums = [
            np.bincount(group.reshape(-1)[open_rows], part.reshape(-1)[open_rows], len(y) * cells) + _SHRINK
            for part in (y, mean)
        ]
        found = group[use]
        return cls(mean[use] * (sums[0] / sums[1])[found], mean[use], found, sums[1])

    def differ(self, came: Floats) -> Floats:
        """Return what each unit of share adds to the expected pickups of a row."""
        if self.group is None:
            return came
        sums = np.bincount(self.group, came, len(self.total)) / self.total
        return came - self.expected * sums[self.group]


@dataclass(frozen=True)
class _Search:
    """The walks of a law that were tried, by their logarithm, each with its log-likelihood and best share."""

    law: LawName
    rows: _Rows
    came_by: Callable[[LawName, float], Floats]
    tried: dict[float, tuple[float, Spill]]

    @classmethod
    def of(cls, law: LawName, rows: _Rows, came_by: Callable[[LawName, float], Floats]) -> _Search:
        """Try each of `_WALKS`."""
        search = cls(law, rows, came_by, {})
        for log_walk in _LOG_WALKS:
            search.value(log_walk)
        return search

    def value(self, log_walk: float) -> float:
        """Return the log-likelihood of a walk."""
        if log_walk not in self.tried:
            walk = float(np.exp(log_walk))
            came = self.came_by(self.law, walk)
            share = self.rows.best_share(came)
            self.tried[log_walk] = self.rows.fit(share * came), Spill(share, walk, law=self.law)
        return self.tried[log_walk][0]

    @property
    def best(self) -> tuple[float, Spill]:
        """The highest log-likelihood, and the law with the walk and share that reach it."""
        return max(self.tried.values(), key=lambda one: one[0])

    @property
    def around(self) -> tuple[float, float, float]:
        """The best of `_WALKS` between its neighbours."""
        at = int(np.argmax([self.value(one) for one in _LOG_WALKS]))
        last = len(_LOG_WALKS) - 1
        return _LOG_WALKS[max(at - 1, 0)], _LOG_WALKS[at], _LOG_WALKS[min(at + 1, last)]

    @property
    def ceiling(self) -> float:
        """The highest log-likelihood between `_WALKS`, if it is concave: on one side of the best it can rise
        no more steeply than it falls on the other.
        """
        low, middle, high = self.around
        if not low < middle < high:
            return np.inf
        top = self.value(middle)
        rise, fall = (top - self.value(low)) / (middle - low), (top - self.value(high)) / (high - middle)
        return top + max(rise * (high - middle), fall * (middle - low))

    def narrowed(self) -> tuple[float, Spill]:
        """Look further between the neighbours of the best walk, by golden section; with the error."""
        low, _, high = self.around
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        for _ in range(_NARROWER):
            if self.value(left) > self.value(right):
                high, right = right, left
                left = high - _GOLDEN * (high - low)
            else:
                low, left = left, right
                right = low + _GOLDEN * (high - low)
        top, found = self.best
        return top, replace(found, error=self.rows.error(found.share * self.came_by(self.law, found.walk)))


@dataclass(frozen=True)
class _Rows:
    """Rows next to places that ran out: pickups, expected own pickups, shape, period."""

    seen: Floats
    own: Floats
    shape: Floats
    period: NDArray[np.int64]

    def fit(self, came: Floats) -> float:
        """Return the log-likelihood if `came` pickups are expected from neighbours."""
        total = np.maximum(self.own + came, _LEAST_MEAN)
        return float(
            (self.seen * np.log(total) - (self.seen + self.shape) * np.log(self.shape + total)).sum()
        )

    def scores(self, came: Floats, step: Floats) -> Floats:
        """Return the derivative of each row's log-likelihood as `came` grows along `step`."""
        total = np.maximum(self.own + came, _LEAST_MEAN)
        return step * (self.seen - total) / (total * (1 + total / self.shape))

    def information(self, came: Floats, step: Floats) -> float:
        total = np.maximum(self.own + came, _LEAST_MEAN)
        return float((step * step / (total * (1 + total / self.shape))).sum())

    def best_share(self, came: Floats) -> float:
        """Return the share of `came` with the highest likelihood, from 0 to 1.

        Fisher scoring between a share that is too small and one that is too large: alone it would stall where
        a row's mean is nearly nothing. A row whose mean is held at the least says nothing about the share.
        """
        low, high, share = -1.0, 2.0, 0.5  # beyond the ends, so that these are tried too
        for _ in range(_SCORING_STEPS):
            total = share * came
            total += self.own
            held = total <= _LEAST_MEAN
            total[held] = _LEAST_MEAN
            weight = total / self.shape
            weight += 1
            weight *= total
            np.divide(came, weight, out=weight)
            weight[held] = 0.0
            np.subtract(self.seen, total, out=total)
            score = float(weight @ total)
            if score > 0:
                low = share
            else:
                high = share
            after = float(np.clip(share + score / max(float(weight @ came), 1e-12), 0.0, 1.0))
            if not low < after < high:
                after = float(np.clip((low + high) / 2, 0.0, 1.0))
            if abs(after - share) < 1e-4:
                return after
            share = after
        return share

    def error(self, came: Floats) -> float:
        """Return the standard error of log `came`, with errors clustered by day."""
        information = self.information(came, came)
        days = np.bincount(self.period // 24, self.scores(came, came))
        return float(np.sqrt((days * days).sum()) / information) if information > 0 else 0.0
