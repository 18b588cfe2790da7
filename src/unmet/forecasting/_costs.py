"""What the turns of a fit cost, so that its bar can tell the time left."""

from __future__ import annotations

from collections.abc import Sequence

from unmet.forecasting._fit_plan import FitPlan, network_of_baselines
from unmet.forecasting._parametric import turns_of

# CPU seconds of one core of a small cloud machine: at once, and for each million rows. Only their ratios
# matter. Measured on simulated cities from 60 places × 60 days to 250 × 365; a metropolis of 2,200 × 365,
# which was not used, took 566 s and should take 571.
_START, _TURN, _SPILL, _LAST = (0.03, 0.8), (0.01, 0.5), (0.01, 1.3), (0.03, 1.7)
_ALONE_START, _ALONE_TURN, _ALONE_LAST = (0.03, 0.75), (0.01, 0.27), (0.03, 0.65)  # nobody walks
_AGAIN, _ALONE_AGAIN = ((0.01, 0.4), (0.03, 1.65)), ((0.01, 0.26), _ALONE_LAST)
_FORECAST, _ALONE_FORECAST = (0.01, 0.5), (0.01, 0.28)
_DRAWS_OF_CHECK, _DRAWS, _VIEW = (0.03, 2.2), (0.05, 5.3), (0.05, 0.4)
_CALIBRATION, _DAYS = (0.02, 5.3), (0.04, 1.9)  # for each million rows of the backtest
_NETWORKS = {"linear": 0.3, "mlp": 0.3, "lstm": 2.5, "graph": 3.5, "grid": 4.0}  # on a sample of the rows
_FIRST_NETWORK = (1.05, 0.4)  # until JAX is loaded, and the rows are laid out
_AGAIN_NETWORK = 0.2  # of it, for a baseline: its program is compiled by then


def costs_of(plan: FitPlan, jobs: int = 1, jobs_of_check: int = 1) -> dict[str, list[float]]:
    """Return for each stage of a fit the cost of each turn, and of what comes after the last."""
    places, week = len(plan.grid.places), 7 * plan.grid.per_day
    test = places * plan.days * plan.grid.per_day
    rows, near = plan.grid.y.size, plan.near is not None
    first = len(plan.tested.ds) - plan.days * plan.grid.per_day

    def backtest(places: int, near: bool, networks: Sequence[float]) -> list[float]:
        found = [*_fit(places * first, near), *networks]
        for begin in range(first, len(plan.tested.ds), week):
            if begin > first:
                found += _fit(places * begin, near, again=True)
            found.append(_cost(_FORECAST if near else _ALONE_FORECAST, places * begin))
        return [*found, 0.0]

    networks = [_NETWORKS[name] for name in plan.networks]
    networks[0] += _cost(_FIRST_NETWORK, places * first)
    judged = len(plan.judged[0].places)
    baseline = backtest(judged, False, [_AGAIN_NETWORK * _NETWORKS[network_of_baselines(plan.networks)]])
    check = [*_fit(rows, False), _cost(_DRAWS_OF_CHECK, rows) / jobs_of_check]
    found = {"aware": backtest(places, near, networks), "self_check": check}
    found |= {"unaware": baseline, "dropped": baseline}
    return {name: found[name] for name in plan.stages} | {
        "levels": [_cost(_CALIBRATION, test)],
        "rates": [*_fit(rows, near, again=True), 0.0],
        "lost": [_cost(_VIEW, rows), _cost(_DRAWS, rows) / jobs, _cost(_DAYS, test)],
    }


def _fit(rows: int, near: bool, *, again: bool = False) -> list[float]:
    """Return the costs of the turns of `fit_parametric`."""
    turns = turns_of(near, again=again)
    if again:
        parts = [*(_AGAIN if near else _ALONE_AGAIN)]
    elif near:
        parts = [_START, _TURN, *[_SPILL] * (turns - 3), _LAST]
    else:
        parts = [_ALONE_START, *[_ALONE_TURN] * (turns - 2), _ALONE_LAST]
    return [_cost(part, rows) for part in parts]


def _cost(part: tuple[float, float], rows: int) -> float:
    return part[0] + part[1] * rows / 1e6
