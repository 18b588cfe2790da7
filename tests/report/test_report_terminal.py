"""What a terminal says of a plan: the day, what it saves, what such days lost, and its files."""

from pathlib import Path

import pytest
from sample_run import write_sample_run

from unmet.cli._plan_table import plan_sentences, show_plan
from unmet.cli._run_summary import summary_of, tell


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample_run(tmp_path_factory.mktemp("run"), places=5, days=14)


def test_the_day_and_the_last_such_days_are_said(folder: Path):
    plan, past = plan_sentences(folder)
    assert plan.startswith("Plan for Monday, 15 Apr 2024, from 04:00: ")
    assert "vehicles at 5 places" in plan
    assert past.startswith("The last two Mondays lost ")
    assert past.endswith(" are expected on this one.")


def test_moves_are_shown_by_name_with_their_file(folder: Path, capsys: pytest.CaptureFixture[str]):
    show_plan(folder)
    said = " ".join(capsys.readouterr().out.split())
    assert "Moves start from the usual stock of the last four weeks and take no account of distance." in said
    assert said.endswith(f"Written: {folder / 'plan.csv'} Written: {folder / 'moves.csv'}")
    first = (folder / "moves.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert first[5] in said


def test_the_end_of_a_run_names_the_plan_and_its_moves(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert str(folder / "moves.csv") in summary_of(folder)["files"]
    tell(folder, as_json=False, quiet=False)
    assert "Plan for Monday, 15 Apr 2024, from 04:00" in " ".join(capsys.readouterr().out.split())


def test_without_a_plan_nothing_is_said_of_it(tmp_path: Path):
    assert plan_sentences(tmp_path) == []
