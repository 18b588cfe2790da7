"""The bar of a fit: how much is done and what is named, from costs that were measured once; no clock."""

from types import SimpleNamespace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import _fit, fit_demand
from unmet.forecasting._costs import costs_of
from unmet.forecasting._turns import Turns

ALONE = ("levels", "rates", "lost")
# CPU seconds of the turns of a fit with networks linear and mlp, `make_city("city", demand=2.4, seed=1)`, one
# stage after the other on one core of a small cloud machine.
MEASURED = {
    (60, 60): {
        "aware": ".09 .03 .06 .06 .06 .06 .11 1.35 .30 .07 .03 .11 .04 .03 .13 .04 .04 .14 .05 .00",
        "self_check": ".15 .03 .03 .11 .20",
        "unaware": ".08 .02 .02 .07 .05 .03 .02 .07 .03 .03 .08 .03 .03 .10 .04 .00",
        "dropped": ".07 .02 .02 .06 .05 .03 .02 .06 .03 .03 .07 .03 .03 .08 .03 .00",
        "levels": ".21",
        "rates": ".05 .16 .00",
        "lost": ".08 .51 .07",
    },
    (250, 90): {
        "aware": ".27 .22 .43 .43 .45 .46 .53 1.72 .31 .21 .14 .57 .21 .15 .63 .17 .16 .71 .21 .00",
        "self_check": ".35 .23 .12 .27 1.24",
        "unaware": ".25 .08 .08 .18 .09 .11 .09 .20 .11 .10 .20 .13 .10 .22 .17 .00",
        "dropped": ".20 .08 .07 .16 .09 .11 .09 .16 .13 .09 .18 .13 .10 .19 .18 .00",
        "levels": ".96",
        "rates": ".16 .78 .00",
        "lost": ".23 3.14 .35",
    },
}


class Bar:
    """Counts what a bar is told."""

    def __init__(self) -> None:
        self.done = self.before = 0
        self.label = ""

    def advance(self, number: int = 1) -> None:
        assert number >= 0
        self.done += number

    def resume(self, number: int = 1) -> None:
        self.before += number
        self.advance(number)

    def describe(self, label: str) -> None:
        self.label = label


def turns_on_bar(costs, at_once: int = 1) -> tuple[Turns, Bar]:
    turns = Turns(costs, [name for name in ALONE if name in costs], at_once)
    turns.bar = Bar()
    return turns, turns.bar


def plan_of(places: int, days: int) -> SimpleNamespace:
    periods = range(days * 24)
    grid = SimpleNamespace(
        places=range(places), per_day=24, y=np.zeros((places, len(periods))), ds=periods, end=len(periods)
    )
    return SimpleNamespace(
        grid=grid,
        tested=grid,
        near=SimpleNamespace(),
        days=28,
        networks=("linear", "mlp"),
        judged=(SimpleNamespace(places=range(min(places, 256))), None),
        stages=("aware", "self_check", "unaware", "dropped"),
    )


def play(turns: Turns, bar: Bar, costs: dict[str, list[float]], at_once: int) -> list[tuple[float, int]]:
    """Let stages take their costs, `at_once` side by side; return the time and what was done at each turn."""
    now, seen = 0.0, []
    waiting = [(name,) for name in costs if name not in ALONE]
    for names, most in ((waiting, at_once), ([(name,) for name in ALONE], 1)):
        todo, running = [name for (name,) in names], []
        while todo or running:
            while todo and len(running) < most:
                name = todo.pop(0)
                turns.begin(name)
                running.append([now + costs[name][0], name, 0])
            running.sort()
            now, name, turn = running[0]
            if turn + 1 < len(costs[name]):
                turns.of(name)()
                running[0] = [now + costs[name][turn + 1], name, turn + 1]
            else:
                with turns.stage(name):
                    running.pop(0)
            seen.append((now, bar.done))
    return seen


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize("size", MEASURED)
def test_the_time_left_is_right_within_a_half_from_a_tenth_on(size, at_once):
    expected = costs_of(plan_of(*size), at_once)
    costs = {name: [float(one) for one in words.split()] for name, words in MEASURED[size].items()}
    assert {name: len(cost) for name, cost in costs.items()} == {
        name: len(cost) for name, cost in expected.items()
    }
    costs["lost"][1] /= at_once  # drawn by so many threads
    turns, bar = turns_on_bar(expected, at_once)
    seen = play(turns, bar, costs, at_once)
    whole = seen[-1][0]
    assert bar.done == 100
    at, last, judged = 0.0, 0, 0
    for now, done in seen:
        if done > last:
            at, last = now, done
        if 0.1 * whole <= now <= 0.97 * whole:  # as `Progress` tells it
            told = (100 - done) * at / done - (now - at)
            assert 1 / 1.5 < told / (whole - now) < 1.5, (now, done)
            judged += 1
    assert judged > 40


def test_side_by_side_the_longest_decides_how_much_is_done():
    turns, bar = turns_on_bar({"aware": [30.0, 30.0], "self_check": [20.0], "rates": [40.0]}, at_once=2)
    assert turns.left() == 60 + 40
    turns.begin("aware", "self_check")
    with turns.stage("self_check"):
        pass
    assert bar.done == 0  # the backtest takes as long as before
    turns.of("aware")()
    assert bar.done == 30
    with turns.stage("aware"):
        pass
    assert bar.done == 60
    turns.of("rates")()
    turns.of("rates")()  # one turn more than was expected
    with turns.stage("rates"):
        pass
    assert bar.done == 100


def test_the_label_names_what_ends_last_and_how_many_run():
    turns, bar = turns_on_bar({"aware": [50.0, 5.0], "self_check": [10.0], "unaware": [9.0]}, at_once=2)
    turns.begin("aware")
    assert bar.label == "Demand: backtest"
    with turns.stage("self_check"):
        assert bar.label == "Demand: backtest and 1 more"
    turns.of("aware")()
    with turns.stage("unaware"):
        assert bar.label == "Demand: baseline that ignores stock-outs and 1 more"
    assert bar.label == "Demand: backtest"


def test_stages_of_an_earlier_fit_say_nothing_about_speed():
    turns, bar = turns_on_bar({"aware": [60.0], "rates": [40.0]})
    make = turns.making("aware", lambda: 1)
    with turns.stage("aware"):
        pass  # it was kept: `make` is not called
    assert (bar.done, bar.before) == (60, 60)
    make = turns.making("rates", lambda: 2)
    with turns.stage("rates"):
        assert make() == 2
    assert (bar.done, bar.before) == (100, 60)


def test_a_fit_takes_the_turns_that_are_expected(monkeypatch):
    toy, found = make_toy(places=5, days=49), {}

    class Counting(Turns):
        def __init__(self, costs, alone, at_once):
            found["expected"] = {name: len(cost) - 1 for name, cost in costs.items()}
            found["turns"] = self._turns_taken = dict.fromkeys(costs, 0)
            super().__init__(costs, alone, at_once)

        def of(self, stage):
            tick = super().of(stage)

            def counted():
                self._turns_taken[stage] += 1
                tick()

            return counted

    monkeypatch.setattr(_fit, "Turns", Counting)
    ids = np.unique(toy.panel["unique_id"])
    where = {"unique_id": ids, "lat": 40 + 1e-3 * np.arange(5), "lng": np.full(5, -74.0)}
    fit_demand(toy.panel, stations=where, networks=["linear"], backtest_days=14)
    assert found["turns"] == found["expected"]
    assert set(found["turns"]) == {"aware", "unaware", "dropped", *ALONE}
