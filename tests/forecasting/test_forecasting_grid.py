"""Panels that cannot be used are refused with a remedy; the others become matrices."""

import numpy as np
import pytest
from forecasting_toys import make_toy

from unmet.forecasting._grid import make_grid
from unmet.mobility import Panel


def changed(panel: Panel, **columns: np.ndarray | None) -> Panel:
    found = {**panel.columns, **columns}
    return Panel({name: values for name, values in found.items() if values is not None}, panel.about)


def test_rows_in_any_order_become_the_same_matrices() -> None:
    toy = make_toy(places=3, days=15)
    order = np.random.default_rng(0).permutation(len(toy.panel))
    mixed = Panel({name: values[order] for name, values in toy.panel.columns.items()}, toy.panel.about)
    one, two = make_grid(toy.panel), make_grid(mixed)
    assert one.y.shape == (3, 15 * 24)
    assert (one.y == two.y).all()
    assert (one.threshold == two.threshold).all()
    assert (one.covariates["warmth"] == two.covariates["warmth"]).all()
    assert (one.y[1] == toy.panel["y"][360:720]).all()


@pytest.mark.parametrize("name", ["unique_id", "ds", "y", "censored", "exposure"])
def test_a_missing_column_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"no column {name}.*unmet panel"):
        make_grid(changed(make_toy(places=2, days=15).panel, **{name: None}))


def test_less_than_two_weeks() -> None:
    with pytest.raises(ValueError, match=r"13\.0 days.*at least 14: add more data"):
        make_grid(make_toy(places=2, days=13).panel)


def test_a_place_never_available() -> None:
    panel = make_toy(places=3, days=15).panel
    exposure = panel["exposure"].copy()
    exposure[:360] = 0.0
    with pytest.raises(ValueError, match=r"never had any supply \(such as p00\).*never_available='keep'"):
        make_grid(changed(panel, exposure=exposure))
    kept = make_grid(changed(panel, exposure=exposure), never_available="keep")
    assert kept.exposure[0].sum() == 0
    assert panel["y"][:360].sum() > 0  # pickups without a vehicle: the feed was wrong
    assert kept.y[0].sum() == 0
    with pytest.raises(ValueError, match="no place ever had any supply"):
        make_grid(changed(panel, exposure=exposure * 0), never_available="keep")


def test_a_missing_row() -> None:
    panel = make_toy(places=2, days=15).panel
    short = Panel({name: values[:-1] for name, values in panel.columns.items()}, panel.about)
    with pytest.raises(ValueError, match="one row for each place and period"):
        make_grid(short)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"by": "hour"}, "has no time zone"),
        ({"zone": "Mars/City", "by": "hour"}, "unknown time zone, 'Mars/City'"),
        ({"zone": "UTC", "by": "month"}, "by='month' is not a step"),
    ],
)
def test_what_the_file_says_of_itself(about: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_grid(Panel(make_toy(places=2, days=15).panel.columns, about))


def test_counts_must_be_whole() -> None:
    panel = make_toy(places=2, days=15).panel
    with pytest.raises(ValueError, match="column y must hold whole numbers"):
        make_grid(changed(panel, y=panel["y"] + 0.5))


def test_counts_must_be_finite() -> None:
    panel = make_toy(places=2, days=15).panel
    counts = panel["y"].astype(float)
    counts[7] = np.inf
    with pytest.raises(ValueError, match="column y must hold whole numbers"):
        make_grid(changed(panel, y=counts))


@pytest.mark.parametrize("share", [-0.5, 7.0, np.inf])
def test_exposure_is_a_share(share: float) -> None:
    panel = make_toy(places=2, days=15).panel
    exposure = panel["exposure"].astype(float)
    exposure[7] = share
    with pytest.raises(ValueError, match="column exposure must hold shares from 0 to 1"):
        make_grid(changed(panel, exposure=exposure))


def test_pickups_that_took_no_time_get_a_minute_where_they_matter() -> None:
    panel = make_toy(places=2, days=15).panel
    counts, exposure = panel["y"].astype(float), panel["exposure"].astype(float)
    counts[:], exposure[:] = 1.0, 1.0
    exposure[:10] = 0.0  # 10 of 360 pickups at the first place,
    counts[9] = 3.0
    exposure[360] = 0.0  # 1 of 360 at the second
    grid = make_grid(changed(panel, y=counts, exposure=exposure))
    assert grid.exposure[0, :9] == pytest.approx(1 / 60)
    assert grid.exposure[0, 9] == pytest.approx(3 / 60)
    assert grid.exposure[1, 0] == 0
    assert (grid.exposure[:, 10:] == 1).all()


def test_periods_must_follow_each_other() -> None:
    panel = make_toy(places=2, days=20).panel
    times = np.unique(panel["ds"])
    kept = (panel["ds"] < times[100]) | (panel["ds"] > times[130])
    cut = Panel({name: values[kept] for name, values in panel.columns.items()}, panel.about)
    with pytest.raises(ValueError, match=r"by hour, but its period after .* is .*every hour in between"):
        make_grid(cut)
    with pytest.raises(ValueError, match="by day, but its period after"):
        make_grid(Panel(panel.columns, {**panel.about, "by": "day"}))


def test_columns_that_cannot_be_used_are_listed() -> None:
    panel = make_toy(places=2, days=15).panel
    rows = len(panel)
    grid = make_grid(changed(panel, slope=np.arange(rows), note=np.full(rows, "a", object)))
    assert grid.unused == ("slope", "note")
    assert list(grid.covariates) == ["warmth"]


def test_periods_that_were_not_wholly_seen_say_nothing() -> None:
    panel = make_toy(places=2, days=15).panel
    seen = np.ones(len(panel))
    seen[5] = 0.5
    exposure = panel["exposure"].copy()
    exposure[7] = np.nan
    grid = make_grid(changed(panel, observed=seen, exposure=exposure))
    assert (~grid.known).sum() == 2
    assert grid.exposure[0, 5] == grid.exposure[0, 7] == grid.y[0, 5] == 0
