"""The self-check: hidden rides are estimated, intervals that miss get an error of their own."""

from dataclasses import replace

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting import SelfCheck
from unmet.forecasting._grid import make_grid
from unmet.forecasting._parametric import split_groups
from unmet.forecasting._self_check import check_itself, conformal_error, lowered_grid
from unmet.forecasting._shocks import Shocks

KNOWN = SelfCheck(
    reserve=2,
    places=np.array(["A", "B", "C"], object),
    hidden=np.array([100.0, 40.0, 2.0]),
    estimate=np.array([110.0, 80.0, 1.0]),
    low=np.array([90.0, 70.0, 0.0]),
    high=np.array([130.0, 90.0, 1.0]),
    total=(191.0, 181.0, 201.0),
)


def test_ratio_coverage_and_factors_by_hand():
    assert KNOWN.ratio == pytest.approx(191 / 142)
    assert KNOWN.coverage_drawn == 0.5  # the third place hides too few rides to judge by
    assert KNOWN.error_total == pytest.approx(np.sqrt(49**2 - 10**2) / 191)
    assert KNOWN.error_places == pytest.approx(np.sqrt(40**2 - 10**2) / 80)
    assert replace(KNOWN, hidden=KNOWN.estimate).error_places == 0.0
    assert set(KNOWN.as_dict()["places"]) == {"A", "B", "C"}


def test_intervals_as_shown_carry_what_the_other_places_lack():
    error = np.sqrt(40**2 - 10**2) / 80  # of B, which misses; A holds
    low, high = KNOWN.shown
    assert high[0] == pytest.approx(110 + np.hypot(20, error * 110))
    assert (low[1], high[1]) == (70, 90)
    assert KNOWN.coverage == 0.5
    assert KNOWN.as_dict()["places"]["A"]["estimate"]["q95"] == high[0]


def test_the_error_of_one_more_place_holds_nine_times_in_ten():
    rng = np.random.default_rng(4)
    held = [conformal_error(drawn[1:]) >= drawn[0] for drawn in rng.lognormal(size=(4000, 50))]
    assert np.mean(held) == pytest.approx(0.9, abs=0.02)
    assert conformal_error(np.arange(19.0)) == 17  # the eighteenth of nineteen
    assert (conformal_error(np.arange(5.0)), conformal_error(np.zeros(0))) == (4, 0)


def lowered(grid, factor: float):
    """A third of the open time is tight, and `factor` times its share of the rides is hidden."""
    rng = np.random.default_rng(5)
    hidden = rng.binomial(grid.y.astype(int), min(1.0, factor / 3))
    return {
        "y": (grid.y - rng.binomial(grid.y.astype(int), 1 / 3)).reshape(-1),
        "hidden": hidden.reshape(-1),
        "exposure": (2 / 3 * grid.exposure).reshape(-1),
        "tight": (1 / 3 * grid.exposure).reshape(-1),
    }


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_hidden_rides_are_found_and_more_of_them_than_expected_show(factor: float):
    grid = make_grid(make_toy(places=6, days=21).panel)
    found = check_itself(grid, lowered(grid, factor), 2, 0)
    assert found.ratio == pytest.approx(1 / factor, rel=0.1)
    if factor > 1:
        assert found.error_total == pytest.approx(1.0, abs=0.3)  # twice as many as estimated


def test_people_cut_off_from_their_group_are_counted_where_it_ran_out():
    grid = make_grid(make_toy(places=6, days=21).panel)
    times = np.random.default_rng(3).integers(0, 3, grid.y.shape).astype(float)
    city, _ = lowered_grid(grid, {**lowered(grid, 1.0), "ran_out": times.reshape(-1)})
    # A group that takes the last vehicle lacks (E[S²]/E[S] − 1) / 2 of them on average.
    np.testing.assert_allclose(split_groups(Shocks(0.1, 0.0, groups=1.5), city), times * grid.known / 4)
    seen = replace(city, groups=1.2)  # pickups within a minute tell of smaller groups
    np.testing.assert_allclose(split_groups(Shocks(0.1, 0.0, groups=1.5), seen), times * grid.known / 10)
    assert (city.until(48).ran_out == city.ran_out[:, :48]).all()
    estimated, _ = lowered_grid(grid, lowered(grid, 1.0))
    assert estimated.ran_out is None


def test_a_lowered_panel_of_other_rows_is_refused():
    grid = make_grid(make_toy(places=6, days=21).panel)
    with pytest.raises(ValueError, match="lowered has 3 rows"):
        lowered_grid(grid, {"y": np.zeros(3)})
