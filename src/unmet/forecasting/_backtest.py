"""Backtest: forecasts of the last weeks as they would have been made, refitted weekly, updated daily."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._around import AROUND, Around, Site, make_around
from unmet.forecasting._counts import count_quantiles, count_step
from unmet.forecasting._grid import Grid
from unmet.forecasting._inputs import Ahead, make_ahead
from unmet.forecasting._level_correction import corrected_level, raw_level
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._network import Network, fit_network
from unmet.forecasting._parametric import Parametric, fit_parametric
from unmet.forecasting._views import TrainingRows, View, make_view, training_rows
from unmet.runs import Keep, keep_nothing, keep_within

Floats = NDArray[np.float64]
_OF_A_WEEK = ("counts", "mean", "shape", "uniform", "below", "mass")


@dataclass(frozen=True)
class Backtest:
    """Out-of-sample forecasts of periods [first, first + n), as matrices (P, n).

    Attributes
    ----------
    counts, mean, shape, below, mass, uniform : of the negative binomial, as in `View`.
    common : (n,) part of 1/shape that all places share: the uncertainty of the city's level.
    curves : name of the network → quantile curves of normal scores, shape (P · n, 9).
    """

    first: int
    counts: Floats
    mean: Floats
    shape: Floats
    below: Floats
    mass: Floats
    uniform: Floats
    common: Floats
    curves: dict[str, Floats]

    def of_places(self, index: NDArray[np.int64]) -> Backtest:
        """Return the forecasts of some places."""
        places = len(self.mean)
        curves = {
            name: array.reshape(places, -1, array.shape[-1])[index].reshape(-1, array.shape[-1])
            for name, array in self.curves.items()
        }
        return replace(self, curves=curves, **{name: getattr(self, name)[index] for name in _OF_A_WEEK})

    def step(self, network: str | None, counts: Floats | None = None) -> tuple[Floats, Floats]:
        """Return F(y−1) and f(y) of a network, or for None of the negative binomial; rows by place.

        y are the observed counts, or others of the same shape.
        """
        below, mass = (self.below, self.mass) if counts is None else count_step(counts, self.mean, self.shape)
        below, top = below.reshape(-1), (below + mass).reshape(-1)
        if network is None:
            return below, top - below
        low = corrected_level(self.curves[network], below)
        return low, np.maximum(corrected_level(self.curves[network], np.minimum(top, 1.0)) - low, 0.0)

    def quantiles(self, levels: Floats, network: str | None) -> Floats:
        """Return quantiles of demand + U at levels (n, K) or (K,), rows by place."""
        wanted = np.broadcast_to(levels, (self.mean.size, np.shape(levels)[-1]))
        raw = wanted if network is None else raw_level(self.curves[network], wanted)
        return count_quantiles(raw, self.mean.reshape(-1), self.shape.reshape(-1))


def backtest(
    grid: Grid,
    near: NearbyPlaces | None,
    networks: Sequence[str],
    days: int,
    seed: int,
    *,
    use: str = "exposure",
    ahead: Ahead | None = None,
    site: Site | None = None,
    tick: Callable[[], object] = lambda: None,
    keep: Keep = keep_nothing,
) -> tuple[Backtest, Parametric]:
    """Forecast each of the last `days` days from data up to the day before; also return the last model.

    Rates are refitted every seven days on all earlier data. Shocks, lags and levels are updated every day,
    or with `ahead` every period. Networks are fitted once, on all data before the first day. `keep` may keep
    models and forecasts of weeks.
    """
    ahead = make_ahead("day", grid.per_day, grid.per_week) if ahead is None else ahead
    periods, week = len(grid.ds), 7 * grid.per_day
    first = periods - days * grid.per_day
    model: Parametric | None = None
    fitted: dict[str, Network] = {}
    parts: dict[str, list[Floats]] = {name: [] for name in (*_OF_A_WEEK, "common")}
    curves: dict[str, list[Floats]] = {name: [] for name in networks}
    for begin in range(first, periods, week):
        end = min(begin + week, periods)
        here = keep_within(keep, f"week {begin}")
        model = fit_parametric(grid.until(begin), near, start=model, tick=tick, keep=here)
        if not fitted and networks:
            rows = _OnFirstUse(partial(_training, model, grid.until(begin), near, seed, use, ahead))
            for name in networks:
                fitted[name] = keep(f"network {name}", partial(_network, name, rows, seed, site))
                tick()
            del rows
        given = (model, grid.until(end), near, fitted, begin, seed, ahead)
        forecast = here("forecast", partial(_forecast, *given))
        for name, part in forecast.items():
            (curves[name] if name in curves else parts[name]).append(part)
        del forecast
        tick()
    assert model is not None
    joined = {name: np.concatenate(pieces, axis=1) for name, pieces in curves.items()}
    return Backtest(
        first=first,
        curves={name: array.reshape(-1, array.shape[-1]) for name, array in joined.items()},
        **{name: np.concatenate(pieces, axis=-1) for name, pieces in parts.items()},
    ), model


class _OnFirstUse:
    """A value that is made when it is first asked for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    def __call__(self) -> Any:
        if self._made is None:
            self._made = self._make()
        return self._made


def _network(name: str, rows: _OnFirstUse, seed: int, site: Site | None) -> Network:
    view, found = rows()
    return network_of(name, view, found, seed, site)


def _training(
    model: Parametric, grid: Grid, near: NearbyPlaces | None, seed: int, use: str, ahead: Ahead
) -> tuple[View, TrainingRows]:
    view = make_view(model, grid, near, seed, ahead=ahead)
    return view, training_rows(view, seed, use)


def network_of(name: str, view: View, rows: TrainingRows, seed: int, site: Site | None) -> Network:
    """Fit a network to rows of a view, one that looks around with the surroundings of their places."""
    X, scores, where = rows
    if name not in AROUND:
        return fit_network(name, X, scores, seed, view.ahead)
    assert site is not None
    signal = view.signal()
    around = make_around(name, site, signal)
    columns = around.columns(X, signal, *where, view.ahead.lags)
    return fit_network(name, columns, scores, seed, view.ahead, around)


def _forecast(
    model: Parametric,
    grid: Grid,
    near: NearbyPlaces | None,
    networks: dict[str, Network],
    begin: int,
    seed: int,
    ahead: Ahead,
) -> dict[str, Floats]:
    """Return the forecasts of the periods of a grid from `begin` on, and the curves of each network."""
    end = len(grid.ds)
    view = make_view(model, grid, near, seed, begin, ahead)
    since = begin - max(ahead.lags)
    X = view.inputs(begin, end, view.scores(since, end), since) if networks else np.zeros((0, 0))
    curves = {}
    for name, network in networks.items():
        found = network.predict_quantiles(_with_around(network.around, X, view, begin, end))
        curves[name] = found.reshape(len(grid.places), end - begin, -1)
    level = view.past.city.variance[begin:end] / view.past.city.mean[begin:end] ** 2
    # Of each week its own periods are kept, and nothing before them.
    own = [getattr(view, name)[:, begin:end].copy() for name in ("counts", "mean", "shape", "uniform")]
    return dict(zip((*_OF_A_WEEK, "common"), (*own, *view.step(begin, end), level))) | curves


def _with_around(around: Around | None, X: Floats, view: View, first: int, last: int) -> Floats:
    """Return the columns of periods [first, last) for a network, rows by place."""
    if around is None:
        return X
    since = first - max(view.ahead.lags)
    period = np.arange(first, last) - since
    place = np.repeat(np.arange(len(view.mean)), len(period))
    signal = view.signal(since, last)
    return around.columns(X, signal, place, np.tile(period, len(view.mean)), view.ahead.lags)
