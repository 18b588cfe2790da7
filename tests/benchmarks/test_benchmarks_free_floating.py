"""Bands of presence and their slope, by hand."""

import numpy as np
import pytest
from benchmarks.free_floating import Band, by_presence, slope, without

from unmet.forecasting._grid import Grid, make_grid
from unmet.mobility import Panel


def two_cells(days: int = 21) -> Grid:
    """A vehicle stands in cell a for a quarter of each hour, in cell b all the time; y is 1 and 2."""
    hours = np.datetime64("2024-04-01", "us") + np.arange(24 * days) * np.timedelta64(1, "h")
    ones = np.ones(len(hours))
    columns = {
        "unique_id": np.repeat(np.array(["a", "b"], object), len(hours)),
        "ds": np.tile(hours, 2),
        "y": np.r_[ones, 2 * ones],
        "censored": np.repeat([True, False], len(hours)),
        "exposure": np.r_[ones / 4, ones],
    }
    return make_grid(Panel(columns, {"zone": "UTC", "by": "hour"}))


def test_the_slope_by_hand():
    # Rates 1, 2 and 4 where 1, 2 and 3 were predicted; the last band counts twice.
    bands = [Band(0, 0.1, 10, 10, 10), Band(0.1, 0.2, 10, 20, 20), Band(0.2, 0.35, 20, 80, 60)]
    x, y, w = np.array([1, 2, 3.0]), np.array([1, 2, 4.0]), np.array([1, 1, 2.0])
    assert slope(bands) == pytest.approx(np.polyfit(x, y, 1, w=np.sqrt(w))[0])


def test_cells_are_sorted_by_presence_in_the_rows_that_are_held_out():
    grid = two_cells()
    rows = np.zeros(grid.y.shape, bool)
    rows[:, -48:] = True
    rare, always = by_presence(grid, np.full(grid.y.shape, 3.0), rows)
    assert (rare.low, rare.hours, rare.seen, rare.predicted) == (0.2, 12, 48, 36)
    assert (always.high, always.hours, always.seen, always.predicted) == (1.0, 48, 96, 144)


def test_nothing_of_the_held_out_rows_is_fitted():
    grid = two_cells()
    rows = np.zeros(grid.y.shape, bool)
    rows[:, -48:] = True
    kept = without(grid, rows)
    for name in ("known", "y", "exposure", "low", "high", "censored"):
        assert not getattr(kept, name)[:, -48:].any()
        assert (getattr(kept, name)[:, :-48] == getattr(grid, name)[:, :-48]).all()
