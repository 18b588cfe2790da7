"""`unmet run` and its steps: files, what is kept, what is refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_tools import QUICK, call, contents, given

import unmet
from unmet.runs import read_record
from unmet.tables import read_columns

FILES = (
    *("panel.parquet", "stations.parquet", "panel.json", "model", "backtest.parquet", "calibration.json"),
    *("measures.json", "lost.parquet", "lost_total.json", "hubs.geojson", "forecast.parquet", "plan.csv"),
    *("moves.csv", "fleet.csv", "curves.json", "report.html", "run.json"),
)


def options(folder: Path) -> list[str]:
    return [*given(folder), *QUICK, "--quiet"]


def test_everything_is_written(finished, city):
    assert {path.name for path in finished.iterdir()} >= set(FILES)
    total = json.loads((finished / "lost_total.json").read_text())
    made = city[1]
    assert total["observed"] == made.truth.served.sum()
    assert total["demand"]["q05"] < total["demand"]["mean"] < total["demand"]["q95"]
    forecast, about = read_columns(finished / "forecast.parquet")
    assert about == {"by": "hour", "zone": "America/New_York"}
    assert len(forecast["ds"]) == 6 * 168
    # The week ahead is about as busy as the city was; a loaded model that lost its way would not be.
    seen = total["demand"]["mean"] / 21
    assert 0.5 * seen < forecast["mean"].sum() / 7 < 2 * seen
    places = json.loads((finished / "hubs.geojson").read_text())["features"]
    assert len(places) == 6
    page = (finished / "report.html").read_text()
    assert all(place["properties"]["name"] in page for place in places)
    record = json.loads((finished / "run.json").read_text())
    calibration = json.loads((finished / "calibration.json").read_text())
    assert record["notes"]["measures"]["observed"] == total["observed"]
    assert record["notes"]["measures"]["coverage"] == calibration["coverage"]
    assert record["notes"]["versions"]["unmet"] == unmet.__version__
    assert list(record["steps"]) == ["fit", "forecast", "panel", "plan", "report"]


def test_asked_again_nothing_is_done(finished, city, capsys):
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.name != "log.jsonl"}
    assert call("run", *given(city[0]), *QUICK, "-o", finished) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing changed for panel, fit, forecast, plan, report: kept from before." in said
    after = {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.name != "log.jsonl"}
    assert after == before


def test_steps_alone_give_the_same(finished, city, tmp_path, capsys):
    output = tmp_path / "out"
    assert call("run", *options(city[0]), "-o", output, "--horizon", 24, "--title", "Mine") == 0
    assert "Mine" in (output / "report.html").read_text()
    assert call("forecast", output, "--horizon", 168) == 0
    assert "Expected demand in the next 168 hours: " in capsys.readouterr().out
    assert call("plan", output, "--quiet") == 0
    assert call("report", output) == 0
    assert "report.html" in capsys.readouterr().out
    same = contents(finished)
    for name, data in contents(output).items():
        if name == "report.html":  # a page keeps the title of its run
            assert data.replace(b"Mine", b"Unmet demand") == same[name]
        elif name != "run.json":
            assert data == same[name], name


def test_plan_for_another_fleet(finished, city, tmp_path, capsys):
    output = tmp_path / "out"
    shutil.copytree(finished, output)
    assert call("plan", output, "--fleet", 11) == 0
    assert "11 vehicles at 6 places" in " ".join(capsys.readouterr().out.split())
    assert call("plan", output, "--free", "--cost-lost", 5, "--cost-idle", 0.01) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.csv", "-o", "{tmp}/out"], "nowhere.csv does not exist"),
        (["forecast", "{tmp}"], "not the folder of a run"),
        (["plan", "{tmp}/nothing"], "not the folder of a run"),
        (["fit", "{city}/truth.parquet", "-o", "{tmp}/out"], "has no column y (what was counted)"),
        (["fit", "{run}/panel.parquet"], "--output must name the folder"),
        (["forecast", "{run}", "--horizon", "1000000"], "horizon"),
    ],
)
def test_bad_input_is_one_line(arguments, words, city, finished, tmp_path, capsys):
    before = contents(finished)
    places = {"tmp": tmp_path, "city": city[0], "run": finished}
    assert call(*(argument.format(**places) for argument in arguments)) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert contents(finished) == before


def test_the_folder_of_another_run_is_left_alone(finished, city, tmp_path, capsys):
    before = contents(finished)
    other = tmp_path / "other.csv.gz"
    other.write_bytes((city[0] / "trips.csv.gz").read_bytes())
    assert call("run", other, "-o", finished, "--zone", "America/New_York") == 1
    assert "holds another run" in capsys.readouterr().err
    assert contents(finished) == before


def test_another_city_under_the_same_names_is_refused(finished, tmp_path, capsys):
    """And if its run replaces the old one but fails, the old one is still there."""
    from unmet.datasets import make_city

    make_city("village", places=4, days=6, seed=1).write(tmp_path / "city")
    before = contents(finished)
    assert call("run", *options(tmp_path / "city"), "-o", finished) == 1
    assert "holds another run" in capsys.readouterr().err
    assert contents(finished) == before
    output = shutil.copytree(finished, tmp_path / "out")
    assert call("run", *options(tmp_path / "city"), "-o", output, "--replace") == 1
    assert "at least 14" in capsys.readouterr().err  # too little data
    kept = {name: data for name, data in contents(output).items() if not name.startswith(".")}
    assert kept == before


@pytest.mark.slow
def test_kills_change_nothing(finished, city, tmp_path):
    output = tmp_path / "out"
    command = [sys.executable, "-c", "from unmet.cli import main; main()", "run", *options(city[0])]
    kept, record = None, output / "run.json"
    for delay in (2.0, 4.0, 6.0, 9.0, 12.0):
        process = subprocess.Popen([*command, "-o", str(output)])
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        panel = output / "panel.parquet"
        if kept is not None:
            assert panel.stat().st_mtime_ns == kept, "a finished step was done again"
        elif record.is_file() and "panel" in read_record(output)["steps"]:
            kept = panel.stat().st_mtime_ns
    subprocess.run([*command, "-o", str(output)], check=True)
    assert contents(output) == contents(finished)
