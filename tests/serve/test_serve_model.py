"""The saved model answers for days that the run did not compute."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from fastapi import HTTPException
from serve_tools import AHEAD, FIRST, IDS, PAST, write_tiny_run

from unmet.serve._answers import Answers
from unmet.serve._curves import Window, make_curves
from unmet.serve._questions import ForecastQuestion, PanelQuestion, PlanQuestion
from unmet.serve._saved_model import SavedModel
from unmet.serve._source import read_source
from unmet.tables import read_columns, write_columns


class Flat:
    """A demand model of two rides an hour everywhere, with the methods that the service calls."""

    zone, by, per_day = "America/New_York", "hour", 24
    places = np.array(IDS, dtype=object)

    def _rows(self, horizon, places, start):
        ids = self.places if places is None else np.array(places, dtype=object)
        begin = FIRST + PAST * np.timedelta64(1, "h") if start is None else start
        if begin > np.datetime64("2025-03-18"):
            raise ValueError("start must be within a year")
        times = begin + np.arange(horizon) * np.timedelta64(1, "h")
        return {"unique_id": np.repeat(ids, horizon), "ds": np.tile(times, len(ids))}

    def known_ahead(self, horizon, *, start=None, covariates=None):
        return {}

    def forecast(self, horizon, *, places=None, start=None, covariates=None):
        rows = self._rows(horizon, places, start)
        count = len(rows["ds"])
        levels = {f"q{level:02d}": np.full(count, level / 25) for level in (5, 10, 25, 50, 75, 90)}
        return (
            rows
            | {"mean": np.full(count, 2.0)}
            | levels
            | {
                "q95": np.full(count, np.inf),
                "identified_up_to": np.full(count, 0.9),
            }
        )

    def rates(self, horizon, *, start=None, covariates=None):
        rows = self._rows(horizon, None, start)
        count = len(rows["ds"])
        return rows | {"rate": np.full(count, 0.1), "shape": np.full(count, 4.0)}


def forecast(answers, place, horizon, start=None):
    return answers.forecast(ForecastQuestion(place=place, horizon=horizon, start=start))


def plan(answers, fleet, day=None, cost_lost=1.0):
    day = None if day is None else day.isoformat()
    return answers.plan(PlanQuestion(fleet=fleet, cost_lost=cost_lost, cost_idle=0.1, date=day))


@pytest.fixture
def answers(tmp_path, monkeypatch):
    folder = write_tiny_run(tmp_path)
    (folder / "model").mkdir()
    (folder / "model" / "model.json").write_text("{}", encoding="utf-8")
    panel, about = read_columns(folder / "panel.parquet")
    count = len(panel["y"])
    panel |= {"returns": np.full(count, 0.05), "stock_start": np.full(count, 3.0)}
    write_columns(folder / "panel.parquet", panel, about=about)
    monkeypatch.setattr("unmet.forecasting.load_demand", lambda folder: Flat(), raising=False)
    return Answers(read_source(folder))


def test_beyond_the_file_the_model_answers(answers):
    from_file = forecast(answers, "A", 2)
    assert from_file["mean"] == [1.0, 1.125]
    far = forecast(answers, "A", 3, "2024-06-01T04:30")
    assert far["ds"] == ["2024-06-01T05:00:00Z", "2024-06-01T06:00:00Z", "2024-06-01T07:00:00Z"]
    assert far["mean"] == [2.0] * 3
    assert far["quantiles"]["q95"] == [None] * 3
    assert far["identified"] == [False] * 3
    longer = forecast(answers, "A", AHEAD + 1)
    assert longer["horizon"] == AHEAD + 1
    assert longer["ds"][0] == from_file["ds"][0]
    assert not answers.needs_model(ForecastQuestion(place="A", horizon=3))
    assert not answers.needs_model(ForecastQuestion(place="A", start="2024-03-18T07:00"))
    assert answers.needs_model(ForecastQuestion(place="A", horizon=3, start="2024-06-01T04:30"))
    assert answers.needs_model(ForecastQuestion(place="A", horizon=AHEAD + 1))
    with pytest.raises(HTTPException, match="a year after the panel"):
        forecast(answers, "A", 3, "2031-01-01")


def test_another_day_is_planned_by_the_model(answers):
    assert answers.places()["plan"] == {"from": "2024-03-18", "to": "2024-04-14"}
    of_the_run = plan(answers, 8, date(2024, 3, 18))
    assert of_the_run == plan(answers, 8, None)
    other = plan(answers, 8, date(2024, 3, 20))
    assert (other["date"], other["start"]) == ("2024-03-20", "2024-03-20T08:00:00Z")
    # All places are alike, so each gets its share; place C has no known docks and therefore room enough.
    assert [row["target"] for row in other["places"]] == [2, 2, 2, 2]
    assert [row["usual_stock"] for row in other["places"]] == [3.0] * 4
    assert [row["capacity"] for row in other["places"][:3]] == [4, 4, 4]
    assert plan(answers, 12, date(2024, 3, 20))["expected_lost"] < other["expected_lost"]
    with pytest.raises(HTTPException, match="from 2024-03-18 to 2024-04-14"):
        plan(answers, 8, date(2024, 4, 15))


@pytest.mark.parametrize("how", ["removed", "damaged"])
def test_a_panel_that_goes_while_serving(answers, tmp_path, how):
    (path,) = tmp_path.rglob("panel.parquet")
    path.unlink() if how == "removed" else path.write_bytes(b"PAR1")
    with pytest.raises(HTTPException, match="removed or damaged since the service started") as found:
        plan(answers, 8, date(2024, 3, 20))
    assert found.value.status_code == 404
    assert plan(answers, 8, None)["fleet"] == 8


def test_rows_in_any_order(answers, tmp_path):
    (path,) = tmp_path.rglob("panel.parquet")
    wanted = answers.panel(PanelQuestion(place="A"))
    columns, about = read_columns(path)
    order = np.random.default_rng(0).permutation(len(columns["ds"]))
    write_columns(path, {name: values[order] for name, values in columns.items()}, about=about)
    assert Answers(read_source(path.parent)).panel(PanelQuestion(place="A")) == wanted
    write_columns(path, {name: np.repeat(values, 2) for name, values in columns.items()}, about=about)
    with pytest.raises(ValueError, match="two rows for one place and period"):
        read_source(path.parent)


def test_curves_of_a_day_are_made_once(answers, monkeypatch):
    plan(answers, 8, date(2024, 3, 21))
    monkeypatch.setattr(SavedModel, "_make_curves", None)
    assert plan(answers, 9, date(2024, 3, 21), cost_lost=2.0)["fleet"] == 9


def test_the_planned_day_begins_at_four(answers):
    zone = answers.source.zone
    assert Window.first(np.datetime64("2024-03-18T08:00"), zone, "hour").day == date(2024, 3, 18)
    assert Window.first(np.datetime64("2024-03-18T09:00"), zone, "hour").day == date(2024, 3, 19)
    found = Window.first(np.datetime64("2024-03-18T04:00"), zone, "day")
    assert (found.day, found.start, found.periods) == (
        date(2024, 3, 18),
        np.datetime64("2024-03-18T04:00"),
        1,
    )


def test_days_begin_at_local_midnight(answers):
    answers.source = replace(answers.source, by="day")
    midnight = np.datetime64("2024-03-19T04:00", "us")
    for moment, wanted in ((midnight, 0), (midnight - 1, 0), (midnight + 1, 24)):
        assert answers._period(moment, midnight) == midnight + np.timedelta64(wanted, "h")


def test_rounded_curves_are_taken_and_dented_ones_refused():
    rounded = make_curves({"A": [1.0, 0.666667, 0.333333, 0.0]}, {})
    assert rounded.lost[0] == pytest.approx([1.0, 0.666667, 0.333333, 0.0], abs=1e-5)
    with pytest.raises(ValueError, match="curves must be convex"):
        make_curves({"A": [2.0, 1.9, 1.0]}, {})
    with pytest.raises(ValueError, match="curves must not rise"):
        make_curves({"A": [1.0, 2.0]}, {})
