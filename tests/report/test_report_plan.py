"""What the page says of a plan: its day, its fleet, its moves."""

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unmet.planning import rank_moves
from unmet.report import _tables as tables
from unmet.report import read_run, render_page
from unmet.tables import read_columns


def test_long_fleet_curves_are_thinned_with_both_ends():
    from unmet.report._tables import thinned

    rows = [{"fleet": n} for n in range(505)]
    found = thinned(rows)
    assert len(found) <= 62
    assert (found[0], found[-1]) == (rows[0], rows[-1])
    assert thinned(rows[:10]) == rows[:10]
    assert thinned([]) == []


def test_the_planned_day_and_the_last_such_days_are_said(folder: Path, page: str):
    plan = read_run(folder).summary.plan
    assert plan is not None
    planned = plan.day
    assert planned is not None
    # 14 days from Monday 1 April: the first day ahead is Monday 15 April.
    assert (planned.weekday, planned.starts) == ("Monday", "2024-04-15T04:00")
    assert "This plan is for <strong>Monday, 15 Apr 2024</strong>, from 04:00" in page
    assert "would be lost without vans, Monday, 15 Apr 2024, from 04:00" in page
    columns, _ = read_columns(folder / "lost.parquet")
    clock = columns["ds"] - np.timedelta64(8, "h")  # New York in April, days from four on
    for at, (_, wanted, lost) in zip(("2024-04-01", "2024-04-08"), planned.past, strict=True):
        rows = clock.astype("datetime64[D]") == np.datetime64(at)
        assert lost == pytest.approx(columns["lost_mean"][rows].sum())
        assert wanted == pytest.approx(lost + columns["y"][rows].sum())
    low, high = sorted(round(one[2]) for one in planned.past)
    assert f"Recent Mondays (from 04:00) lost {low} to {high}: " in page
    assert "Moves start from the usual stock" in page
    assert "--max-move" in page
    assert "If no van came all day" in page
    assert "may still get fewer vehicles" in page


def test_only_fleets_near_the_usual_one_are_shown(folder: Path, copy: Path):
    data, near_fleet = read_run(folder), tables.near_fleet
    usual = sum(row["usual_stock"] for row in data.plan)
    shown = [row["fleet"] for row in near_fleet(data)]
    assert len(shown) < len(data.fleet)
    assert min(shown) >= 0.7 * usual > min(row["fleet"] for row in data.fleet)
    assert max(shown) <= 1.3 * usual < max(row["fleet"] for row in data.fleet)
    # A plan for half as many again is shown, too.
    more = tuple(row | {"target": 1.5 * row["usual_stock"]} for row in data.plan)
    assert max(row["fleet"] for row in near_fleet(replace(data, plan=more))) > 1.4 * usual
    (copy / "plan.csv").unlink()
    assert near_fleet(read_run(copy)) == list(data.fleet)


def test_the_limits_of_moves_are_those_that_the_page_states(page: str):
    given = inspect.signature(rank_moves).parameters
    words = f"A move takes at most {given['van'].default} vehicles and is listed if it saves at least "
    assert words + f"{given['least_saved'].default} rides" in page


def test_a_plan_for_a_smaller_fleet_says_that_more_is_lost(folder: Path, page: str):
    data = read_run(folder)
    plan = data.summary.plan
    assert plan is not None
    assert f"It places {plan.vehicles} vehicles; {plan.usual_vehicles} is usual." in page
    less = replace(plan, vehicles=16, saved=-32.0, lost_target=plan.lost_usual + 32)
    small = render_page(replace(data, summary=replace(data.summary, plan=less)))
    assert "It places 16 vehicles" in small
    digits = plan.digits
    assert f"rides would be lost with 16 vehicles</dt><dd>{32:.{digits}f}</dd>" in small


def test_what_is_saved_is_the_difference_of_what_is_shown():
    from unmet.results import PlanFigures

    plan = PlanFigures(None, 3, 10, 10, lost_usual=56.4, lost_target=45.6, saved=10.8)
    assert plan.saved_as_shown == 10
    small = replace(plan, lost_usual=5.64, lost_target=4.56, saved=1.08)
    assert small.saved_as_shown == pytest.approx(1.0)


def test_one_vehicle_is_not_several():
    from unmet.results import PlanFigures, plan_sentences

    one = PlanFigures(None, 1, 1, 1, lost_usual=5.0, lost_target=4.0, saved=1.0)
    assert "1 vehicle at 1 place." in plan_sentences(one)[0]
    assert "12 vehicles at 3 places." in plan_sentences(replace(one, vehicles=12, places=3))[0]


def test_the_page_rounds_a_place_in_one_way(folder: Path, page: str):
    import json
    import re

    from unmet.results.numbers import about, between

    data = read_run(folder)
    payload = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', page, re.S)[1])
    for place, said in zip(data.places, payload["places"], strict=True):
        assert (said["lost"], said["interval"]) == (about(place.lost), between(place.lost))
