"""How much memory a fit says it takes, and what it does where that is too little."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import MemoryWarning, _fit, fit_demand
from unmet.forecasting._memory import fit_memory, side_by_side
from unmet.runs import Stages


def plan_of(places: int, days: int) -> SimpleNamespace:
    y = np.broadcast_to(0.0, (places, 24 * days))
    grid = SimpleNamespace(places=range(places), per_day=24, y=y)
    return SimpleNamespace(grid=grid, days=28, stages=("aware", "self_check", "unaware", "dropped"))


_SIZES = [(250, 90), (250, 365), (2200, 365)]


@pytest.mark.parametrize(
    ("places", "days", "measured"),  # GB of a process that fits one stage after the other
    [(60, 60, 0.525), (120, 180, 0.687), (250, 90, 0.766), (250, 365, 1.349), (2200, 365, 6.5)],
)
def test_it_is_what_was_measured(places, days, measured):
    assert fit_memory(plan_of(places, days)) / 1e9 == pytest.approx(measured, rel=0.15)


@pytest.mark.parametrize(
    ("jobs", "memory", "stages"),
    [(1, None, 1), (8, None, 4), (8, 800_000_000, 1), (8, 1_000_000_000, 2), (3, 9_000_000_000, 3)],
)
def test_stages_run_side_by_side_as_memory_allows(jobs, memory, stages):
    assert side_by_side(plan_of(250, 90), jobs, memory) == stages


@pytest.mark.filterwarnings("error")
def test_where_nobody_says_how_much_stages_share_a_gigabyte_beside_the_first():
    stages = {(places, days): side_by_side(plan_of(places, days), 8, None) for places, days in _SIZES}
    assert stages == {(250, 90): 4, (250, 365): 2, (2200, 365): 1}


def test_too_little_for_one_stage_is_told_with_rows_and_remedy():
    with pytest.warns(MemoryWarning) as told:
        assert side_by_side(plan_of(2200, 365), 8, 4_000_000_000) == 1
    assert str(told[0].message) == (
        "memory: 4.0 GB is too little for a fit of 19,272,000 rows (2,200 places × 8,760 periods), which "
        "takes about 7.4 GB. Its parts run one after the other, and the system may end it. Allow 9 GB, or "
        "fit fewer places or a shorter time"
    )
    with pytest.warns(MemoryWarning, match="Allow 1 GB$"):  # fewer places would not help
        side_by_side(plan_of(6, 20), 1, 100_000_000)


def test_it_is_told_and_logged_before_the_fit_begins(monkeypatch):
    noted = []
    monkeypatch.setattr(_fit, "costs_of", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    panel = make_toy(places=4, days=21).panel
    for memory, expected in ((100_000_000, [MemoryWarning]), (2_000_000_000, []), (None, [])):
        stages = Stages(log=lambda **fields: noted.append(fields))
        with warnings.catch_warnings(record=True, action="always") as told, pytest.raises(KeyboardInterrupt):
            fit_demand(panel, networks=["linear"], jobs=2, memory=memory, stages=stages)
        assert [one.category for one in told if one.category is MemoryWarning] == expected
        assert all(one.filename == __file__ for one in told if one.category is MemoryWarning)
    assert [one["side_by_side"] for one in noted] == [1, 2, 2]
    assert noted[0]["memory"] == pytest.approx(0.47, abs=0.01)
