"""What a terminal says of a run: its figures, the plan, its moves and its files."""

import json
from pathlib import Path

import pytest

from sample_run import FORMULA_NAME, write_sample_run
from unmet.cli._plan_table import show_plan
from unmet.cli._run_summary import tell
from unmet.results import Run, open_run, sentences


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return open_run(write_sample_run(tmp_path_factory.mktemp("run"), places=5, days=14))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, without line ends."""
    return " ".join(capsys.readouterr().out.split())


def test_moves_are_shown_by_name_with_their_file(run: Run, capsys: pytest.CaptureFixture[str]):
    show_plan(run)
    words = said(capsys)
    assert words.startswith("Plan for Monday, 15 Apr 2024, from 04:00: ")
    assert "vehicles at 5 places" in words
    assert "Moves start from the usual stock" in words
    assert words.endswith(f"Written: {run.folder / 'plan.csv'} Written: {run.folder / 'moves.csv'}")
    assert run.rows("moves")[0]["to_name"] in words
    assert "'=" not in words  # the apostrophe is for spreadsheets


def test_the_end_of_a_run_says_its_summary_and_names_its_files(run: Run, capsys: pytest.CaptureFixture[str]):
    tell(run, as_json=False, quiet=False)
    words = said(capsys)
    for sentence in sentences(run.summary()):
        assert " ".join(sentence.split()) in words
    assert FORMULA_NAME in words
    assert str(run.folder / "moves.csv") in words
    tell(run, as_json=True, quiet=True)
    assert json.loads(capsys.readouterr().out) == run.summary().as_dict()


def test_after_a_fit_nothing_is_said_of_an_older_plan(run: Run, capsys: pytest.CaptureFixture[str]):
    tell(run, as_json=False, quiet=False, fit_only=True)
    words = said(capsys)
    assert "Plan for" not in words
    assert "plan.csv" not in words


def test_kept_steps_are_named(run: Run, capsys: pytest.CaptureFixture[str]):
    tell(Run(run.folder, kept=["panel", "fit"]), as_json=False, quiet=False)
    assert said(capsys).startswith("Nothing changed for panel, fit: kept from before. Grade ")


def test_lost_rides_of_places_are_rounded_as_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_sample_run(tmp_path, places=5, days=14, evil=False)
    total = json.loads((folder / "lost_total.json").read_text())
    worst = max(total["places"], key=lambda place: total["places"][place]["lost"]["mean"])
    total["places"][worst]["lost"] = {"mean": 5643.6, "q05": 5012.0, "q95": 6294.0}
    (folder / "lost_total.json").write_text(json.dumps(total))
    tell(open_run(folder), as_json=False, quiet=False)
    assert "(5,600)" in said(capsys)


def test_intervals_that_could_not_be_tested_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_sample_run(tmp_path, places=5, days=14)
    calibration = json.loads((folder / "calibration.json").read_text())
    calibration["coverage"] |= {"randomised": None, "plain": None}
    (folder / "calibration.json").write_text(json.dumps(calibration))
    tell(open_run(folder), as_json=False, quiet=False)
    assert "too little data to test the 90% intervals" in said(capsys)
