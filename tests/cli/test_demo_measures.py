"""The city of the demo against its truth: coverage, lost rides, losses, targets, each inside its limits."""

from typing import Any

import pytest
from demo_measures import measure_demo


def between(values: Any, low: float, high: float) -> bool:
    found = values if isinstance(values, list) else [values]
    return all(low <= value <= high for value in found)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("shocks", "spill"), [("independent", True), ("persistent", True), ("independent", False)]
)
def test_the_city_of_the_demo(tmp_path, shocks, spill):
    found = measure_demo(tmp_path, seed=1, shocks=shocks, spill=spill, rivals=spill, play=spill)
    assert between(found["short"], 10, 20)
    assert between(found["coverage"], 88, 92)
    assert between([found["lower_tail"], found["upper_tail"]], 3.5, 6.5)
    assert between(found["weeks"], 85, 95)
    assert between(found["bands"], 86, 96)
    assert between(found["censored_rows"], 86, 94)
    assert between(found["days"], 86, 94)
    room = 0.1 if shocks == "independent" else 0.2
    assert found["unserved"][0] == pytest.approx(1, abs=room)
    assert found["lost"][0] == pytest.approx(1, abs=room)
    if spill:  # who was served next door is told apart from who was lost
        assert found["next_door"][0] == pytest.approx(1, abs=room)
        assert found["excess_unaware"] <= 0.4
        assert found["excess_dropped"] <= 0.4
        assert found["starved"] <= -5
        assert found["gap_closed"] >= 60
    else:
        assert found["next_door_true"] == 0
        assert found["next_door"][0] < 0.02 * found["lost_true"]
