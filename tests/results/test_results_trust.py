"""How far a headline can be trusted: one grade, the same words everywhere, no total below the floor."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from unmet.results import Evidence, judge, open_run, self_check_words

WELL = Evidence(inferred=0.0, coverage=0.9, self_check={"done": True, "ratio": 1.0})


def test_a_run_with_nothing_against_it_is_used_as_is():
    trust = judge(WELL)
    assert (trust.grade, trust.reasons, trust.show_total) == ("A", (), True)
    assert "90%" in trust.sentence


@pytest.mark.parametrize(
    ("change", "grade"),
    [
        ({"known": 0.8}, "B"),
        ({"known": 0.05}, "D"),
        ({"inferred": 1.0, "inferred_from": "vehicle ids"}, "C"),
        ({"inferred": 1.0, "inferred_from": "ride counts"}, "D"),
        ({"unsure": 0.2}, "B"),
        ({"thin": 0.6}, "D"),
        ({"coverage": 0.75}, "C"),
        ({"coverage": None, "tested": False}, "B"),
        ({"upper_bounds_agree": False}, "B"),
        ({"lost_per_ride": 2.8}, "D"),
        ({"width": 1.4}, "B"),
        ({"width": 2.6}, "C"),
        ({"beyond": 0.6}, "D"),
        ({"standing": 27626.0, "vehicles": 700.0}, "D"),
        ({"standing": 600.0, "vehicles": 700.0, "docks": 560.0}, "C"),
    ],
)
def test_each_rule_decides_on_its_own(change: dict, grade: str):
    trust = judge(replace(WELL, **change))
    assert trust.grade == grade
    assert len(trust.reasons) == 1
    assert trust.show_total == (grade != "D")


def test_the_worst_reason_comes_first():
    trust = judge(replace(WELL, unsure=0.2, inferred=1.0, inferred_from="vehicle ids"))
    assert [reason.grade for reason in trust.reasons] == ["C", "B"]
    assert trust.sentence.endswith(trust.reasons[0].words[1:])


def test_terminal_and_json_say_the_same_and_hide_a_total_below_the_floor(copy: Path):
    shown = open_run(copy).summary()
    assert shown.as_dict()["lost"]["mean"] == shown.lost.mean
    account = json.loads((copy / "panel.json").read_text())
    account["panel"] |= {"rows_inferred": account["panel"]["rows"], "inferred_from": "ride counts"}
    (copy / "panel.json").write_text(json.dumps(account))
    run = open_run(copy)
    summary = run.summary()
    data, lines = summary.as_dict(), str(summary).splitlines()
    assert next(iter(data)) == "trust"
    assert data["trust"]["sentence"] == lines[0] == summary.trust.sentence
    assert data["lost"] is data["demand"] is data["unserved"] is None
    assert data["worst"] == []
    assert not any("gave up" in line or "lost at" in line or "Recent " in line for line in lines)
    assert "rides lost" not in repr(run)
    assert not any("would be lost" in line for line in lines)  # a plan has no expected loss either
    assert any(line.startswith("Plan") and "cannot tell how many rides it saves" in line for line in lines)


def test_the_self_check_says_what_widened_which_interval(copy: Path):
    check = {"done": True, "reserve": 2, "hidden": 1000.0, "ratio": 1.05, "coverage": 0.9} | {
        "estimate": {"mean": 1050.0, "q05": 1010.0, "q95": 1090.0},
        "coverage_drawn": 0.6,
        "error": {"total": 0.03, "places": 0.2},
    }
    summary = replace(open_run(copy).summary(), self_check=check)
    [words] = self_check_words(summary)
    assert "The 90% interval of lost rides is widened by 3% of them for that." in words
    assert words.endswith("hold at 90% of them, widened by 20% of the estimate; without that at 60%.")
    without = replace(summary, trust=judge(replace(WELL, known=0.05)))
    assert "interval of lost rides" not in self_check_words(without)[0]  # there is none to widen


@pytest.mark.parametrize(("ratio", "grade"), [(1.04, "A"), (1.06, "B"), (0.94, "B"), (1.4, "C"), (0.3, "D")])
def test_the_grade_follows_the_rides_that_a_run_hid_from_itself(ratio: float, grade: str):
    found = {"done": True, "ratio": ratio, "hidden": 1000.0}
    assert judge(replace(WELL, self_check=found)).grade == grade
    assert judge(replace(WELL, self_check={"done": False})).grade == "B"
    assert judge(replace(WELL, self_check=None)).grade == "B"
