"""The planned day by the local clock, what usually stands and comes back then, and the last such days."""

import numpy as np
import pytest

from unmet.planning import planned_day, such_days, usual_day

HOUR = np.timedelta64(1, "h")


def hours(first: str, count: int) -> np.ndarray:
    return np.datetime64(first, "us") + np.arange(count) * HOUR


def test_the_day_is_told_by_the_local_clock():
    found = planned_day(hours("2024-06-02T08:00", 24), "America/New_York", "hour")
    assert found == {
        "date": "2024-06-02",
        "weekday": "Sunday",
        "starts": "2024-06-02T04:00",
        "ends": "2024-06-03T04:00",
        "zone": "America/New_York",
    }
    # East of Greenwich the local day has begun before that of UTC.
    assert planned_day(hours("2024-06-01T19:00", 24), "Asia/Tokyo", "hour")["starts"] == "2024-06-02T04:00"


def test_a_day_of_a_run_by_day_starts_at_midnight():
    found = planned_day(hours("2024-06-02T04:00", 1), "America/New_York", "day")
    assert (found["starts"], found["ends"]) == ("2024-06-02T00:00", "2024-06-03T00:00")


def test_such_days_by_hand():
    """Two places from Friday 1 March, 00:00 New York: one ride lost in every hour, ten more at one moment."""
    ds = hours("2024-03-01T05:00", 24 * 21)  # clocks go forward on 10 March
    gone = np.ones(len(ds))
    gone[ds == np.datetime64("2024-03-11T07:30") - np.timedelta64(30, "m")] += 10  # Monday 11 March, 03:00
    lost = {"ds": np.tile(ds, 2), "y": np.full(2 * len(ds), 3.0), "lost_mean": np.tile(gone, 2)}
    lost["lost_mean"][0] = np.nan
    planned = hours("2024-03-24T08:00", 24)
    found = such_days(lost, planned, "America/New_York", "hour")
    # A Sunday goes on until four on Monday; that of 10 March begins after the clocks went forward.
    assert [one["date"] for one in found] == ["2024-03-03", "2024-03-10", "2024-03-17"]
    assert [one["lost"] for one in found] == pytest.approx([48, 68, 48])
    assert [one["demand"] for one in found] == pytest.approx([192, 212, 192])
    last = such_days(lost, planned, "America/New_York", "hour", days=1)
    assert [one["date"] for one in last] == ["2024-03-17"]


def test_a_day_that_is_not_whole_is_left_out():
    ds = hours("2024-03-01T05:00", 24 * 8)
    lost = {"ds": ds, "y": np.ones(len(ds)), "lost_mean": np.ones(len(ds))}
    # The first Friday is whole from four on, the second ends at midnight.
    found = such_days(lost, hours("2024-03-15T08:00", 24), "America/New_York", "hour")
    assert [one["date"] for one in found] == ["2024-03-01"]


def test_such_days_of_a_run_by_day():
    ds = np.array([f"2024-03-{day:02d}T05:00" for day in range(1, 10)], "datetime64[us]")
    lost = {"ds": ds, "y": np.zeros(9), "lost_mean": np.arange(9.0)}
    found = such_days(lost, np.array(["2024-03-15T04:00"], "datetime64[us]"), "America/New_York", "day")
    assert found == [
        {"date": "2024-03-01", "demand": 0.0, "lost": 0.0},
        {"date": "2024-03-08", "demand": 7.0, "lost": 7.0},
    ]


class Panel(dict):
    """Columns; its length is the number of rows."""

    def __len__(self) -> int:
        return len(self["ds"])


class Model:
    """Two places; 2 and 1 rides an hour are to be expected after the panel."""

    per_day, zone, by = 24, "America/New_York", "hour"
    places = np.array(["a", "b"], dtype=object)

    def rates(self, horizon, start=None, covariates=None):
        ds = np.tile(hours("2024-06-01T04:00" if start is None else start, horizon), 2)
        return {"ds": ds, "rate": np.repeat([2.0, 1.0], horizon), "shape": np.full(2 * horizon, 4.0)}

    def known_ahead(self, horizon, start=None, covariates=None):
        return covariates or {}

    def forecast(self, horizon, start=None, covariates=None):
        return {"identified_up_to": np.repeat([0.95, 0.25], horizon)}


def four_weeks() -> tuple[Panel, dict]:
    """From Saturday 4 May to Friday 31 May: returns 4 and 1 an hour on working days, 3 and 1 at weekends."""
    ds = hours("2024-05-04T04:00", 28 * 24)
    weekend = np.repeat(np.arange(28) % 7 < 2, 24)
    returns = np.concatenate([np.where(weekend, 3.0, 4.0), np.ones(len(ds))])
    stock = np.tile(np.arange(24.0), 56)
    columns = {"unique_id": np.repeat(["a", "b"], len(ds)), "ds": np.tile(ds, 2), "y": returns}
    dates = [str(np.datetime64("2024-05-04") + day) for day in range(28)]
    days = [{"date": date, "demand": 100.0 if n % 7 < 2 else 150.0} for n, date in enumerate(dates)]
    total = {"lost": {"mean": 0.0}, "days": days}
    return Panel(columns, returns=returns, stock_start=stock), total


def test_returns_have_the_ratio_to_demand_of_such_days():
    panel, total = four_weeks()
    found = usual_day(panel, Model(), total)
    assert str(found["ds"][0]) == "2024-06-01T08:00:00.000000"  # Saturday, 4 h local
    # At weekends 96 came back of 100 wanted, and 72 are expected.
    assert found["returns"].sum() == pytest.approx(72 * 96 / 100)
    assert found["returns"][0] == pytest.approx(np.full(24, 3 * 0.72), rel=0.1)
    assert found["returns"][0].sum() > 2.5 * found["returns"][1].sum()
    assert found["stock"] == pytest.approx([4, 4])
    assert found["identified"].tolist() == [True, False]
    monday = usual_day(panel, Model(), total, start="2024-06-03T04:00")
    assert monday["returns"].sum() == pytest.approx(72 * 120 / 150)


def test_a_holiday_is_planned_like_a_weekend():
    panel, total = four_weeks()
    monday = hours("2024-06-03T04:00", 48)
    known = {"ds": monday, "holiday": np.ones(48)}
    found = usual_day(panel, Model(), total, start="2024-06-03T04:00", covariates=known)
    assert found["returns"].sum() == pytest.approx(72 * 96 / 100)
    # A past holiday counts as a weekend too: Monday 27 May saw none of the weekend's returns.
    panel["holiday"] = np.isin(panel["ds"].astype("datetime64[D]"), np.datetime64("2024-05-27"))
    found = usual_day(panel, Model(), total, start="2024-06-03T04:00", covariates=known)
    assert found["returns"].sum() != pytest.approx(72 * 96 / 100)


def test_days_without_a_known_stock_say_nothing_about_it():
    panel, total = four_weeks()
    panel["stock_start"] = panel["stock_start"].copy()
    panel["stock_start"][: 14 * 24] = np.nan  # nobody knew the first place for two weeks
    assert usual_day(panel, Model(), total)["stock"] == pytest.approx([4, 4])
    panel["stock_start"][: 28 * 24] = np.nan
    assert usual_day(panel, Model(), total)["stock"] == pytest.approx([0, 4])


def test_without_days_what_is_served_of_all_demand_comes_back():
    panel, _ = four_weeks()
    every = float(panel["y"].sum())
    found = usual_day(panel, Model(), every)  # as many lost as served
    assert found["returns"].sum() == pytest.approx(36)
    assert usual_day(panel, Model(), {"lost": {"mean": every}})["returns"] == pytest.approx(found["returns"])


def test_a_panel_of_other_places_is_refused():
    panel, total = four_weeks()
    panel["unique_id"] = np.where(panel["unique_id"] == "a", "c", "b")
    with pytest.raises(ValueError, match="places of the model"):
        usual_day(panel, Model(), total)
