"""The negative-binomial model of demand: rates, shocks and spill, fitted together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unmet.forecasting._city_level import STEADY, CityDays, day_of, estimate_city, follow_city
from unmet.forecasting._grid import Grid
from unmet.forecasting._nearby import NearbyPlaces
from unmet.forecasting._rates import RateModel, fit_rates, start_rates
from unmet.forecasting._shocks import Followed, Shocks, estimate_shocks, follow, smooth
from unmet.forecasting._spill import LAWS, NONE, Spill, estimate_spill, flows
from unmet.forecasting._terms import TimeTerms, make_terms
from unmet.runs import Keep, keep_nothing

Floats = NDArray[np.float64]
_RANK = 4
# Rates, shocks and spill compete at first; spill takes more rounds to find.
_TURNS, _TURNS_WITH_SPILL, _TURNS_AGAIN = 4, 7, 2
_MOST_ROWS, _LEAST_DAYS = 1 << 21, 28  # that decide how people walk


@dataclass(frozen=True)
class Parametric:
    """A fitted negative-binomial model of demand with persistent shocks and spill."""

    rates: RateModel
    shocks: Shocks
    city: Shocks
    spill: Spill
    terms: TimeTerms


@dataclass(frozen=True)
class Past:
    """A model's estimate of past periods; shape (P, T).

    Attributes
    ----------
    rate : λ, expected demand given calendar, weather and place, times the city's level of the day.
    foreseen : λ times the level forecast at the day's origin; `city` holds the levels.
    own : people who wanted this place and came while it had a vehicle: the expected share of y, and people of
        their groups who had none left. The other pickups are of people who came from a neighbour.
    came : expected pickups by people who came from an empty neighbour.
    followed : shocks as known before and after each period.
    shape, inverse_scale : the gamma distribution of the shock given all periods.
    unserved, went : expected requests that found no vehicle here, and how many of them a neighbour served.
    """

    rate: Floats
    foreseen: Floats
    city: CityDays
    own: Floats
    came: Floats
    followed: Followed
    shape: Floats
    inverse_scale: Floats
    unserved: Floats
    went: Floats


def turns_of(spill: bool, *, again: bool = False) -> int:
    """Return the turns that `fit_parametric` takes, with people who walk or without."""
    return _TURNS_AGAIN if again else _TURNS_WITH_SPILL if spill else _TURNS


def fit_parametric(
    grid: Grid,
    near: NearbyPlaces | None = None,
    *,
    start: Parametric | None = None,
    tick: Callable[[], object] = lambda: None,
    keep: Keep = keep_nothing,
) -> Parametric:
    """Fit rates, then in turns the shocks, the spill, and the rates given both; `tick` is called each turn.

    `keep` may keep the model of each turn.

    Rates are fitted with the shock forecast from earlier counts. This matters if shocks persist: places run
    out when shocks are high, so exposure and shock are not independent.
    """
    calendar = grid.calendar
    terms = make_terms(calendar, grid.covariates)
    columns = terms.matrix(calendar, grid.covariates)
    if start is None or start.rates.slope.shape != (columns.shape[1],):
        rates = keep("start", partial(_start, grid, columns))
        model, turns = Parametric(rates, Shocks(0.25, 0.0), STEADY, NONE, terms), turns_of(near is not None)
    else:
        model, turns = replace(start, terms=terms), turns_of(near is not None, again=True)
    for turn in range(turns):
        model = keep(f"turn {turn}", partial(_turn, model, grid, near, turn, turns))
        tick()
    return model


def _start(grid: Grid, columns: Floats) -> RateModel:
    """Fit rates alone."""
    calendar = grid.calendar
    rates = start_rates(grid.y, grid.exposure, calendar.cells, calendar.weeks, columns.shape[1], _RANK)
    return fit_rates(rates, grid.y, grid.exposure, 4.0, calendar, columns, rounds=12)


def _turn(model: Parametric, grid: Grid, near: NearbyPlaces | None, turn: int, turns: int) -> Parametric:
    """Fit the shocks, the spill and the rates once, each given the others."""
    calendar, terms = grid.calendar, model.terms
    columns = terms.matrix(calendar, grid.covariates)
    some = _some_periods(grid)
    # Units of time terms depend on the data, so first refit the rates of an earlier model.
    rates_only = turns == _TURNS_AGAIN and turn == 0
    past = look_back(model, grid, near)
    own, came, unserved, followed = past.own, past.came, past.unserved, past.followed
    expected = past.rate * grid.exposure
    del past  # of a large city only what is needed is kept
    shocks = model.shocks
    if turn in (0, turns - 1) and not rates_only:
        # Once the level of the city is known, shocks of places may last much shorter: search anew.
        fresh = turns > _TURNS_AGAIN
        shocks = estimate_shocks(
            _whole(model, grid, own),
            expected,
            grid.known,
            grid.known & ~grid.censored,
            None if fresh else shocks,
        )
    arrived = grid.y + split_groups(shocks, grid)
    spill = model.spill
    if near is not None and not rates_only:
        before, spread = followed.mean[:, some], followed.variance[:, some]
        mean = expected[:, some] * before
        # Laws differ little while rates are rough, so all of them compete late.
        laws = LAWS if turn >= 2 or turns == _TURNS_AGAIN else ("nearest",)
        spill = estimate_spill(
            arrived[:, some],
            mean,
            shocks.shape(mean, before, spread),
            unserved[:, some],
            grid.exposure[:, some],
            near,
            laws,
            calendar.cell[some],
        )
        del before, spread, mean, came
        came, _ = flows(spill, near, unserved, grid.exposure)
    del unserved, followed
    found = follow(shocks, own, expected)
    shape = shocks.shape(expected * found.mean, found.mean, found.variance)
    seen = grid.exposure * found.mean
    del found, expected
    came_or_none = came if near is not None else None
    rates = fit_rates(model.rates, arrived, seen, shape, calendar, columns, spill=came_or_none, rounds=5)
    del arrived, shape, seen, came, came_or_none
    model = Parametric(rates, shocks, model.city, spill, terms)
    if turn >= turns - 2:
        day = day_of(len(grid.ds), len(grid.ds), grid.per_day)
        expected = rates.rate(calendar, columns) * grid.exposure
        model = replace(model, city=estimate_city(own, expected, day))
        del expected
    del own
    return model


def _some_periods(grid: Grid) -> slice | NDArray[np.int64]:
    """Return the periods that decide how people walk: all, or of a large grid days evenly spread over it.

    A share and a distance for the whole city need no more than `_MOST_ROWS` rows.
    """
    places, periods = grid.y.shape
    days = periods // 24
    wanted = max(_LEAST_DAYS, _MOST_ROWS // (24 * places))
    if wanted >= days or grid.y.size <= _MOST_ROWS:
        return slice(None)
    chosen = np.linspace(0, days - 1, wanted).round().astype(np.int64)
    return np.asarray((chosen[:, None] * 24 + np.arange(24)).reshape(-1), np.int64)


def _whole(model: Parametric, grid: Grid, own: Floats) -> Floats:
    """Return `own` with pickups as whole counts; expected shares vary too little."""
    rng, drawn = np.random.default_rng(0), split_groups(model.shocks, grid)
    for row, (counts, wanted) in enumerate(zip(grid.y, own)):
        share = np.clip((wanted - drawn[row]) / np.maximum(counts, 1), 0, 1)
        drawn[row] += rng.binomial(counts.astype(np.int64), np.where(counts > 0, share, 1.0))
    return drawn


def look_back(
    model: Parametric,
    grid: Grid,
    near: NearbyPlaces | None = None,
    origin: int | None = None,
    *,
    each_period: bool = False,
) -> Past:
    """Estimate rates, shocks and flows of a grid, which may be longer than the one of the fit.

    Days start at `origin` (by default the end of the grid) and whole days before and after it. With
    `each_period` the level of the city is the one foreseen at the start of the day: forecasts within the day
    must not know how it ends.
    """
    calendar = grid.calendar
    plain = model.rates.rate(calendar, model.terms.matrix(calendar, grid.covariates))
    day = day_of(len(grid.ds), len(grid.ds) if origin is None else origin, grid.per_day)
    walks = near is not None and model.spill.share > 0
    everybody = plain * grid.exposure
    if near is not None and walks:
        everybody += flows(model.spill, near, (plain - everybody) * grid.known, grid.exposure)[0]
    split = split_groups(model.shocks, grid)
    own = grid.y + split
    city = follow_city(model.city, own, everybody, day)
    del everybody
    rate = plain * (city.mean if each_period else city.after)
    plain *= city.mean
    expected = rate * grid.exposure
    missed = rate * grid.missing
    followed = follow(model.shocks, own, expected)
    if near is not None and walks:
        # Split pickups by what was known then, so that forecasts use no later hour.
        came, _ = flows(model.spill, near, missed * followed.mean_after, grid.exposure)
        level = expected * followed.mean_after
        del followed
        own = grid.y * np.where(came > 0, level / np.maximum(level + came, 1e-12), 1.0) + split
        del level, came
        followed = follow(model.shocks, own, expected)
    shape, inverse = smooth(model.shocks, own, expected)
    del expected
    missed *= shape
    missed /= inverse
    missed += split
    del split
    if near is not None and walks:
        came, went = flows(model.spill, near, missed, grid.exposure)
    else:
        came, went = np.zeros_like(rate), np.zeros_like(rate)
    return Past(rate, plain, city, own, came, followed, shape, inverse, missed, went)


def split_groups(shocks: Shocks, grid: Grid) -> Floats:
    """Return the expected people of groups that took the last vehicle and had none left for them, (P, T).

    They came while there was a vehicle, so the rate explains them as it explains pickups. A group that
    crosses a level overshoots it by (E[S²]/E[S] − 1) / 2 on average, and E[S²]/E[S] is `groups`. The place
    ran out once, and again for each vehicle that came back and found it empty: of the other y − 1 about half
    came back in the period, and a share 1 − exposure of these found it empty. Where it was counted how often
    the place ran out, that number is taken. Counts vary for other reasons too, so groups are no larger than
    those that set out together.
    """
    lacking = (min(shocks.groups, shocks.groups if grid.groups is None else grid.groups) - 1) / 2
    if grid.ran_out is not None:
        return grid.ran_out * lacking
    ran_out = grid.censored & (grid.y > 0) & (grid.exposure > 0) & (grid.exposure < 1)
    times = 1 + (grid.y - 1) * (1 - grid.exposure) / 2
    return np.where(ran_out, times * lacking, 0.0)


def look_ahead(model: Parametric, past: Past, first: int, last: int, every: int) -> tuple[Floats, Floats]:
    """Return mean and shape of demand in periods [first, last), forecast every `every` periods.

    The forecast of a period uses the counts before its origin `first + k · every` and none after.
    """
    periods = np.arange(first, last)
    origin = first + (periods - first) // every * every
    steps = periods - origin + 1
    begun = origin > 0
    before = np.maximum(origin - 1, 0)
    mean = np.where(begun, past.followed.mean_after[:, before], 1.0)
    variance = np.where(begun, past.followed.variance_after[:, before], model.shocks.variance)
    mean, variance = model.shocks.ahead(mean, variance, steps)
    common = past.city.variance[first:last] / past.city.mean[first:last] ** 2
    count = past.foreseen[:, first:last] * mean
    return count, 1 / (1 / model.shocks.shape(count, mean, variance) + common)
