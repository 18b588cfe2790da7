"""What a terminal says of a plan: the day, what it saves, what such days lost, and its files."""

import json
from pathlib import Path

import numpy as np
import pytest
from sample_run import write_sample_run

from unmet.cli._plan_table import plan_sentences, show_plan
from unmet.cli._run_summary import summary_of, tell
from unmet.tables import read_columns, write_columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample_run(tmp_path_factory.mktemp("run"), places=5, days=14)


def test_the_day_and_the_last_such_days_are_said(folder: Path):
    plan, past = plan_sentences(folder)
    assert plan.startswith("Plan for Monday, 15 Apr 2024, from 04:00: ")
    assert "vehicles at 5 places" in plan
    assert past.startswith("The last two Mondays, from 04:00 too, lost ")
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


def test_rides_that_no_estimate_holds_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_sample_run(tmp_path, places=5, days=14)
    assert summary_of(folder)["left_out"] == {"periods": 0.0, "rides": 0}
    tell(folder, as_json=False, quiet=False)
    assert "Left out" not in capsys.readouterr().out
    columns, about = read_columns(folder / "panel.parquet")
    columns["y"] = columns["y"].copy()
    columns["y"][:3] += 4  # as if these three hours had been partly closed
    write_columns(folder / "panel.parquet", columns, about=about)
    columns, about = read_columns(folder / "lost.parquet")
    columns["exposure"] = columns["exposure"].copy()
    columns["exposure"][:21] = np.nan
    write_columns(folder / "lost.parquet", columns, about=about)
    assert summary_of(folder)["left_out"] == {"periods": pytest.approx(21 / (5 * 14 * 24)), "rides": 12}
    tell(folder, as_json=False, quiet=False, kept=["panel", "fit"])
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Kept from before, since nothing changed for them: panel, fit. Observed ")
    assert "Left out: 1.2% of the rows, with 12 rides, since the place was closed or its feed silent" in said


def test_lost_rides_of_places_are_rounded_as_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_sample_run(tmp_path, places=5, days=14, evil=False)
    total = json.loads((folder / "lost_total.json").read_text())
    worst = max(total["places"], key=lambda place: total["places"][place]["lost"]["mean"])
    total["places"][worst]["lost"] = {"mean": 5643.6, "q05": 5012.0, "q95": 6294.0}
    (folder / "lost_total.json").write_text(json.dumps(total))
    tell(folder, as_json=False, quiet=False)
    assert "(5,600)" in capsys.readouterr().out


def test_intervals_that_could_not_be_tested_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_sample_run(tmp_path, places=5, days=14)
    calibration = json.loads((folder / "calibration.json").read_text())
    calibration["coverage"] |= {"randomised": None, "plain": None}
    (folder / "calibration.json").write_text(json.dumps(calibration))
    tell(folder, as_json=False, quiet=False)
    assert "Too few data to test the 90% intervals" in " ".join(capsys.readouterr().out.split())


def test_without_a_plan_nothing_is_said_of_it(tmp_path: Path):
    assert plan_sentences(tmp_path) == []
