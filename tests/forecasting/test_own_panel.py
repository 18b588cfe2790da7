"""A panel of your own: frames and files in long format, their names, times, steps and errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from own_tables import NAMES, weekly_sales

from unmet.forecasting import as_panel, fit_demand
from unmet.mobility import Panel

SHARE = {**NAMES, "exposure": "in_stock"}
TABLE = weekly_sales(stores=3, weeks=20)[["store", "week", "sold", "in_stock"]]


def changed(**columns):
    return TABLE.assign(**columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv", "parquet", "mapping", "text names"])
def test_every_kind_of_table_gives_the_same_panel(kind, tmp_path):
    wanted = as_panel(TABLE, columns=SHARE)
    names = "unique_id=store,ds=week,y=sold,exposure=in_stock" if kind == "text names" else SHARE
    if kind == "polars":
        table = pl.from_pandas(TABLE)
    elif kind == "arrow":
        table = pl.from_pandas(TABLE).to_arrow()
    elif kind == "csv":
        table = tmp_path / "sales.csv"
        TABLE.to_csv(table, index=False)
    elif kind == "parquet":
        table = tmp_path / "sales.parquet"
        pl.from_pandas(TABLE).write_parquet(table)
    else:
        table = {name: TABLE[name].to_numpy() for name in TABLE} if kind == "mapping" else TABLE
    found = as_panel(table, columns=names)
    assert found.about == wanted.about == {"zone": "UTC", "by": "week", "kind": "series"}
    assert list(found.columns) == list(wanted.columns)
    for name in wanted.columns:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)
    np.testing.assert_array_equal(found["censored"], found["exposure"] < 1)


@pytest.mark.parametrize(
    ("step", "by"),
    [("15min", "15 minutes"), ("1h", "hour"), ("6h", "6 hours"), ("1D", "day"), ("7D", "week")],
)
def test_the_step_is_found(step, by):
    assert as_panel(weekly_sales(2, 40, step=step).drop(columns="wanted"), columns=SHARE).about["by"] == by


def test_rows_come_in_any_order_and_missing_ones_are_unknown():
    shuffled = TABLE.drop(index=[3, 4, 25]).sample(frac=1, random_state=1)
    found = as_panel(shuffled, columns=SHARE)
    assert len(found) == 60
    assert np.flatnonzero(np.isnan(found["exposure"])).tolist() == [3, 4, 25]
    assert "3 of 60 rows are missing" in found.about["notes"]
    assert not found["censored"][[3, 4, 25]].any()


def test_a_column_that_is_the_same_for_all_series_fills_missing_rows():
    price = np.tile(np.arange(20.0), 3)
    found = as_panel(changed(price=price, own=np.arange(60.0)).drop(index=[3]), columns=SHARE)
    np.testing.assert_array_equal(found["price"], price)
    assert np.isnan(found["own"][3])


def test_ids_of_a_csv_file_stay_as_they_are_written(tmp_path):
    path = tmp_path / "sales.csv"
    changed(store=TABLE["store"].str.replace("store ", "00")).to_csv(path, index=False)
    assert sorted(set(as_panel(path, columns=SHARE)["unique_id"])) == ["0000", "0001", "0002"]


def test_local_days_are_days_where_the_clock_changes():
    days = pd.date_range("2024-02-20", periods=40, freq="D")
    table = pd.DataFrame({"unique_id": "a", "ds": days, "y": 5, "exposure": 1.0})
    found = as_panel(table, zone="America/New_York")
    assert found.about == {"zone": "America/New_York", "by": "day", "kind": "series"}
    assert str(found["ds"][0]) == "2024-02-20T05:00:00.000000"
    assert str(found["ds"][-1]) == "2024-03-30T04:00:00.000000"
    aware = as_panel(table.assign(ds=days.tz_localize("America/New_York")))
    assert aware.about == found.about
    np.testing.assert_array_equal(aware["ds"], found["ds"])
    moments = table.assign(ds=aware["ds"])
    np.testing.assert_array_equal(as_panel(moments, zone="America/New_York", times="utc")["ds"], found["ds"])
    with pytest.raises(ValueError, match=r"as local days do: give zone=, such as America/New_York"):
        as_panel(moments)


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"y": "solt"}, r"panel has no column 'solt' for y; did you mean 'sold'\?"),
        ({"why": "sold"}, r"columns= has 'why'; it takes unique_id, ds, y, exposure, censored, threshold"),
        (
            {"unique_id": None},
            r'no column unique_id \(the series.*Name it, such as columns="unique_id=store"',
        ),
        ({"ds": None}, r'no column ds \(the start of the period\).*columns="ds=week"'),
        ({"y": None}, r'no column y \(what was counted\).*columns="y=sold"'),
        (
            {"exposure": None},
            r"must say when supply ran out: it needs a column exposure .* censored .* thresh",
        ),
    ],
)
def test_a_wrong_name_is_told_with_the_remedy(columns, error):
    names = {field: name for field, name in {**SHARE, **columns}.items() if name is not None}
    with pytest.raises(ValueError, match=error):
        as_panel(TABLE, columns=names)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        (
            changed(sold=-1),
            r"column sold \(y\) must hold counts of at least 0, but has -1 in 60 rows.*store 00",
        ),
        (changed(sold=0.5), r"column sold \(y\) must hold whole counts.*CensoredQuantileRegressor"),
        (changed(sold="many"), r"column sold \(y\) must hold numbers, but row 1 has 'many'"),
        (changed(in_stock=-0.2), r"column in_stock \(exposure\) must hold shares from 0 to 1, but has -0\.2"),
        (changed(in_stock=80.0), r"must hold shares from 0 to 1, but has 80.*percentages: divide by 100"),
        (changed(store=None), r"column store \(unique_id\) is empty in 60 rows; fill or drop them"),
        (changed(week=5), r"column week \(ds\) must hold times, but holds numbers such as 5; write them as"),
        (changed(week="week 5"), r"column week \(ds\) must hold times, but has 'week 5'; write them as 2024"),
        (changed(week=pd.NaT), r"column week \(ds\) is empty in 60 rows"),
        (
            pd.concat([TABLE, TABLE[:2]]),
            r"several rows for the same series and period, 2 too many, such as store=store 00 at "
            r"week=2023-01-02.*groupby\(\['store', 'week'\]\)",
        ),
        (
            changed(week=TABLE["week"] + pd.to_timedelta((TABLE.index == 4) * 3, "D")),
            r"steps of one week, but store 00 has a row at 2023-02-02.*10 days after the row before",
        ),
        (weekly_sales(2, 20, step="30D"), r"column week \(ds\): periods of 30 days are not a step"),
        (weekly_sales(2, 20, step="5min"), r"column week \(ds\): periods of 5 minutes are not a step"),
        (TABLE[:0], r"panel has no rows"),
        (42, r"panel must be a frame of pandas, Polars or Arrow, .* not int"),
        ("sales.xlsx", r"sales.xlsx must be a CSV or Parquet file"),
        ("gone.csv", r"gone.csv does not exist"),
    ],
)
def test_a_wrong_table_is_told_with_the_remedy(table, error):
    with pytest.raises(ValueError, match=error):
        as_panel(table, columns=SHARE)


def test_a_threshold_below_the_count_is_refused():
    table = weekly_sales(2, 20).drop(columns=["in_stock", "ran_out"])
    with pytest.raises(ValueError, match=r"must hold at most what units allows"):
        as_panel(table.assign(units=0), columns={**NAMES, "threshold": "units"})


def test_a_panel_is_taken_as_it_is():
    panel = as_panel(TABLE, columns=SHARE)
    assert as_panel(panel) is panel
    with pytest.raises(ValueError, match="zone must be left out: a Panel is a panel with its own"):
        as_panel(panel, zone="UTC")


def test_a_flag_and_a_threshold_say_the_same():
    table = weekly_sales(3, 30)
    flag = as_panel(table[["store", "week", "sold", "ran_out"]], columns={**NAMES, "censored": "ran_out"})
    limit = as_panel(table[["store", "week", "sold", "units"]], columns={**NAMES, "threshold": "units"})
    assert flag.about["exposure"] == limit.about["exposure"] == "estimated"
    np.testing.assert_array_equal(flag["censored"], limit["censored"])
    np.testing.assert_array_equal(np.isnan(flag["exposure"]), flag["censored"])


QUICK = {"networks": ("linear",), "baselines": False, "progress": False}


@pytest.mark.parametrize(
    ("step", "periods"),
    [
        pytest.param("15min", 15 * 96, marks=pytest.mark.slow),
        pytest.param("6h", 60, marks=pytest.mark.slow),
        ("7D", 30),
    ],
)
def test_every_step_is_fitted_and_forecast(step, periods):
    table = weekly_sales(2, periods, step=step).drop(columns=["wanted", "units", "ran_out"])
    model = fit_demand(table, columns=SHARE, **QUICK)
    ahead = model.forecast(3)
    assert len(ahead["ds"]) == 6
    assert np.diff(ahead["ds"][:3]).tolist() == [pd.Timedelta(step)] * 2
    assert ahead["ds"][0] - table["week"].max() == pd.Timedelta(step)
    assert (ahead["mean"] > 1).all()
    days = {day["date"] for day in model.lost_total()["days"]}
    assert len(days) == (30 if step == "7D" else 15)


@pytest.mark.parametrize("supply", ["in_stock", "ran_out", "units"])
def test_lost_sales_are_recovered(supply):
    table = weekly_sales(12, 70, seed=1)
    field = {"in_stock": "exposure", "ran_out": "censored", "units": "threshold"}[supply]
    model = fit_demand(table[["store", "week", "sold", supply]], columns={**NAMES, field: supply}, **QUICK)
    total = model.lost_total()["lost"]
    true = (table["wanted"] - table["sold"]).sum()
    assert true > 0.05 * table["sold"].sum()
    assert total["q05"] <= true <= total["q95"]
    assert abs(total["mean"] / true - 1) < 0.2
    # Far from doubling every stock-out.
    assert total["mean"] < table.loc[table["ran_out"], "sold"].sum()


def test_the_panel_itself_is_not_changed():
    table = weekly_sales(2, 20)
    before = table.copy()
    as_panel(table, columns=SHARE)
    pd.testing.assert_frame_equal(table, before)
    assert isinstance(as_panel(table, columns=SHARE), Panel)


@pytest.mark.parametrize(
    ("places", "by", "periods", "days"),
    [
        (25, "day", 180, 84),
        (25, "day", 60, 28),
        (200, "day", 300, 28),
        (40, "week", 104, 52),
        (5, "week", 200, 98),
    ],
)
def test_a_small_panel_is_tested_for_longer(places, by, periods, days):
    from types import SimpleNamespace

    from unmet.forecasting._fit import _usual_backtest

    grid = SimpleNamespace(by=by, per_day=1, ds=range(periods), places=range(places))
    assert _usual_backtest(grid) == days
